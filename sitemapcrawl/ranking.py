"""How worth fetching a page is, before anybody has seen it: a number from 0 to 1, and the parts it is made of.

Knows the fields of an entry and what its site's other entries look like. Refuses to know the clock (``now`` is given),
the store, and what was fetched before.

Each part is 0..1, or None where the site says nothing, which counts as 0.5. The rank is the weighted mean of the parts:

- priority: the share of the site's pages with a lower priority, ties counted half. The protocol means priorities
  "relative to other URLs on your site"; one value for all pages says nothing.
- freshness: 2^(-age / 30 days) of the lastmod, where the file's lastmods deserve belief.
- changefreq: a weak prior, by the interval it announces.
- depth: 1 / (1 + path segments below the first).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sitemapcrawl.entries import Entry, Lastmod

HALF_LIFE_SECONDS = 30 * 86_400
#: A file that gives more than this share of its entries one lastmod has stamped them when it was made.
SAME_LASTMOD_SHARE = 0.9
#: Fewer dated entries than this can't show that they were stamped.
FEWEST_LASTMODS = 10
#: Clocks and time zones differ: a lastmod may lie so far ahead of ours.
_FUTURE_SECONDS = 86_400
#: A part of which nothing is known.
_UNKNOWN = 0.5
_CHANGEFREQ = {
    "always": 1.0, "hourly": 1.0, "daily": 0.85, "weekly": 0.6, "monthly": 0.35, "yearly": 0.1, "never": 0.0,
}  # fmt: skip
_FOUND_BY = {"seed": 1.0, "robots": 0.9, "redirect": 0.9, "index": 0.7, "path": 0.6}


class Parts(NamedTuple):
    """What a rank is made of; None: nothing is known."""

    priority: float | None
    freshness: float | None
    changefreq: float | None
    depth: float | None


class Rank(NamedTuple):
    """A rank with its parts."""

    value: float
    parts: Parts


@dataclass(frozen=True, slots=True)
class Context:
    """What the entries of one file on one host are ranked against."""

    now: float  #: seconds since 1970-01-01 UTC
    weights: Mapping[str, float]  #: part -> weight
    priorities: Sequence[int] = ()  #: the host's histogram in tenths, this file included; () for none
    trusts_lastmod: bool = True
    score: float = 1.0  #: the seed's; multiplies the rank


def rank(entry: Entry, context: Context) -> Rank:
    """Return the entry's rank and its parts."""
    parts = Parts(
        _priority(entry.priority, context.priorities),
        _freshness(entry.lastmod, context),
        _CHANGEFREQ.get(entry.changefreq) if entry.changefreq else None,
        1 / (1 + _depth(entry.loc)),
    )
    value = sum(
        context.weights.get(name, 0.0) * (_UNKNOWN if part is None else part)
        for name, part in zip(Parts._fields, parts, strict=True)
    )
    total = sum(context.weights.get(name, 0.0) for name in Parts._fields) or 1.0
    return Rank(min(1.0, value / total * context.score), parts)


def rank_all(entries: Sequence[Entry], context: Context) -> list[float]:
    """Return the value of ``rank`` for each entry of a file: what looks alike but for its date is reckoned once."""
    known: dict[tuple[float | None, str | None, int], float] = {}
    total = sum(context.weights.get(name, 0.0) for name in Parts._fields) or 1.0
    weight, now = context.weights.get("freshness", 0.0) / total * context.score, context.now
    trusts, per_second = context.trusts_lastmod, -1.0 / HALF_LIFE_SECONDS
    undated = replace(context, trusts_lastmod=False, score=1.0)
    values = []
    for entry in entries:
        loc, lastmod, changefreq, priority = entry
        look = (priority, changefreq, loc.count("/") - loc.endswith("/"))
        value = known.get(look)
        if value is None:
            value = known[look] = rank(entry, undated).value * context.score
        if lastmod is not None and trusts and (age := now - lastmod[0]) > -_FUTURE_SECONDS:
            value += weight * ((2.0 ** (age * per_second) if age > 0 else 1.0) - _UNKNOWN)
        values.append(min(1.0, value))
    return values


def trusts_lastmod(entries: Sequence[Entry], now: float) -> bool:
    """Tell whether a file's lastmods say anything: not if one value stands on nearly all, or most lie ahead of now.

    Bing found 18 % of sitemaps' lastmods wrong, most of them the time of generation (2023 study).
    """
    dates = [entry.lastmod.at for entry in entries if entry.lastmod]
    if len(dates) < FEWEST_LASTMODS:
        return True
    most_common = Counter(dates).most_common(1)[0][1]
    ahead = sum(date > now + _FUTURE_SECONDS for date in dates)
    return most_common <= SAME_LASTMOD_SHARE * len(dates) and ahead <= len(dates) / 2


def rank_sitemap(found_by: str, lastmod_at: float | None, now: float) -> float:
    """Return the order in which a host's sitemaps are read, 0..1: by who named them, the newest first."""
    base = _FOUND_BY.get(found_by, 0.5)
    if lastmod_at is None:
        return base * 0.9
    return base * (0.85 + 0.15 * 2 ** (-max(0.0, now - lastmod_at) / HALF_LIFE_SECONDS))


def _priority(priority: float | None, histogram: Sequence[int]) -> float | None:
    if priority is None or sum(n > 0 for n in histogram) < 2:
        return None
    tenth = round(priority * 10)
    return (sum(histogram[:tenth]) + histogram[tenth] / 2) / sum(histogram)


def _freshness(lastmod: Lastmod | None, context: Context) -> float | None:
    if lastmod is None or not context.trusts_lastmod:
        return None
    age = context.now - lastmod[0]
    if age < 0:
        return 1.0 if age > -_FUTURE_SECONDS else None
    return float(2.0 ** (-age / HALF_LIFE_SECONDS))


def _depth(url: str) -> int:
    return max(0, url.rstrip("/").count("/") - 3)
