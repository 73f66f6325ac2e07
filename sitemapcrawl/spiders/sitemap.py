"""The sitemap spider: seeds to robots.txt to sitemaps to rows.

Knows what to ask for a claim and what to make of the answer: one item a claim. Refuses to rank, to store and to know
what happens to the item.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.spiders import SitemapSpider as ScrapySitemapSpider
from scrapy.utils.misc import load_object
from twisted.python.failure import Failure as TwistedFailure
from xxhash import xxh3_128_hexdigest

from sitemapcrawl import arguments, offers, outcomes, resolver, robots, seeds, urls
from sitemapcrawl import settings as project
from sitemapcrawl.entries import Entry, Link
from sitemapcrawl.filters import Filters
from sitemapcrawl.frontier.records import Claim, FoundBy, Kind, Offer
from sitemapcrawl.items import Failure, RobotsRead, SitemapRead
from sitemapcrawl.scope import CrossSubmit, Scope
from sitemapcrawl.seeds import SourceKind
from sitemapcrawl.sitemaps import Limits, Reading, Verdict
from sitemapcrawl.spiders.seeding import Seeding

_CHUNK_BYTES = 65_536
#: Other work gets its turn after so many entries, some 10 ms of reading.
_ENTRIES_A_TURN = 2_000
_SAMPLES = 3


class SitemapSpider(ScrapySitemapSpider):
    """Reads seeds, robots.txt and every sitemap they lead to.

    Of Scrapy's SitemapSpider these keep their meaning: ``sitemap_urls`` (a robots.txt among them is asked for its
    sitemaps), ``sitemap_follow`` (which further sitemaps are read), ``sitemap_rules`` (which URLs are kept; the
    callbacks belong to whoever fetches the pages) and ``sitemap_filter`` (gets dicts, entry by entry; slower).
    """

    name = "sitemap"
    #: Names of spider arguments of a subclass, beside those of ``arguments``.
    extra_arguments: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Apply ``custom_settings``; the project's own components stay beside those a spider lists."""
        super().update_settings(settings)
        for name in ("SPIDER_MIDDLEWARES", "DOWNLOADER_MIDDLEWARES", "ITEM_PIPELINES", "EXTENSIONS"):
            for path, order in getattr(project, name).items():
                settings.setdefault_in_component_priority_dict(name, load_object(path), order)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider.

        Raises:
            ArgumentError: an argument is unknown or its value can't be read; one sentence.
        """
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.arguments = arguments.parse(kwargs, datetime.now(UTC), cls.extra_arguments)
        spider.prepare(crawler)
        return spider

    arguments: arguments.Arguments

    def prepare(self, crawler: Crawler) -> None:
        """Read the settings; called once the arguments are known."""
        settings = crawler.settings
        self._source = seeds.describe(self.arguments.seeds, lambda path: Path(path).is_file())
        key = settings.get("REDIS_START_URLS_KEY", "%(name)s:start_urls") % {"name": self.name}
        self.start_urls_key = self._source.value if self._source.kind == SourceKind.REDIS else key
        self.stays = not (self.arguments.seeds or self.sitemap_urls)
        self._seeding = Seeding(crawler)
        self._parsing = asyncio.Semaphore(settings.getint("SITEMAPCRAWL_PARSED_AT_ONCE"))
        self._cross_submit = CrossSubmit(settings["SITEMAPCRAWL_CROSS_SUBMIT"])
        self._limits = Limits(max_bytes=settings.getint("SITEMAPCRAWL_SITEMAP_MAXSIZE_BYTES"))
        self._filters: Filters | None = None
        self._selects = list(self.sitemap_rules) != [("", "parse")]
        self._overrides_filter = type(self).sitemap_filter is not ScrapySitemapSpider.sitemap_filter
        self.recipe = self._recipe(crawler)

    def _recipe(self, crawler: Crawler) -> str:
        """Return what decides which rows a read keeps and how it ranks them, as a hash."""
        names = [name for name in crawler.settings if str(name).startswith("SITEMAPCRAWL_")]
        decides = [(name, str(crawler.settings[name])) for name in sorted(names) if "STORE" not in name]
        decides_too = (type(self).__qualname__, self.sitemap_rules, self.arguments.recipe(), decides)
        return xxh3_128_hexdigest(repr(decides_too).encode())

    # Seeds

    async def start(self) -> AsyncIterator[Any]:
        for url in self.sitemap_urls:
            yield self._request_to_offer(offers.of_host(url) if url.endswith("/robots.txt") else offers.of_sitemap(url))
        if not self.arguments.seeds or self._source.kind == SourceKind.REDIS:
            return  # the worker takes lines from Redis
        async for seed in self._seeding.read(self._source):
            if seed.is_local:
                yield await self._read_local(seed.url)
            else:
                for offer in offers.of_seed(seed):
                    yield self._request_to_offer(offer)
        if not self._seeding.valid:
            raise CloseSpider("no_valid_seed")

    def offers_of_line(self, line: str) -> list[Offer]:
        """Return the offers of a seed line that was pushed to Redis; a bad one is reported and leads to none."""
        return [
            offer for seed in self._seeding.valid_seeds([line], self.start_urls_key) for offer in offers.of_seed(seed)
        ]

    def _request_to_offer(self, offer: Offer) -> Request:
        return Request(offer.url, dont_filter=True, cb_kwargs={"offer": offer})

    async def _read_local(self, url: str) -> SitemapRead:
        body = await self._seeding.read_local(url)
        return await self._read(Claim(Kind.SITEMAP, url), url, body)

    # Claims

    def request_for(self, claim: Claim) -> Request:
        """Return the request that answers a claim."""
        settings = self.settings
        is_robots = claim.kind == Kind.ROBOTS
        maxsize = "SITEMAPCRAWL_ROBOTS_MAXSIZE_BYTES" if is_robots else "SITEMAPCRAWL_SITEMAP_MAXSIZE_BYTES"
        meta: dict[str, Any] = {"download_maxsize": settings.getint(maxsize), "handle_httpstatus_list": [304]}
        if is_robots:
            meta["download_timeout"] = settings.getfloat("SITEMAPCRAWL_ROBOTS_TIMEOUT_SECONDS")
        return Request(
            claim.url,
            self.parse_robots if is_robots else self.parse_sitemap,
            errback=self.failed,
            headers={} if is_robots else self._conditions(claim),
            meta=meta,
            cb_kwargs={"claim": claim},
            dont_filter=True,
        )

    def _conditions(self, claim: Claim) -> dict[str, str]:
        """Return the headers that spare an unchanged file; none where other rows would be kept this time."""
        record = claim.record
        if record.get("recipe") != self.recipe or self._overrides_filter:
            return {}
        conditions = {"If-None-Match": record.get("etag"), "If-Modified-Since": record.get("last_modified")}
        return {name: value for name, value in conditions.items() if value}

    async def parse_robots(self, response: Response, claim: Claim) -> AsyncIterator[Any]:
        found = robots.parse(response.body, response.url)
        links = self.filters.keep_links([Link(url) for url in found.sitemaps], are_roots=True)
        kept = [link.loc for link in links]
        yield RobotsRead(
            claim, response.url, response.status, replace(found, sitemaps=kept), response.body,
            cached="cached" in response.flags, answered_at=_answered_at(response.request),
            dropped=dict(self.filters.take_dropped()), samples=self.filters.take_samples(),
        )  # fmt: skip

    async def parse_sitemap(self, response: Response, claim: Claim) -> AsyncIterator[Any]:
        answered_at = _answered_at(response.request)
        hash_ = xxh3_128_hexdigest(response.body)
        if response.status == 304 or self._is_unchanged(claim, hash_):
            kind = claim.record.get("kind", "")
            yield SitemapRead(claim, response.url, kind, Verdict.OK, unchanged=True, answered_at=answered_at)
            return
        item = await self._read(claim, response.url, response.body)
        item.hash, item.answered_at = hash_, answered_at
        item.etag = (response.headers.get("ETag") or b"").decode("latin-1")
        item.last_modified = (response.headers.get("Last-Modified") or b"").decode("latin-1")
        yield item

    def _is_unchanged(self, claim: Claim, hash_: str) -> bool:
        record = claim.record
        same = record.get("hash") == hash_ and record.get("recipe") == self.recipe
        return same and record.get("outcome") in ("ok", "unchanged") and not self._overrides_filter

    def failed(self, failure: TwistedFailure) -> Any:
        """Turn a download that failed into the claim's item."""
        request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it
        claim, error = request.cb_kwargs["claim"], failure.value
        assert error is not None
        if isinstance(error, HttpError):
            response = error.response
            if claim.kind == Kind.ROBOTS and _means_no_robots(response.status):
                return RobotsRead(claim, response.url, response.status, robots.parse(b"", response.url))
            headers = {"Retry-After": (response.headers.get("Retry-After") or b"").decode("latin-1")}
            return Failure(claim, response.url, status=response.status, headers=headers)
        name = getattr(error, "code", None) or outcomes.classify_exception(error)
        guard = resolver.installed()
        if name == "dns" and guard and guard.has_refused(urls.host_key(request.url)):
            name = "private-address"
        return Failure(claim, request.url, error=name, detail=str(error)[:300])

    # Reading

    async def _read(self, claim: Claim, url: str, body: bytes) -> SitemapRead:
        """Read a file, keep what belongs in it, group it by host."""
        async with self._parsing:
            reading = Reading(_chunks(body), url, self._limits)
            entries, links = await self._collect(reading)
            item = SitemapRead(
                claim, url, str(reading.kind), str(reading.verdict), bytes=reading.bytes, recipe=self.recipe
            )
            item.problems = [_as_dict(problem) for problem in reading.problems]
            dropped: Counter[str] = Counter()
            entries = self._select(entries, dropped)
            filters = self.filters
            kept = [] if self._is_left_out(claim, entries) else list(filters.keep_entries(entries))
            item.links = list(filters.keep_links(self._follow_only(links, dropped)))
            scope = Scope(self._cross_submit, claim.site)
            item.rows = dict(scope.by_host(kept))
            dropped += filters.take_dropped()
            item.samples = filters.take_samples()
            if scope.foreign:
                dropped["other-site"] = scope.foreign.total()
                item.samples["other-site"] = [f"{host} ({n})" for host, n in scope.foreign.most_common(_SAMPLES)]
            item.dropped = dict(dropped)
        return item

    def _is_left_out(self, claim: Claim, entries: list[Entry]) -> bool:
        """Tell whether a file that robots.txt named, or nobody, lists pages but is not among the sitemaps to read."""
        is_root = claim.record.get("found_by") in (FoundBy.ROBOTS, FoundBy.PATH)
        return is_root and bool(entries) and not list(self.filters.keep_links([Link(claim.url)]))

    async def _collect(self, reading: Reading) -> tuple[list[Entry], list[Link]]:
        entries: list[Entry] = []
        links: list[Link] = []
        for n, thing in enumerate(reading):
            (entries if type(thing) is Entry else links).append(thing)  # type: ignore[arg-type]
            if n % _ENTRIES_A_TURN == 0:
                await asyncio.sleep(0)
        return entries, links

    @property
    def filters(self) -> Filters:
        """The filters of SITEMAPCRAWL_FILTERS, built when first needed: the crawler knows its spider by then."""
        if self._filters is None:
            self._filters = Filters.from_crawler(self.crawler)
        return self._filters

    def _select(self, entries: list[Entry], dropped: Counter[str]) -> list[Entry]:
        """Apply ``sitemap_rules`` and an overridden ``sitemap_filter``."""
        count = len(entries)
        if self._overrides_filter:
            entries = list(_through(self.sitemap_filter, entries, Entry))
        dropped["sitemap_filter"] += count - len(entries)
        count = len(entries)
        if self._selects:
            entries = [entry for entry in entries if any(rule.search(entry.loc) for rule, _ in self._cbs)]
        dropped["sitemap_rules"] += count - len(entries)
        return entries

    def _follow_only(self, links: list[Link], dropped: Counter[str]) -> list[Link]:
        """Apply ``sitemap_follow`` and an overridden ``sitemap_filter``."""
        count = len(links)
        if self._overrides_filter:
            links = list(_through(self.sitemap_filter, links, Link))
        links = [link for link in links if any(rule.search(link.loc) for rule in self._follow)]
        dropped["sitemap_follow"] += count - len(links)
        return links


def _means_no_robots(status: int) -> bool:
    """RFC 9309, 2.3.1.3: a 4xx means that there is no robots.txt; 429 means to come back later."""
    return 400 <= status < 500 and status != 429


def _through(keep: Any, things: list[Any], kind: type) -> Iterator[Any]:
    """Pass entries through a ``sitemap_filter`` as dicts, and yield those that come out, also in new dicts."""
    by_loc = {thing.loc: thing for thing in things}
    for fields in keep(thing.as_dict() for thing in things):
        yield by_loc.get(fields["loc"]) or kind(fields["loc"])


def _chunks(body: bytes) -> Iterator[bytes]:
    return (body[start : start + _CHUNK_BYTES] for start in range(0, len(body), _CHUNK_BYTES))


def _answered_at(request: Request | None) -> float:
    return float(request.meta.get("answered_at", 0)) if request and "answered_at" in request.meta else time.monotonic()


def _as_dict(problem: Any) -> dict[str, Any]:
    names = ("code", "severity", "count", "place", "sample", "message")
    return {
        name: str(value) if name != "count" else value
        for name in names
        if (value := getattr(problem, name, None)) is not None
    }
