"""The frontier: what is to be done, shared by all workers of a crawl.

Knows the operations and which partition each belongs to; the scripts do them. Every operation may be repeated: a
worker that dies, or a server that answers too late, loses nothing and doubles nothing. Refuses to know Scrapy, how
sitemaps are read, and when a run is over (see worker.py).
"""

from __future__ import annotations

import asyncio
import json
import uuid
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sitemapcrawl import urls
from sitemapcrawl.entries import Entry
from sitemapcrawl.exceptions import RunConflict
from sitemapcrawl.frontier import catalogue
from sitemapcrawl.frontier.catalogue import RANK_STEPS, Row
from sitemapcrawl.frontier.keys import Keys
from sitemapcrawl.frontier.policy import Policy
from sitemapcrawl.frontier.records import LOCAL_HOST, Claim, Finish, Offer, Offered, Run, recipe_text
from sitemapcrawl.store import Store

#: Rows, offers and pages one script call takes: a call stays below some 20 ms of server time.
_ROWS_A_CALL = 10_000
_OFFERS_A_CALL = 500
_PAGES_A_CALL = 2_000


@dataclass(frozen=True, slots=True)
class Claimed:
    """What one partition answered to a claim; times are seconds from now, None for never."""

    claims: list[Claim]
    work_seconds: float | None  #: until a request may be claimable
    lease_seconds: float | None  #: until a lease runs out: somebody works there
    events: int  #: offers the partition ever got
    low: list[tuple[str, str]]  #: (host, sitemap) whose pages a worker that died should have ranked


@dataclass(frozen=True, slots=True)
class Fleet:
    """Who works on the crawl."""

    workers: int
    seeding: int  #: workers that still read seeds
    run: str
    running: bool


