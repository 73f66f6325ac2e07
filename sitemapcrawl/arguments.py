"""The sitemap spider's arguments: typed, checked, explained.

Scrapy and scrapyd pass strings (``-a name=value``). Knows each argument's name, form and help text. Refuses to know
what a filter does with its value, and the clock (``now`` is given).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from sitemapcrawl.exceptions import ArgumentError

#: What each argument means; shown by ``scrapy crawl -h`` and in the docs.
HELP = {
    "seeds": "a file of seed lines, an http(s) URL of one, - for standard input, redis:KEY, or the lines themselves",
    "include": "keep only URLs whose path fits one of these globs (re:… is searched in the whole URL)",
    "exclude": "leave out URLs whose path fits one of these",
    "sitemap_include": "read only sitemaps that fit one of these; pages are not looked at",
    "sitemap_exclude": "leave out sitemaps that fit one of these",
    "since": "keep only URLs with a lastmod at or after this: 2026-01-31, 2026-01-31T12:00Z, 7d, 24h",
    "until": "keep only URLs with a lastmod at or before this",
    "undated": "keep (default) or drop URLs without lastmod",
    "max_urls": "store so many URLs in the run at most; 0 for all",
    "max_per_host": "store so many URLs of each host at most; 0 for all",
    "max_sitemaps": "keep the pages of so many sitemaps at most, those that seeds name aside; 0 for all",
    "run": "resume (default) an unfinished run, or give it up and start a new one",
}

_AGO = re.compile(r"(\d{1,12})\s*([mhdw])", re.ASCII)
#: How a date begins; week dates (2026-W05), which ``fromisoformat`` reads too, are taken for a slip.
_DATE = re.compile(r"\d{4}-?\d\d-?\d\d", re.ASCII)
_COUNT = re.compile(r"\d{1,15}|\d{1,3}(?:[_,]\d{3}){1,4}", re.ASCII)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_NOT_IN_RECIPE = ("seeds", "run")


@dataclass(frozen=True, slots=True)
class Arguments:
    """The values of all arguments."""

    seeds: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    sitemap_include: tuple[str, ...] = ()
    sitemap_exclude: tuple[str, ...] = ()
    since: datetime | None = None  #: UTC
    until: datetime | None = None  #: UTC; the end of the day where only a day was given
    undated: str = "keep"
    max_urls: int = 0
    max_per_host: int = 0
    max_sitemaps: int = 0
    run: str = "resume"
    spelt: tuple[tuple[str, str], ...] = ()  #: as they were given

    def recipe(self) -> dict[str, str]:
        """Return what decides which rows a read keeps: two workers of one run must agree on it.

        As it was spelt, so that ``7d`` is the same for a worker that starts later; what is as by default is left out.
        """
        return {
            name: text
            for name, text in self.spelt
            if name not in _NOT_IN_RECIPE and getattr(self, name) != _DEFAULTS[name]
        }


_DEFAULTS = {field.name: field.default for field in fields(Arguments)}


def parse(raw: Mapping[str, Any], now: datetime, known_extra: Collection[str] = ()) -> Arguments:
    """Return the arguments as typed values. Names that begin with ``_`` (scrapyd's ``_job``) are left alone.

    Args:
        raw: names and values, strings as Scrapy passes them or what a Python caller has: numbers, lists, dates, None.
        now: what ``7d`` counts back from.
        known_extra: further names, which a subclass of the spider reads itself.

    Raises:
        ArgumentError: a name is unknown or a value can't be read; one sentence that says what to write.
    """
    given = {name: _spelt(value) for name, value in raw.items() if not name.startswith("_") and name not in known_extra}
    if given.get("seeds") == "":
        raise ArgumentError(
            "seeds= is empty: name a file, an address or a site, or leave it out to wait for pushed seeds."
        )
    for name in given:
        if name not in HELP:
            raise ArgumentError(_unknown(name, (*HELP, *known_extra)))
    values: dict[str, Any] = {name: _READERS[name](name, text, now) for name, text in given.items() if text}
    if values.get("since") and values.get("until") and values["since"] > values["until"]:
        raise ArgumentError(f"since={given['since']} lies after until={given['until']}: no URL can fit both.")
    return Arguments(**values, spelt=tuple(sorted((name, text) for name, text in given.items() if text)))


def _spelt(value: Any) -> str:
    """Return a value as it would be written on the command line."""
    if value is None:
        return ""
    return ("\n".join(map(str, value)) if isinstance(value, list | tuple) else str(value)).strip()


def _unknown(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(sorted(known))}."
    return f"Unknown spider argument '{name}': {hint}"


def _text(name: str, text: str, now: datetime) -> str:
    return text


def _patterns(name: str, text: str, now: datetime) -> tuple[str, ...]:
    """Split patterns at line ends, and globs at blanks and commas as well."""
    found: list[str] = []
    for line in map(str.strip, text.replace("\\n", "\n").split("\n")):
        found += [line] if line.startswith("re:") else re.split(r"[\s,]+", line)
    patterns = tuple(pattern for pattern in found if pattern)
    for pattern in patterns:
        if pattern.startswith("re:"):
            _check_expression(name, pattern[3:])
    return patterns


def _check_expression(name: str, expression: str) -> None:
    if not expression:
        raise ArgumentError(f"{name}=re: is empty and fits every URL: write re: and a regular expression.")
    try:
        re.compile(expression)
    except (re.error, OverflowError, RecursionError) as error:  # the last two: of huge expressions
        raise ArgumentError(f"{name}=re:{expression} is no regular expression: {error}.") from None


def _count(name: str, text: str, now: datetime) -> int:
    if not _COUNT.fullmatch(text):
        raise ArgumentError(f"{name}={text} is no whole number: write 1000, or 0 for no limit.")
    return int(re.sub("[_,]", "", text))


def _time(name: str, text: str, now: datetime) -> datetime:
    """Return a moment in UTC, which is also meant where no zone is given; ``until`` takes a whole day in."""
    if match := _AGO.fullmatch(text):
        try:
            return now - timedelta(**{_UNITS[match[2]]: int(match[1])})
        except OverflowError:
            raise ArgumentError(f"{name}={text} lies before all time: write 7d or 2026-01-31.") from None
    try:
        when = datetime.fromisoformat(text if _DATE.match(text) else "")
        when = when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ArgumentError(f"{name}={text} is no date: write 2026-01-31, 2026-01-31T12:00Z, 7d or 24h.") from None
    if name == "until" and _DATE.fullmatch(text):
        when += timedelta(days=1, microseconds=-1)
    return when


def _choice(*choices: str) -> Any:
    def read(name: str, text: str, now: datetime) -> str:
        if text not in choices:
            raise ArgumentError(f"{name}={text} is not possible: write {' or '.join(choices)}.")
        return text

    return read


_READERS = {
    "seeds": _text,
    **dict.fromkeys(("include", "exclude", "sitemap_include", "sitemap_exclude"), _patterns),
    **dict.fromkeys(("since", "until"), _time),
    "undated": _choice("keep", "drop"),
    **dict.fromkeys(("max_urls", "max_per_host", "max_sitemaps"), _count),
    "run": _choice("resume", "new"),
}
assert set(_READERS) == set(HELP) == {field.name for field in fields(Arguments)} - {"spelt"}
