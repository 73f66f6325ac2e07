"""Blacklist middleware, of the downloader and of the spider: what SITEMAPCRAWL_BLACKLIST_FILE lists is left alone.

In the downloader it refuses sitemaps and hosts, in the spider it takes listed URLs and sitemaps out of what was read.
Knows the file. Refuses to know the rules' grammar (see ``sitemapcrawl.blacklist``).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any, Self

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response

from sitemapcrawl.blacklist import Blacklist
from sitemapcrawl.entries import Entry
from sitemapcrawl.frontier.records import Kind

logger = logging.getLogger(__name__)

_SAMPLES = 3


class Blacklisted(IgnoreRequest):
    """Raised by the blacklist for a request it lists; the message is the reason."""

    code = "blacklisted"


class BlacklistMiddleware:
    """Leaves alone what the blacklist lists."""

    def __init__(self, blacklist: Blacklist) -> None:
        self._blacklist = blacklist

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the file.

        Raises:
            NotConfigured: no file is set.
        """
        path = crawler.settings.get("SITEMAPCRAWL_BLACKLIST_FILE")
        if not path:
            raise NotConfigured  # without a word: most crawls have none
        blacklist, bad = Blacklist.parse(Path(path).read_text(errors="replace").splitlines(), Path(path).name)
        for line in bad:
            logger.warning("%s", line)
        return cls(blacklist)

    def process_request(self, request: Request) -> None:
        claim = request.cb_kwargs.get("claim")
        if claim is None:
            return
        reason = self._blacklist.reason_for_host(claim.host)
        if not reason and claim.kind == Kind.SITEMAP:
            reason = self._blacklist.reason_for_sitemap(request.url)
        if reason:
            raise Blacklisted(reason)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for item in result:
            if not isinstance(item, Request) and "rows" in (fields := ItemAdapter(item)):
                self._clean(fields)
            yield item

    def _clean(self, fields: ItemAdapter) -> None:
        dropped: list[str] = []
        rows: dict[str, list[Entry]] = {}
        for host, entries in fields["rows"].items():
            if self._blacklist.reason_for_host(host):
                dropped += [entry.loc for entry in entries]
            elif kept := self._allowed(entries, dropped):
                rows[host] = kept
        fields["rows"] = rows
        links = [link for link in fields["links"] if not self._blacklist.reason_for_sitemap(link.loc)]
        dropped += [link.loc for link in fields["links"] if link not in links]
        fields["links"] = links
        if dropped:
            fields["dropped"]["blacklisted"] = len(dropped)
            fields["samples"]["blacklisted"] = dropped[:_SAMPLES]

    def _allowed(self, entries: Iterable[Entry], dropped: list[str]) -> list[Entry]:
        kept = []
        for entry in entries:
            if self._blacklist.reason_for_url(entry.loc):
                dropped.append(entry.loc)
            else:
                kept.append(entry)
        return kept
