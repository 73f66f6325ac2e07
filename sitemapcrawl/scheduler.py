"""Scrapy's scheduler over the shared frontier.

Knows how requests become offers and claims become requests. Scrapy asks synchronously, so only a local buffer is
touched here; the frontier's worker talks to Redis in the background and delivers claims into the buffer.

Three kinds of requests come in: seeds (``cb_kwargs["offer"]``), which go to the frontier; claims (``["claim"]``),
delivered by the worker or sent on by a redirect; and a spider's own requests, which stay in this process.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections import deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Self, cast

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import build_from_crawler, load_object
from twisted.internet.defer import Deferred

from sitemapcrawl import offers, resolver, stats, urls
from sitemapcrawl.frontier import Frontier
from sitemapcrawl.frontier.listing import Figures, summarise
from sitemapcrawl.frontier.policy import Policy
from sitemapcrawl.frontier.records import Claim, Finish, Kind
from sitemapcrawl.frontier.seedlist import SeedList
from sitemapcrawl.frontier.worker import Worker
from sitemapcrawl.store import connect

if TYPE_CHECKING:  # the spiders import this module's users
    from sitemapcrawl.spiders import SitemapSpider

logger = logging.getLogger(__name__)


def scheduler_of(crawler: Crawler) -> FrontierScheduler:
    """Return the crawler's scheduler, through which pipelines and middlewares reach the frontier."""
    return cast("FrontierScheduler", crawler.engine.scheduler)


def _note_answer(request: Request) -> None:
    """Note when an answer began: a moment by which the request had surely arrived."""
    request.meta["answered_at"] = time.monotonic()


class FrontierScheduler(BaseScheduler):
    """Hands out what the frontier's worker claimed."""

    frontier: Frontier
    worker: Worker
    figures: Figures | None = None  #: of the whole run, known when the scheduler has closed

    def __init__(self, crawler: Crawler, dupefilter: BaseDupeFilter) -> None:
        self._crawler = crawler
        self._dupefilter = dupefilter
        self._buffer: deque[Request] = deque()
        self._own: deque[Request] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing: asyncio.Task[None] | None = None
        self._over = False
        self._resolver = resolver.installed()
        self.start_failed = False  #: reading the seeds ended with an exception
        crawler.signals.connect(_note_answer, signals.headers_received)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, build_from_crawler(load_object(crawler.settings["DUPEFILTER_CLASS"]), crawler))

    def open(self, spider: Spider) -> Deferred[None]:
        self._dupefilter.open()
        return deferred_from_coro(self._open(cast("SitemapSpider", spider)))

    async def _open(self, spider: SitemapSpider) -> None:
        settings = self._crawler.settings
        self.frontier = Frontier(await connect(settings), Policy.from_settings(settings))
        name = f"{socket.gethostname()}-{os.getpid()}"
        self.worker = Worker(self.frontier, name, settings.getint("CONCURRENT_REQUESTS"), self._deliver, self._finish)
        await self.frontier.beat(name, self.frontier.policy.lease_seconds, seeding=True)
        run = await self.frontier.join_run(spider.arguments.recipe(), fresh=spider.arguments.run == "new")
        logger.info(
            "%s run %s of the crawl %s", "Joined" if run.resumed else "Started", run.id, self.frontier.keys.crawl
        )
        self.worker.seed_list = SeedList(self.frontier, spider.start_urls_key, spider.offers_of_line)
        self.worker.stays = spider.stays
        self.worker.idle_seconds = settings.getfloat("MAX_IDLE_TIME_BEFORE_CLOSE")
        self.worker.start()
        if spider.stays:
            logger.info("Waiting for seed lines in the Redis key %s (Ctrl-C ends)", spider.start_urls_key)

    def close(self, reason: str) -> Deferred[None]:
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        for task in self._tasks:
            task.cancel()
        await self.worker.stop()
        if reason == "no_valid_seed" and not self.frontier.run.resumed:
            await self.frontier.end_run()
        self.figures = await summarise(self.frontier)
        for name, value in self.figures.counts.items():
            self._crawler.stats.set_value(f"{stats.RUN}/{name}", value)
        await self.frontier.store.close()
        self._dupefilter.close(reason)

    def has_pending_requests(self) -> bool:
        return bool(self._buffer or self._own or not self._over)

    def enqueue_request(self, request: Request) -> bool:
        if offer := request.cb_kwargs.get("offer"):
            self.worker.offer(offer)
            logger.debug("Scheduled: %s", request.url)
        elif claim := request.cb_kwargs.get("claim"):
            self._enqueue_claim(request, claim)
        elif request.dont_filter or not self._dupefilter.request_seen(request):
            if self._resolver:
                self._resolver.allow(urls.host_key(request.url))
            self._own.append(request)
        else:
            self._dupefilter.log(request, cast("Spider", self._crawler.spider))
            return False
        return True

    def next_request(self) -> Request | None:
        if self._buffer:
            return self._buffer.popleft()
        return self._own.popleft() if self._own else None

    # Claims

    def _deliver(self, claim: Claim) -> None:
        """Give a claim to the engine, which comes back with it through enqueue_request, then asks for it at once."""
        engine = self._crawler.engine
        if not engine.running or engine.spider is None:
            self.worker.draining = True  # what is held is given back when the scheduler closes
            return
        if self._resolver and claim.host_record.get("seeded"):
            self._resolver.allow(claim.host)
        engine.crawl(cast("SitemapSpider", self._crawler.spider).request_for(claim))

    def _enqueue_claim(self, request: Request, claim: Claim) -> None:
        hops = request.meta.get("redirect_times", 0)
        if hops == request.meta.get("hops_followed", 0):
            self._buffer.append(request)
        elif claim.kind == Kind.ROBOTS or urls.host_key(request.url) == claim.host:
            request.meta["hops_followed"] = hops
            self._in_background(self._follow(request, claim))
        else:
            self._in_background(self._hand_over(request, claim))

    async def _follow(self, request: Request, claim: Claim) -> None:
        """Go on with a redirected claim after the host's delay: the redirect was a request of its own."""
        await asyncio.sleep(claim.delay_seconds)
        self._crawler.engine.crawl(request)

    async def _hand_over(self, request: Request, claim: Claim) -> None:
        """Offer the target of a redirect to the host it lies on; the claim ends here."""
        target = offers.of_redirect(claim, request.url)
        if target:
            await self.frontier.offer([target])
            end = Finish("redirect", fields={"target": request.url}, counts={"redirected": 1})
        else:
            end = Finish("blocked", "redirected to a private address", counts={"failed/private-address": 1})
        await self.frontier.finish(claim, end)
        self.worker.let_go(claim)

    def _in_background(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _finish(self, reason: str) -> None:
        """Close the spider once its own requests are done; the engine looks every few seconds where some are left."""
        self._over = True
        if self.start_failed and reason == "finished":
            reason = "start_error"
        engine = self._crawler.engine
        if engine.running and (reason not in ("finished", "start_error") or engine.spider_is_idle()):
            self._closing = asyncio.create_task(engine.close_spider_async(reason=reason))
