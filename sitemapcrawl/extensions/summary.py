"""The summary a run ends with, on standard error.

Knows how to say figures in words. Refuses to reckon them (see ``frontier.listing``).
"""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler

from sitemapcrawl import stats
from sitemapcrawl.frontier.listing import Figures
from sitemapcrawl.scheduler import scheduler_of

_WIDTH = 100
_NAMES_A_REASON = 100


class Summary:
    """Prints what the run found when a worker closes."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._started = time.monotonic()
        self._text = ""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls(crawler)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        crawler.signals.connect(extension.engine_stopped, signals.engine_stopped)
        return extension

    def spider_closed(self, reason: str) -> None:
        figures = scheduler_of(self._crawler).figures
        if figures is None:
            return
        get = self._crawler.stats.get_value
        seeds = (get(stats.SEEDS_VALID, 0), get(stats.SEEDS_INVALID, 0))
        seconds = time.monotonic() - self._started
        self._text = "\n".join(lines(figures, seeds, seconds, reason, time.time())) + "\n"

    def engine_stopped(self) -> None:
        sys.stderr.write(self._text)  # after the stats: the summary is the last word


def lines(run: Figures, seeds: tuple[int, int], seconds: float, reason: str, now: float) -> Iterator[str]:
    """Yield the summary's lines.

    Args:
        run: its figures.
        seeds: valid and invalid seed lines of this worker.
        seconds: this worker ran.
        reason: why it closed.
        now: seconds since 1970-01-01 UTC.
    """
    counts = run.counts
    yield ""
    yield f"Run {run.run.id} {_state(reason, run)} after {seconds:.1f} s" + (" (resumed)" if run.run.resumed else "")
    yield f"  seeds      {seeds[0]:,} valid" + (f", {seeds[1]:,} invalid" if seeds[1] else "")
    yield f"  hosts      {counts['hosts']:,}"
    yield from _group(
        "sitemaps", f"{counts['read']:,} read", counts, "read/", "failed/", "probes/", "redirected", "retried/"
    )
    yield (
        f"  URLs       {counts['listed']:,} listed: {counts['new']:,} new, {counts['listed'] - counts['new']:,} known"
        + (f" ({counts['unchanged']:,} in unchanged sitemaps)" if counts["unchanged"] else "")
    )
    dropped = _parts(counts, "dropped/")
    if dropped:
        yield f"  dropped    {dropped}"
    yield from _failures(run.failures)
    yield from _waiting(run.waiting, now)
    if reason == "shutdown":
        yield "The same command goes on where this one stopped."


def _state(reason: str, run: Figures) -> str:
    if reason == "finished":
        return "is done" if not run.waiting else "is done for now"
    return {"shutdown": "was interrupted", "no_valid_seed": "has no valid seed"}.get(reason, f"stopped ({reason})")


def _group(name: str, first: str, counts: Counter[str], *prefixes: str) -> Iterator[str]:
    words = {
        "read/": "",
        "failed/": "failed: ",
        "probes/": "well-known paths ",
        "redirected": "",
        "retried/": "tried again: ",
    }
    found = [(prefix, text) for prefix in prefixes if (text := _parts(counts, prefix))]
    parts = [first, *(f"({text})" if prefix == "read/" else words[prefix] + text for prefix, text in found)]
    yield f"  {name:10} " + "; ".join(parts).replace("read; (", "read (")


def _parts(counts: Counter[str], prefix: str) -> str:
    found = [(n, name.removeprefix(prefix)) for name, n in counts.items() if name.startswith(prefix) and n]
    return ", ".join(f"{n:,} {name}" for n, name in sorted(found, reverse=True))


def _failures(failures: Mapping[str, str]) -> Iterator[str]:
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for request, reason in failures.items():
        host, kind, url = request.split(" ", 2)
        by_reason[reason].append(f"{host} (robots.txt)" if kind == "robots" else url)
    for reason, names in sorted(by_reason.items()):
        yield f"  {reason} ({len(names):,}):"
        yield from _wrapped(sorted(names)[:_NAMES_A_REASON])
        if len(names) > _NAMES_A_REASON:
            yield f"    and {len(names) - _NAMES_A_REASON:,} more: scrapy sitemaps"


def _wrapped(names: list[str]) -> Iterator[str]:
    line = "   "
    for name in names:
        if len(line) + len(name) > _WIDTH and line.strip():
            yield line
            line = "   "
        line += f" {name}"
    yield line


def _waiting(waiting: Mapping[str, int], now: float) -> Iterator[str]:
    if not waiting:
        return
    later = [at / 1000 - now for at in waiting.values() if at]
    hosts = {request.split(" ", 1)[0] for request in waiting}
    text = f"  waiting    {len(waiting):,} requests on {len(hosts):,} hosts"
    if later:
        text += f", the next in {max(0, round(min(later))):,} s"
    yield text
