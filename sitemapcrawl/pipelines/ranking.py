"""Pipeline: entries become rows in rank order.

Knows what the ranking needs of the site. Refuses to know the formula (see ``sitemapcrawl.ranking``).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Self

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler

from sitemapcrawl import ranking
from sitemapcrawl.entries import Entry
from sitemapcrawl.frontier import histogram
from sitemapcrawl.frontier.catalogue import RANK_STEPS, Row
from sitemapcrawl.frontier.records import Claim

#: What Row(...) does, without its Python level.
_row = tuple.__new__


class RankingPipeline:
    """Ranks a sitemap's entries, host by host; an URL that a file lists twice is one row, with its newest lastmod."""

    def __init__(self, crawler: Crawler) -> None:
        self._weights = crawler.settings.getdict("SITEMAPCRAWL_RANK_WEIGHTS")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        fields = ItemAdapter(item)
        if fields.get("claim") and fields.get("rows"):
            now = time.time()
            fields["rows"] = {
                host: self._ranked(entries, fields["claim"], now) for host, entries in fields["rows"].items()
            }
        return item

    def _ranked(self, entries: Sequence[Entry], claim: Claim, now: float) -> list[Row]:
        entries = _unique(entries)
        former = claim.priorities or [0] * 11
        context = ranking.Context(
            now,
            self._weights,
            [a + b for a, b in zip(former, histogram(entries), strict=True)],
            ranking.trusts_lastmod(entries, now),
            claim.score,
        )
        values = ranking.rank_all(entries, context)
        rows = [_row(Row, (round(value * RANK_STEPS), *entry)) for value, entry in zip(values, entries, strict=True)]
        rows.sort(key=itemgetter(1))  # by rank, then URL: two sorts without a call of ours a row
        rows.sort(key=itemgetter(0), reverse=True)
        return rows


def _unique(entries: Sequence[Entry]) -> Sequence[Entry]:
    newest: dict[str, Entry] = {}
    for entry in entries:
        other = newest.setdefault(entry[0], entry)
        if other is not entry and entry.lastmod and (not other.lastmod or entry.lastmod > other.lastmod):
            newest[entry.loc] = entry
    return list(newest.values())