class Frontier:
    """The shared frontier of one crawl."""

    def __init__(self, store: Store, policy: Policy) -> None:
        self.store = store
        self.policy = policy
        self.keys = Keys(policy.crawl, policy.partitions)
        self.run = Run("", 0, {}, resumed=False)

    # Runs and workers

    async def check_run(self, recipe: Mapping[str, str], *, fresh: bool = False) -> None:
        """Refuse to join an unfinished run with another recipe, without joining.

        Raises:
            RunConflict: the unfinished run has another recipe; names both.
        """
        key = self.keys.crawl_wide("run")
        state, found = await self.store.command("HMGET", key, "state", "recipe")
        if state == b"run" and not fresh:
            _compare(json.loads(found), recipe)

    async def join_run(self, recipe: Mapping[str, str], *, fresh: bool = False) -> Run:
        """Join the run that did not end, or start one; ``fresh`` ends an unfinished run on which nobody works.

        Raises:
            RunConflict: the unfinished run has another recipe; names both.
        """
        keys = (self.keys.crawl_wide("run"), self.keys.crawl_wide("workers"))
        text = json.dumps(recipe, sort_keys=True)
        run_id, started, found, resumed = await self.store.script(
            "run", keys, (uuid.uuid4().hex[:12], text, "new" if fresh else "")
        )
        _compare(json.loads(found), recipe)
        is_same = run_id.decode() == self.run.id
        self.run = Run(run_id.decode(), int(started), dict(recipe), self.run.resumed if is_same else bool(resumed))
        return self.run

    async def end_run(self) -> None:
        """Mark the run as ended; the next worker starts a new one."""
        key = self.keys.crawl_wide("run")
        if await self.store.command("HGET", key, "id") == self.run.id.encode():
            await self.store.command("HSET", key, "state", "ended")

    async def beat(self, worker: str, seconds: float, *, seeding: bool) -> Fleet:
        """Say that a worker lives, for so many seconds (0: it leaves)."""
        keys = tuple(map(self.keys.crawl_wide, ("workers", "seeding", "run")))
        workers, seeds, run, state = await self.store.script(
            "beat", keys, (worker, round(seconds * 1000), "1" if seeding else "")
        )
        return Fleet(workers, seeds, run.decode(), state == b"run")

    # Requests

    async def offer(self, offers: Sequence[Offer]) -> list[Offered]:
        """Make requests known; they are durable when this returns. Answers in the order of the offers."""
        by_partition: defaultdict[int, list[int]] = defaultdict(list)
        for position, offer in enumerate(offers):
            by_partition[self.keys.partition(offer.host)].append(position)
        answers = [Offered.KNOWN] * len(offers)

        async def send(partition: int, positions: Sequence[int]) -> None:
            values = [value for position in positions for value in offers[position].arguments()]
            head = (self.run.id, round(self.policy.discovery_ttl_seconds * 1000), self.keys.wake, len(positions))
            replies = await self.store.script("offer", (self.keys.tag(partition),), (*head, *values))
            for position, reply in zip(positions, replies, strict=True):
                answers[position] = Offered(str(reply))

        await asyncio.gather(
            *(send(p, part) for p, positions in by_partition.items() for part in _parts(positions, _OFFERS_A_CALL))
        )
        return answers

    async def claim(self, partition: int, worker: str, most: int) -> Claimed:
        """Lease up to ``most`` requests of a partition; 0 only asks how it stands."""
        policy = self.policy
        claims, work, lease, events, low = await self.store.script(
            "claim",
            (self.keys.tag(partition),),
            (
                self.run.id, worker, most, round(policy.lease_seconds * 1000), policy.host_concurrency,
                round(policy.host_delay_seconds * 1000), round(policy.crawl_delay_cap_seconds * 1000),
                round(policy.robots_ttl_seconds * 1000), policy.max_attempts,
            ),
        )  # fmt: skip
        return Claimed(
            [Claim.from_reply(reply) for reply in claims],
            None if work < 0 else work / 1000,
            None if lease < 0 else lease / 1000,
            events,
            [(host, url) for host, _, url in (member.decode().partition(" ") for member in low)],
        )

    async def finish(self, claim: Claim, end: Finish) -> bool:
        """End a claim without rows; False if the lease had run out and is somebody else's."""
        arguments = end.arguments(claim, self.run.id, self.keys.wake)
        return bool(await self.store.script("finish", (self._tag(claim.host),), arguments))

    async def give_back(self, claims: Sequence[Claim]) -> None:
        """Put claims back unfinished; no attempt is charged."""
        for partition, held in self._by_partition(claims).items():
            pairs = [value for claim in held for value in (claim.request, claim.token)]
            await self.store.script("give_back", (self.keys.tag(partition),), (self.keys.wake, *pairs))

    async def renew(self, claims: Sequence[Claim]) -> list[Claim]:
        """Lengthen the leases of claims; return those that were lost."""
        lost: list[Claim] = []
        for partition, held in self._by_partition(claims).items():
            pairs = [value for claim in held for value in (claim.request, claim.token)]
            lease_ms = round(self.policy.lease_seconds * 1000)
            answers = await self.store.script("renew", (self.keys.tag(partition),), (lease_ms, *pairs))
            lost += [claim for claim, answer in zip(held, answers, strict=True) if not answer]
        return lost

    # The catalogue

    async def commit(
        self, claim: Claim, files: Mapping[str, Sequence[Row]], hash_: str, recipe: str, end: Finish
    ) -> bool:
        """Replace what a sitemap lists by ``files`` (host -> rows in rank order), and finish the claim.

        Other hosts' rows go first, the sitemap's own partition and the finish last and at once. False: the lease had
        run out, somebody else reads the sitemap.
        """
        former = claim.record.get("hosts", "").split()
        end.fields["hosts"] = " ".join(sorted(files))
        for host in sorted({*files, *former} - {claim.host}):
            await self._commit_host(claim, host, files.get(host, ()), hash_, recipe, None)
        if claim.host in files or claim.host in former:
            stored = await self._commit_host(claim, claim.host, files.get(claim.host, ()), hash_, recipe, end)
        elif claim.host == LOCAL_HOST:
            stored = await self._record_local(claim, end)
        else:
            stored = await self.finish(claim, end)
        return stored

    async def _commit_host(
        self, claim: Claim, host: str, rows: Sequence[Row], hash_: str, recipe: str, end: Finish | None
    ) -> bool:
        holds = (claim.request, claim.token) if end else ("", "")
        priorities = " ".join(map(str, histogram(rows))) if rows else ""
        parts = list(_parts(rows, _ROWS_A_CALL)) or [rows]
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            packed = [catalogue.pack(block) for block in catalogue.blocks(part)]
            seen = "".join(map(str, urls.fingerprints([row[1] for row in part])))
            finish = end.arguments(claim, self.run.id, self.keys.wake) if end and last else ()
            stored, _ = await self.store.script(
                "commit",
                (self._tag(host),),
                (
                    self.run.id, host, claim.url, hash_, recipe, len(rows), catalogue.index(rows) if last else "",
                    priorities, number * _ROWS_A_CALL // catalogue.BLOCK_ROWS, "1" if last else "", *holds,
                    self.keys.wake, len(packed), *packed, seen, *finish,
                ),
            )  # fmt: skip
            if not stored:
                return False
        return True

    async def _record_local(self, claim: Claim, end: Finish) -> bool:
        record = self.keys.of(LOCAL_HOST, f"sitemap:{claim.url}")
        fields = {**end.fields, "found_by": "seed", "outcome": end.outcome, "reason": end.reason, "run": self.run.id}
        await self.store.command("HSET", record, *(value for pair in fields.items() for value in pair))
        await self.store.command("SADD", self.keys.of(LOCAL_HOST, "hosts"), LOCAL_HOST)
        await self.store.command("SADD", self.keys.of(LOCAL_HOST, f"sitemaps:{LOCAL_HOST}"), claim.url)
        for name, n in {**end.counts, "sitemaps": 1}.items():
            await self.store.command("HINCRBY", self.keys.of(LOCAL_HOST, f"counts:{self.run.id}"), name, n)
        return True

    async def top_up(self, host: str, sitemap: str, rows: Sequence[Row] | None = None) -> None:
        """Offer a file's best pages to its host's ranked pages; what does not fit waits in the catalogue.

        ``rows`` are the file's, in rank order, where the caller has them; else they are read.
        """
        size = self.policy.queue_size
        ranked, floor = await asyncio.gather(
            self.store.command("ZCARD", self.keys.of(host, f"ranked:{host}")),
            self.store.command("HGET", self.keys.of(host, f"host:{host}"), "floor"),
        )
        best = await self._first_rows(host, sitemap, size) if rows is None else rows[:size]
        if floor is not None and ranked >= size:
            best = best[: bisect_left(best, _floor(floor), key=_order)]
        for part in list(_parts(best, _PAGES_A_CALL)) or [[]]:
            values = [value for row in part for value in (row[0] / RANK_STEPS, row[1])]
            await self.store.script("top_up", (self._tag(host),), (host, sitemap, size, *values))

    async def _first_rows(self, host: str, sitemap: str, most: int) -> list[Row]:
        key = self.keys.of(host, f"rows:{host}:{sitemap}")
        blocks = await self.store.command("LRANGE", key, 0, (most - 1) // catalogue.BLOCK_ROWS)
        return [row for block in blocks for row in catalogue.unpack(block)][:most]

    async def grant(self, limit: str, sitemap: str, wanted: int, most: int) -> int:
        """Return how many of ``wanted`` a limit of the run still grants to a sitemap; the same when asked again."""
        key = self.keys.crawl_wide(f"grants:{self.run.id}")
        return int(await self.store.script("grant", (key,), (limit, sitemap, wanted, most)))

    # Seeds that others push

    async def take_seeds(self, key: str, most: int) -> list[tuple[bytes, str]]:
        """Take seed lines others pushed; (member, line) each, to be removed by ``seeds_done`` when offered."""
        lease_ms = round(self.policy.lease_seconds * 1000)
        members = await self.store.script(
            "take_seeds", (key, f"{{{key}}}:taken"), ("take", most, lease_ms, uuid.uuid4().hex[:8])
        )
        return [(member, member.partition(b" ")[2].decode(errors="replace")) for member in members]

    async def seeds_done(self, key: str, members: Sequence[bytes]) -> None:
        """Remove seed lines whose seeds are offered."""
        await self.store.script("take_seeds", (key, f"{{{key}}}:taken"), ("done", *members))

    def _tag(self, host: str) -> str:
        return self.keys.tag(self.keys.partition(host))

    def _by_partition(self, claims: Sequence[Claim]) -> dict[int, list[Claim]]:
        groups: defaultdict[int, list[Claim]] = defaultdict(list)
        for claim in claims:
            groups[self.keys.partition(claim.host)].append(claim)
        return groups


def _compare(theirs: Mapping[str, str], ours: Mapping[str, str]) -> None:
    if dict(theirs) != dict(ours):
        raise RunConflict(
            f"The unfinished run has other filters ({recipe_text(theirs)}) than this worker ({recipe_text(ours)}): "
            "use the same, give that run up with -a run=new once nobody works on it, or name another "
            "SITEMAPCRAWL_CRAWL."
        )


def histogram(rows: Sequence[Row] | Sequence[Entry]) -> list[int]:
    """Return how many rows have a priority of 0.0, 0.1 … 1.0 (rounded); rows without one are left out."""
    counts = [0] * 11
    for priority, n in Counter([row.priority for row in rows]).items():
        if priority is not None:
            counts[round(priority * 10)] += n
    return counts


def _order(row: Row) -> tuple[int, str]:
    return -row[0], row[1]


def _floor(value: bytes) -> tuple[int, str]:
    """Return the floor as a row's order."""
    rank, _, loc = value.decode().partition(" ")
    return -round(float(rank) * RANK_STEPS), loc


def _parts(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
