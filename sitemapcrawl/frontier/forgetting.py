"""Forgetting a crawl, or one host of it.

Knows every key that belongs to either. Refuses to ask whether it is meant.
"""

from __future__ import annotations

import re

from sitemapcrawl.frontier import Frontier

_KEYS_A_CALL = 500


async def forget_all(frontier: Frontier) -> None:
    """Delete all keys of the crawl; other crawls in the same Redis stay."""
    crawl = re.sub(r"([][*?\\^-])", r"\\\1", frontier.keys.crawl)  # as a pattern that matches itself alone
    for pattern in (f"{{{crawl}}}:*", f"{{{crawl}:*}}:*"):
        keys = [key async for key in frontier.store.client.scan_iter(match=pattern, count=1000)]
        for start in range(0, len(keys), _KEYS_A_CALL):
            await frontier.store.command("UNLINK", *keys[start : start + _KEYS_A_CALL])


async def forget_host(frontier: Frontier, host: str) -> None:
    """Delete what is known of one host: its record, requests, sitemaps, rows and fingerprints."""
    tag, command = frontier.keys.tag(frontier.keys.partition(host)), frontier.store.command
    await command("ZREM", f"{tag}:turn", host)
    await command("SREM", f"{tag}:hosts", host)
    for name in ("due", "low"):
        for member in await command("ZRANGE", f"{tag}:{name}", 0, -1):
            if member.startswith(host.encode() + b" "):
                await command("ZREM", f"{tag}:{name}", member)
    for url in await command("SMEMBERS", f"{tag}:sitemaps:{host}"):
        await command("UNLINK", f"{tag}:sitemap:{url.decode()}")
    for url in await command("SMEMBERS", f"{tag}:files:{host}"):
        await command("UNLINK", *(f"{tag}:{name}:{host}:{url.decode()}" for name in ("file", "rows", "new")))
    for bucket in range(int(await command("HGET", f"{tag}:host:{host}", "seen_buckets") or 0)):
        await command("UNLINK", f"{tag}:seen:{host}:{bucket}")
    await command("UNLINK", *(f"{tag}:{name}:{host}" for name in ("host", "control", "sitemaps", "files", "ranked")))
