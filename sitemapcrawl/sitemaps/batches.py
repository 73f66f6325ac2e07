"""The text of a sitemap -> batches of whole entries.

Knows where entries start and end. Refuses to know what is in them. A batch is well-formed in itself
if its entries are, so that each can be parsed alone: damage in one reaches no other, memory is that
of one batch, and an entry that was cut off is never part of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sitemapcrawl.sitemaps.limits import Limits
from sitemapcrawl.sitemaps.problems import Code, Problems

_ENTRY_NAMES = ("url", "sitemap")
_ROOT_NAMES = ("urlset", "sitemapindex")


class Batch(NamedTuple):
    """Text from an entry's start (or what precedes it) to an entry's end."""

    text: str
    line: int  #: of its first character


class Tags:
    """The start and end tags of entries, as one file writes them."""

    __slots__ = ("entry_end", "entry_start", "root_end")

    def __init__(self, prefixes: Iterable[str]) -> None:
        prefix = "(?:" + "|".join(sorted(map(re.escape, {"", *prefixes}), reverse=True)) + ")"
        entry, root = "|".join(_ENTRY_NAMES), "|".join(_ROOT_NAMES)
        self.entry_start = re.compile(rf"<{prefix}(?:{entry})(?=[\s/>])", re.IGNORECASE)
        self.entry_end = re.compile(rf"</{prefix}(?:{entry}|{root})\s*>", re.IGNORECASE)
        self.root_end = re.compile(rf"</{prefix}(?:{root})\s*>", re.IGNORECASE)


def batches(texts: Iterable[str], tags: Tags, line: int, limits: Limits, problems: Problems) -> Iterator[Batch]:
    """Yield the entries in batches. Text behind the last end tag is no entry, and is left out."""
    held = ""
    closed = False
    for text in texts:
        held += text
