"""Downloader middleware: may a sitemap be read, says the host's robots.txt in the frontier.

Takes the place of Scrapy's own: robots.txt is an ordinary request here, one for the whole fleet, kept in the host's
record. Knows the record's age and verdict. Refuses to download anything: a robots.txt that is still believed answers
from the record.
"""

from __future__ import annotations

import logging
import time
import zlib
from collections import OrderedDict
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response, TextResponse

from sitemapcrawl import robots
from sitemapcrawl.frontier.records import Claim, Kind
from sitemapcrawl.robots import Robots
from sitemapcrawl.scheduler import scheduler_of

logger = logging.getLogger(__name__)

_HOSTS_KEPT = 1_000


class DisallowedByRobots(IgnoreRequest):
    """Raised for a sitemap that the host's robots.txt disallows."""

    code = "robots"


class RobotsMiddleware:
    """Answers robots.txt from the record where it is young, and refuses sitemaps that it disallows."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._obeys = crawler.settings.getbool("ROBOTSTXT_OBEY")
        self._ttl_seconds = crawler.settings.getfloat("SITEMAPCRAWL_ROBOTS_TTL_SECONDS")
        self._user_agent = crawler.settings["ROBOTSTXT_USER_AGENT"] or crawler.settings["USER_AGENT"]
        self._parsed: OrderedDict[tuple[str, str], Robots] = OrderedDict()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> Response | None:
        claim: Claim | None = request.cb_kwargs.get("claim")
        if claim is None:
            return None
        if claim.kind == Kind.ROBOTS:
            return await self._from_record(request, claim)
        if self._obeys:
            await self._check(request, claim)
        return None

    async def _from_record(self, request: Request, claim: Claim) -> Response | None:
        age = time.time() - int(claim.host_record.get("robots_at") or 0) / 1000
        if age > self._ttl_seconds or claim.host_record.get("robots_outcome") not in ("ok", "gone"):
            return None
        body = await self._body(claim)
        return TextResponse(request.url, body=body, encoding="utf-8", flags=["cached"])

    async def _check(self, request: Request, claim: Claim) -> None:
        rules = await self._rules(claim)
        if rules.allowed(request.url, self._user_agent):
            return
        if {request.url, claim.url} & set(rules.sitemaps):
            logger.info("%s is declared and disallowed by the same robots.txt: read", request.url)
            claim.notes.append("declared-and-disallowed")
            return
        raise DisallowedByRobots("disallowed by robots.txt")

    async def _rules(self, claim: Claim) -> Robots:
        key = (claim.host, claim.host_record.get("robots_at", ""))
        rules = self._parsed.get(key)
        if rules is None:
            rules = self._parsed[key] = robots.parse(
                await self._body(claim), claim.host_record.get("base", "") + "robots.txt"
            )
            while len(self._parsed) > _HOSTS_KEPT:
                self._parsed.popitem(last=False)
        return rules

    async def _body(self, claim: Claim) -> bytes:
        frontier = scheduler_of(self._crawler).frontier
        packed = await frontier.store.command("HGET", frontier.keys.of(claim.host, f"host:{claim.host}"), "robots_body")
        return zlib.decompress(packed) if packed else b""
