"""A worker's side of the frontier: claims while there is room, renews, waits to be woken, sees the end of the run.

Knows when to ask which partition, and when nothing is left to do. Refuses to know what a claim is for and how it is
downloaded: ``deliver`` takes each claim, ``over`` hears why the work has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from redis import exceptions as errors

from sitemapcrawl.frontier import Claimed, Frontier
from sitemapcrawl.frontier.records import Claim, Offer
from sitemapcrawl.frontier.seedlist import SeedList

logger = logging.getLogger(__name__)

#: The longest sleep of an idle worker, so that a lost wake-up is never missed for long.
_IDLE_SECONDS = 1.0
_CANCEL_SECONDS = 0.2
_LAST_CALL_SECONDS = 5.0
_NEVER = float("inf")


@dataclass(slots=True)
class Standing:
    """What a worker knows of one partition, in its own monotonic seconds."""

    ask_at: float = 0.0  #: when to claim there again
    work_at: float = 0.0  #: when a request may be claimable
    leased: bool = True  #: somebody works there
    events: int = -1
    wakes: int = 0  #: wake-ups heard


class Worker:
    """Claims for one process."""

    def __init__(
        self,
        frontier: Frontier,
        name: str,
        room: int,
        deliver: Callable[[Claim], None],
        over: Callable[[str], None],
    ) -> None:
        """Work on a frontier once started.

        Args:
            frontier: of the crawl.
            name: of the worker, unlike that of any other.
            room: claims held at once.
            deliver: is given each claim; must not wait.
            over: is told once why there is nothing left to do.
        """
        self.frontier = frontier
        self.name = name
        self.held: dict[str, Claim] = {}  #: by request
        self.seeding = True  #: seeds are still being read
        self.stays = False  #: waits for seeds that others push instead of ending with the run
        self.idle_seconds = 0.0  #: a worker that stays leaves after so long without any; 0 for never
        self.seed_list: SeedList | None = None
        self.draining = False
        self._room = room
        self._deliver = deliver
        self._over = over
        self._offers: list[Offer] = []
        self._offering = 0
        self._standings = [Standing() for _ in range(frontier.policy.partitions)]
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to work in the background."""
        self._tasks = [asyncio.create_task(coroutine) for coroutine in (self._work(), self._beat(), self._listen())]
        for task in self._tasks:
            task.add_done_callback(self._report)

    async def stop(self) -> None:
        """Give back what is held, leave the fleet, end the background tasks."""
        self.draining = True
        self._changed.set()
        work, *others = self._tasks
        await asyncio.wait((work,), timeout=_LAST_CALL_SECONDS)  # a claim cut short would be nobody's until it runs out
        pending = {work, *others}
        while pending:  # once is not enough: a client that is connecting may swallow the cancellation
            for task in pending:
                task.cancel()
            _, pending = await asyncio.wait(pending, timeout=_CANCEL_SECONDS)
        await self._send_offers()
        await self.frontier.give_back(list(self.held.values()))
        self.held.clear()
        await self.frontier.beat(self.name, 0, seeding=False)

    def offer(self, offer: Offer) -> None:
        """Offer a request soon; ``seeding`` must not be switched off before."""
        self._offers.append(offer)
        self._changed.set()

    def seeded(self) -> None:
        """Say that all seeds are offered."""
        self.seeding = False
        self._changed.set()

    def let_go(self, claim: Claim) -> None:
        """Forget a claim that was finished."""
        self.held.pop(claim.request, None)
        self._changed.set()

    async def give_back_all(self, claims: Sequence[Claim]) -> None:
        """Put claims back that were not started."""
        await self.frontier.give_back(claims)
        for claim in claims:
            self.let_go(claim)

    # The three background tasks

    async def _work(self) -> None:
        while not self.draining:
            self._changed.clear()
            await self._send_offers()
            if self.seed_list and await self.seed_list.take():
                self._changed.set()
            await self._claim()
            if await self._is_over():
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), self._sleep_seconds())

    async def _beat(self) -> None:
        lasts = self.frontier.policy.lease_seconds
        while True:
            await self.frontier.beat(self.name, lasts, seeding=self.seeding)
            for claim in await self.frontier.renew(list(self.held.values())):
                logger.warning("The lease of %s ran out; another worker reads it", claim.url)
            await asyncio.sleep(lasts / 3)

    async def _listen(self) -> None:
        """Hear which partitions got work. A message may be lost; ``_IDLE_SECONDS`` and leases make up for it."""
        while True:
            try:
                async with self.frontier.store.client.pubsub() as channel:
                    await channel.subscribe(self.frontier.keys.wake)
                    async for message in channel.listen():
                        if message["type"] == "message":
                            self._wake(self._standings[int(message["data"])])
            except (errors.ConnectionError, errors.TimeoutError, OSError):
                await asyncio.sleep(_IDLE_SECONDS)
                for standing in self._standings:
                    self._wake(standing)

    def _wake(self, standing: Standing) -> None:
        standing.wakes += 1
        standing.ask_at = 0.0
        self._changed.set()

    def _report(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            logger.error("The worker failed", exc_info=error)
            self._over("worker_failed")

    # The steps of the work

    async def _send_offers(self) -> None:
        offers, self._offers = self._offers, []
        self._offering = len(offers)
        if offers:
            await self.frontier.offer(offers)
        self._offering = 0

    async def _claim(self) -> None:
        for partition, standing in enumerate(self._standings):
            room = self._room - len(self.held)
            if self.draining or room <= 0:
                return
            if standing.ask_at > time.monotonic():
                continue
            claimed = await self._ask(partition, room)
            for claim in claimed.claims:
                self.held[claim.request] = claim
                self._deliver(claim)
            for host, sitemap in claimed.low:
                await self.frontier.top_up(host, sitemap)

    async def _ask(self, partition: int, most: int) -> Claimed:
        """Claim in a partition, and note how it stands."""
        standing = self._standings[partition]
        wakes = standing.wakes
        claimed = await self.frontier.claim(partition, self.name, most)
        now = time.monotonic()
        standing.events = claimed.events
        standing.leased = claimed.lease_seconds is not None
        standing.work_at = _NEVER if claimed.work_seconds is None else now + claimed.work_seconds
        lease_at = _NEVER if claimed.lease_seconds is None else now + claimed.lease_seconds
        standing.ask_at = min(standing.work_at, lease_at)
        if standing.wakes != wakes or (most and len(claimed.claims) >= most):
            standing.ask_at = now  # there is more, or what woke us came after the answer was made
        return claimed

    async def _is_over(self) -> bool:
        """Tell whether the run has ended, and end it. Two looks at all partitions: an offer between them shows."""
        if self._is_busy() or not self._looks_done():
            return False
        if self.stays:
            return self._idled_long()
        fleet = await self.frontier.beat(self.name, self.frontier.policy.lease_seconds, seeding=False)
        if fleet.run == self.frontier.run.id and fleet.running:
            if fleet.seeding or not await self._looks_done_twice() or self._is_busy():
                return False
            await self.frontier.end_run()
        self._over("finished")
        return True

    def _idled_long(self) -> bool:
        last = self.seed_list.taken_at if self.seed_list else 0.0
        if not self.idle_seconds or time.monotonic() < last + self.idle_seconds:
            return False
        self._over("finished")
        return True

    def _is_busy(self) -> bool:
        lines_wait = self.seed_list is not None and not self.seed_list.is_empty
        return bool(self.seeding or self.held or self._offers or self._offering or lines_wait)

    def _looks_done(self) -> bool:
        horizon = time.monotonic() + self.frontier.policy.patience_seconds
        return not any(standing.leased or standing.work_at <= horizon for standing in self._standings)

    async def _looks_done_twice(self) -> bool:
        before = [standing.events for standing in self._standings]
        for _ in range(2):
            for partition in range(len(self._standings)):
                await self._ask(partition, 0)
            events = [standing.events for standing in self._standings]
            if not self._looks_done() or events != before:
                return False
        return True

    def _sleep_seconds(self) -> float:
        if len(self.held) >= self._room:
            return _IDLE_SECONDS
        first = min(standing.ask_at for standing in self._standings)
        return max(0.0, min(_IDLE_SECONDS, first - time.monotonic()))
