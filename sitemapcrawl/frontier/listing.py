"""What listings show of a crawl: hosts, sitemap records, rows in rank order, the figures of a run.

Knows how to read the catalogue and the records in pieces. Refuses to change anything.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from sitemapcrawl import urls
from sitemapcrawl.frontier import Frontier, catalogue
from sitemapcrawl.frontier.catalogue import Row
from sitemapcrawl.frontier.records import Run

#: Fields of a host's record that describe its robots.txt.
_ROBOTS = ("robots_outcome", "robots_reason", "robots_at", "robots_status", "robots_sitemaps", "base")


@dataclass(frozen=True, slots=True)
class Listed:
    """One URL as the file that ranks it best lists it."""

    row: Row
    host: str
    sitemaps: list[str]  #: that file, and the others if they were asked for


async def hosts(frontier: Frontier) -> list[str]:
    """Return all host keys of the crawl, sorted."""
    tags = (frontier.keys.tag(p) for p in range(frontier.keys.partitions))
    replies = await asyncio.gather(*(frontier.store.command("SMEMBERS", f"{tag}:hosts") for tag in tags))
    return sorted(host.decode() for reply in replies for host in reply)


async def records(frontier: Frontier, host: str) -> list[dict[str, Any]]:
    """Return what is known of a host's robots.txt and of each sitemap on it, as text."""
    found = []
    robots = await _fields(frontier, host, f"host:{host}", _ROBOTS)
    if robots.get("robots_outcome"):
        found.append({"url": f"{robots['base']}robots.txt", "kind": "robots", "outcome": robots["robots_outcome"],
                      "reason": robots.get("robots_reason", ""), "children": robots.get("robots_sitemaps", ""),
                      "at": robots.get("robots_at", ""), "host": host})  # fmt: skip
    for url in sorted(await frontier.store.command("SMEMBERS", frontier.keys.of(host, f"sitemaps:{host}"))):
        values = await frontier.store.command("HGETALL", frontier.keys.of(host, f"sitemap:{url.decode()}"))
        pairs = dict(zip(values[::2], values[1::2], strict=True)) if isinstance(values, list) else values
        pairs.pop(b"links", None)
        found.append(
            {"url": url.decode(), "host": host} | {k.decode(): v.decode() for k, v in pairs.items() if k != b"url"}
        )
    return found


async def _fields(frontier: Frontier, host: str, name: str, fields: tuple[str, ...]) -> dict[str, str]:
    values = await frontier.store.command("HMGET", frontier.keys.of(host, name), *fields)
    return {field: value.decode() for field, value in zip(fields, values, strict=True) if value is not None}


async def rows_of(frontier: Frontier, host: str, sitemap: str) -> list[Row]:
    """Return the rows one sitemap lists of one host, in rank order."""
    return [row async for row in _rows(frontier, host, sitemap)]


async def _rows(frontier: Frontier, host: str, sitemap: str) -> AsyncIterator[Row]:
    key, number = frontier.keys.of(host, f"rows:{host}:{sitemap}"), 0
    while block := await frontier.store.command("LINDEX", key, number):
        for row in catalogue.unpack(block):
            yield row
        number += 1


async def listed(frontier: Frontier, hosts: Sequence[str], *, with_sources: bool = False) -> AsyncIterator[Listed]:
    """Yield the URLs of hosts in rank order, each once: by the file that ranks it best, or with all that list it."""
    files = [(host, sitemap) for host in hosts for sitemap in await _files(frontier, host)]
    sources = await _sources(frontier, files) if with_sources else {}
    shown: set[int] = set()
    async for row, number in _merged([_rows(frontier, *file) for file in files]):
        key = urls.fingerprint(row.loc)
        if key not in shown:
            shown.add(key)
            host, best = files[number]
            others = [files[n][1] for n in sources.get(key, ()) if n != number]
            yield Listed(row, host, [best, *others])


async def _files(frontier: Frontier, host: str) -> list[str]:
    names = await frontier.store.command("SMEMBERS", frontier.keys.of(host, f"files:{host}"))
    return sorted(name.decode() for name in names)


async def _sources(frontier: Frontier, files: Sequence[tuple[str, str]]) -> dict[int, tuple[int, ...]]:
    """Return fingerprint -> numbers of the files that list the URL."""
    sources: dict[int, tuple[int, ...]] = {}
    for number, (host, sitemap) in enumerate(files):
        alone = (number,)
        async for row in _rows(frontier, host, sitemap):
            key = urls.fingerprint(row.loc)
            sources[key] = sources[key] + alone if key in sources else alone
    return sources


async def _merged(streams: list[AsyncIterator[Row]]) -> AsyncIterator[tuple[Row, int]]:
    """Merge streams that are in rank order, one block of each in memory; yield each row with its stream's number."""
    heap: list[tuple[tuple[int, str], int, Row]] = []
    for number, stream in enumerate(streams):
        async for row in stream:
            heap.append((row.order, number, row))
            break
    heapq.heapify(heap)
    while heap:
        _, number, row = heap[0]
        yield row, number
        following = await anext(streams[number], None)
        if following is None:
            heapq.heappop(heap)
        else:
            heapq.heapreplace(heap, (following.order, number, following))


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run did so far, all workers counted."""

    run: Run
    counts: Counter[str]
    failures: dict[str, str]  #: request -> outcome and reason
    waiting: dict[str, int]  #: request -> ms when it is due, 0 for when its host is open again


async def summarise(frontier: Frontier) -> Figures:
    """Return the figures of the current run."""
    replies = await asyncio.gather(*(_partition(frontier, p) for p in range(frontier.keys.partitions)))
    figures = Figures(frontier.run, Counter(), {}, {})
    for counts, failures, waiting in replies:
        figures.counts.update(counts)
        figures.failures.update(failures)
        figures.waiting.update(waiting)
    return figures


async def _partition(frontier: Frontier, partition: int) -> tuple[dict[str, int], dict[str, str], dict[str, int]]:
    store, tag, run = frontier.store, frontier.keys.tag(partition), frontier.run.id
    counts, failures, due, names = await asyncio.gather(
        store.command("HGETALL", f"{tag}:counts:{run}"),
        store.command("HGETALL", f"{tag}:failures:{run}"),
        store.command("ZRANGE", f"{tag}:due", 0, -1, "WITHSCORES"),
        store.command("SMEMBERS", f"{tag}:hosts"),
    )
    waiting = {request.decode(): int(at) for request, at in _pairs(due)}
    for host in names:
        for request in await store.command("ZRANGE", f"{tag}:control:{host.decode()}", 0, 99):
            waiting[request.decode()] = 0
    return (
        {name.decode(): int(n) for name, n in _pairs(counts)},
        {request.decode(): reason.decode() for request, reason in _pairs(failures)},
        waiting,
    )


def _pairs(reply: Any) -> list[tuple[Any, Any]]:
    """Return a reply of pairs as pairs, in whichever form the protocol's version gives it."""
    if isinstance(reply, dict):
        return list(reply.items())
    if reply and isinstance(reply[0], list | tuple):
        return [tuple(pair) for pair in reply]
    return list(zip(reply[::2], reply[1::2], strict=True))
