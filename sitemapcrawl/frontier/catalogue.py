"""The catalogue's rows: one page as one sitemap lists it, packed into compressed blocks in rank order.

Knows the order of rows, the form of a block and of a file's index. Refuses to know Redis.

A block is a zlib stream of five columns joined by NUL, each one value a line: rank (0..10000), URL after the block's
common prefix, lastmod (seconds and precision), changefreq, priority; the prefix stands before them. A file's index is
one line a block: the rank and URL of its first row, so that a reader knows which blocks it needs.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from isal import isal_zlib

from sitemapcrawl.entries import Lastmod

#: Ranks are kept as whole numbers of this many parts of 1.
RANK_STEPS = 10_000
BLOCK_ROWS = 1_000


class Row(NamedTuple):
    """One page, as one sitemap lists it. Sorting by ``order`` is rank order: best first, then by URL."""

    rank: int  #: 0..RANK_STEPS
    loc: str
    lastmod: Lastmod | None
    changefreq: str | None
    priority: float | None

    @property
    def order(self) -> tuple[int, str]:
        return -self.rank, self.loc

    def as_dict(self, sitemap: str, site: str) -> dict[str, Any]:
        """Return the row as feeds and listings show it; the fields' order is the column order."""
        return {
            "url": self.loc,
            "lastmod": str(self.lastmod) if self.lastmod else None,
            "changefreq": self.changefreq,
            "priority": self.priority,
            "rank": self.rank / RANK_STEPS,
            "sitemap": sitemap,
            "site": site,
        }


def pack(rows: Sequence[Row]) -> bytes:
    """Return one block of rows, which are in rank order."""
    prefix = os.path.commonprefix((min(row.loc for row in rows), max(row.loc for row in rows)))
    cut = len(prefix)
    columns = (
        "\n".join([str(row[0]) for row in rows]),
        "\n".join([row[1][cut:] for row in rows]),
        "\n".join([f"{row[2][0]}{row[2][1]}" if row[2] else "" for row in rows]),
        "\n".join([row[3] or "" for row in rows]),
        "\n".join(["" if row[4] is None else f"{row[4]:g}" for row in rows]),
    )
    return isal_zlib.compress("\0".join((prefix, *columns)).encode(), 3)


def unpack(block: bytes) -> list[Row]:
    """Return a block's rows."""
    prefix, ranks, locs, lastmods, changefreqs, priorities = isal_zlib.decompress(block).decode().split("\0")
    return [
        Row(
            int(rank),
            prefix + loc,
            Lastmod(int(lastmod[:-1]), lastmod[-1]) if lastmod else None,
            changefreq or None,
            float(priority) if priority else None,
        )
        for rank, loc, lastmod, changefreq, priority in zip(
            ranks.split("\n"),
            locs.split("\n"),
            lastmods.split("\n"),
            changefreqs.split("\n"),
            priorities.split("\n"),
            strict=True,
        )
    ]


def blocks(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Cut rows that are in rank order into blocks."""
    for start in range(0, len(rows), BLOCK_ROWS):
        yield rows[start : start + BLOCK_ROWS]


def index(rows: Sequence[Row]) -> str:
    """Return the index of a file: rank and URL of each block's first row."""
    return "\n".join(f"{block[0].rank} {block[0].loc}" for block in blocks(rows))
