"""Where seeds come from: a file, a web address, standard input, or the argument itself.

Knows how to get the lines, reports bad ones and counts both. Refuses to know what a seed leads to.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from scrapy import Request
from scrapy.crawler import Crawler

from sitemapcrawl import resolver, seeds, stats, urls
from sitemapcrawl.seeds import BadSeed, Seed, Source, SourceKind

logger = logging.getLogger(__name__)

_GZIP_MAGIC = b"\x1f\x8b"


class Seeding:
    """Reads the seeds of one spider."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.valid = 0

    async def read(self, source: Source) -> AsyncIterator[Seed]:
        """Yield the valid seeds of ``-a seeds=``; bad lines are logged and counted."""
        if source.kind == SourceKind.FILE and _looks_like_sitemap(Path(source.value)):
            lines: Iterable[str] = [Path(source.value).absolute().as_uri()]  # noqa: ASYNC240  asks no disk
        else:
            lines = seeds.decode(await self._body(source.kind, source.value)).split("\n")
        name = source.value if source.kind in (SourceKind.FILE, SourceKind.URL) else str(source.kind)
        for seed in self.valid_seeds(lines, Path(name).name or name):
            yield seed

    def valid_seeds(self, lines: Iterable[str], name: str) -> Iterator[Seed]:
        """Yield the seeds of the lines; bad ones are logged and counted."""
        count = self._crawler.stats.inc_value
        for seed in seeds.parse(lines, name):
            if isinstance(seed, BadSeed):
                logger.warning("%s", seed)
                count(stats.SEEDS_INVALID)
            else:
                self.valid += 1
                count(stats.SEEDS_VALID)
                yield seed

    async def read_local(self, url: str) -> bytes:
        """Return the bytes of a ``file:`` URL; b"" if it can't be read, which is logged."""
        try:
            return await asyncio.to_thread(Path(url2pathname(urlsplit(url).path)).read_bytes)
        except OSError as error:
            logger.warning("%s: Invalid: can't be read (%s)", url, error.strerror)
            return b""

    async def _body(self, kind: SourceKind, value: str) -> bytes:
        if kind == SourceKind.FILE:
            return await asyncio.to_thread(Path(value).read_bytes)
        if kind == SourceKind.STDIN:
            return await asyncio.to_thread(sys.stdin.buffer.read)
        if kind == SourceKind.URL:
            if guard := resolver.installed():
                guard.allow(urls.host_key(value))
            response = await self._crawler.engine.download_async(Request(value, dont_filter=True))
            if response.status != 200:
                logger.error("No seeds at %s: it answered %d", value, response.status)
                return b""
            is_list = not _starts_like_sitemap(response.body[:512])
            return response.body if is_list else value.encode()  # a page or a sitemap: the address is the seed
        return value.encode()


def _looks_like_sitemap(path: Path) -> bool:
    with path.open("rb") as file:
        return _starts_like_sitemap(file.read(512))


def _starts_like_sitemap(start: bytes) -> bool:
    return start.startswith(_GZIP_MAGIC) or start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
