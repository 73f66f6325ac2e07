"""Spider middleware: every claim ends as an item, also when our own code or a user's fails on it.

Knows the ways a claim can get lost between download and store: an exception of a callback, an item that a pipeline
drops or fails on. Refuses to know what then becomes of the claim (see ``outcomes``).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable
from typing import Any, Self

from itemadapter import ItemAdapter, is_item
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.python.failure import Failure as TwistedFailure

from sitemapcrawl.frontier.records import Claim
from sitemapcrawl.items import Failure
from sitemapcrawl.pipelines.store import give_up
from sitemapcrawl.scheduler import scheduler_of

logger = logging.getLogger(__name__)


class ErrorsMiddleware:
    """Turns what went wrong into the claim's outcome."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler)
        crawler.signals.connect(middleware.item_error, signals.item_error)
        crawler.signals.connect(middleware.item_dropped, signals.item_dropped)
        return middleware

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Tell the frontier when all seeds are offered."""
        scheduler = scheduler_of(self._crawler)
        try:
            async for item_or_request in start:
                yield item_or_request
        except Exception:
            scheduler.start_failed = True  # what was offered before is crawled; the run does not wait for the rest
            raise
        finally:
            scheduler.worker.seeded()

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Note which claims have their item: what fails behind it can't take it back."""
        async for item in result:
            if response.request and is_item(item) and ItemAdapter(item).get("claim") is not None:
                response.request.meta["answered"] = True
            yield item

    def process_spider_exception(self, response: Response, exception: Exception) -> Iterable[Any] | None:
        claim = response.request.cb_kwargs.get("claim") if response.request else None
        if claim is None:
            return None
        logger.error("Reading %s failed", response.url, exc_info=exception)
        if response.request and response.request.meta.get("answered"):
            return []  # the claim's item is on its way: it decides
        return [Failure(claim, response.url, error="callback-error", detail=repr(exception)[:300])]

    async def item_error(self, item: Any, response: Response, failure: TwistedFailure) -> None:
        await self._lost(item, "pipeline-error", repr(failure.value))

    async def item_dropped(self, item: Any, response: Response, exception: BaseException) -> None:
        await self._lost(item, "item-dropped", str(exception))

    async def _lost(self, item: Any, error: str, detail: str) -> None:
        claim: Claim | None = ItemAdapter(item).get("claim")
        if claim is not None:
            await give_up(self._crawler, Failure(claim, claim.url, error=error, detail=detail[:300]))
