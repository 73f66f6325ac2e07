"""Pipeline: cuts a sitemap's rows to what the run's limits leave, the best ones kept.

Knows ``max_sitemaps``, ``max_per_host`` and ``max_urls``; the grants are the frontier's, so all workers share them and
a sitemap that is read again gets what it had. Children of indexes are asked for where they are offered.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from typing import Any, Self, cast

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler

from sitemapcrawl.arguments import Arguments
from sitemapcrawl.frontier.catalogue import Row
from sitemapcrawl.frontier.records import Claim, FoundBy
from sitemapcrawl.scheduler import scheduler_of

logger = logging.getLogger(__name__)

_SAMPLES = 3


class LimitsPipeline:
    """Leaves out rows that a limit does not grant; they are counted and a few of them named."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        fields = ItemAdapter(item)
        if fields.get("claim") and fields.get("rows"):
            arguments: Arguments = cast("Any", self._crawler.spider).arguments
            claim: Claim = fields["claim"]
            if arguments.max_sitemaps and claim.record.get("found_by") in (FoundBy.ROBOTS, FoundBy.PATH):
                await self._limit_sitemaps(claim, fields, arguments.max_sitemaps)
            if arguments.max_per_host:
                await self._limit_rows(claim, fields, "max_per_host", arguments.max_per_host)
            if arguments.max_urls:
                await self._limit_rows(claim, fields, "max_urls", arguments.max_urls)
        return item

    async def _limit_sitemaps(self, claim: Claim, fields: ItemAdapter, most: int) -> None:
        if not await scheduler_of(self._crawler).frontier.grant("sitemaps", claim.url, 1, most):
            drop(fields, "max_sitemaps", [claim.url])
            fields["rows"] = {}

    async def _limit_rows(self, claim: Claim, fields: ItemAdapter, name: str, most: int) -> None:
        rows: dict[str, Sequence[Row]] = dict(fields["rows"])
        for host in sorted(rows):
            limit = f"{name}:{host}" if name == "max_per_host" else name
            frontier = scheduler_of(self._crawler).frontier
            granted = await frontier.grant(limit, f"{host} {claim.url}", len(rows[host]), most)
            drop(fields, name, [row.loc for row in rows[host][granted:]])
            rows[host] = rows[host][:granted]
        fields["rows"] = {host: kept for host, kept in rows.items() if kept}


def drop(fields: ItemAdapter, reason: str, urls: list[str]) -> None:
    """Count what an item leaves out, with a few samples; reaching a limit is said."""
    if not urls:
        return
    counts = Counter(fields["dropped"])
    counts[reason] += len(urls)
    fields["dropped"] = dict(counts)
    fields["samples"] = {reason: urls[:_SAMPLES], **fields["samples"]}
    if reason.startswith("max_") and counts[reason] == len(urls):
        logger.warning("The limit %s is reached: %d URLs of this file are left out", reason, len(urls))
