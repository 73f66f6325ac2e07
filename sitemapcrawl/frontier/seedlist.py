"""Seed lines that others push into Redis while a worker runs, after scrapy-redis's conventions.

``REDIS_START_URLS_KEY`` names a list, set or sorted set; its type is read from Redis. A line is removed only after its
seeds are offered. Knows the conventions. Refuses to know what a seed line means.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence

from sitemapcrawl.frontier import Frontier
from sitemapcrawl.frontier.records import Offer, Offered

logger = logging.getLogger(__name__)

_LINES_AT_A_TIME = 100
_LOOK_SECONDS = 1.0


class SeedList:
    """The shared list of seed lines."""

    def __init__(self, frontier: Frontier, key: str, offers_of: Callable[[str], Sequence[Offer]]) -> None:
        """Read from a key.

        Args:
            frontier: to which the seeds are offered.
            key: of the list, set or sorted set.
            offers_of: turns a line into offers; reports a bad one itself and returns none.
        """
        self._frontier = frontier
        self._key = key
        self._offers_of = offers_of
        self._look_at = 0.0
        self.is_empty = False  #: at the last look
        self.taken_at = time.monotonic()  #: when the last line was taken, monotonic seconds

    async def take(self) -> bool:
        """Offer the seeds of some lines; False if there were none. Looks once a second at most."""
        if time.monotonic() < self._look_at:
            return False
        lines = await self._frontier.take_seeds(self._key, _LINES_AT_A_TIME)
        self._look_at = time.monotonic() + (0 if lines else _LOOK_SECONDS)
        self.is_empty = not lines
        if not lines:
            return False
        self.taken_at = time.monotonic()
        await self._frontier.join_run(self._frontier.run.recipe)  # the run may have ended while nothing was to do
        offers = [offer for _, line in lines for offer in self._offers_of(seed_line(line))]
        answers = await asyncio.shield(self._frontier.offer(offers))
        for offer, answer in zip(offers, answers, strict=True):
            if answer == Offered.NEW:
                logger.debug("Scheduled: %s", offer.url)
        await self._frontier.seeds_done(self._key, [member for member, _ in lines])
        return True


def seed_line(message: str) -> str:
    """Return the seed line a message means: the message itself, or its ``url`` where it is JSON.

    A JSON message may have ``sitemaps`` (a list), ``score`` and ``interval``, beside ``url`` or in its ``meta``.
    """
    if not message.lstrip().startswith("{"):
        return message
    try:
        fields = json.loads(message)
    except ValueError:
        return message
    meta = fields.get("meta")
    fields = {**(meta if isinstance(meta, dict) else {}), **fields}
    words = [str(fields.get("url") or message)]
    words += [f"{name}={fields[name]}" for name in ("score", "interval") if name in fields]
    if sitemaps := fields.get("sitemaps"):
        words += ["sitemaps:", *(sitemaps if isinstance(sitemaps, list) else [str(sitemaps)])]
    return " ".join(words)
