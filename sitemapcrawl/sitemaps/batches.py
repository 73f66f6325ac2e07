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

_ENTRY = "url|sitemap"
_ROOT = "urlset|sitemapindex"
#: An end tag longer than this is not found where two pieces meet.
_TAG_CHARS = 100


class Batch(NamedTuple):
    """Text that ends where an entry ends."""

    text: str
    line: int  #: of its first character


class Tags:
    """The start and end tags of entries and roots, with the namespace prefixes one file uses."""

    __slots__ = ("_root", "end", "start")

    def __init__(self, prefixes: Iterable[str]) -> None:
        prefix = "(?:" + "|".join(sorted(map(re.escape, {"", *prefixes}), reverse=True)) + ")"
        self.start = re.compile(rf"<{prefix}(?:{_ENTRY})(?=[\s/>])", re.IGNORECASE)
        self.end = re.compile(rf"</{prefix}(?:(?:{_ENTRY})|({_ROOT}))\s*>", re.IGNORECASE)
        self._root = re.compile(rf"</?{prefix}(?:{_ROOT})(?=[\s/>])[^<>]*>", re.IGNORECASE)

    def without_root(self, text: str) -> str:
        """Return the text without start and end tags of roots: several documents in one file are read as one."""
        return self._root.sub("", text) if "urlset" in text or "sitemapindex" in text else text

    def last_end(self, text: str, start: int) -> re.Match[str] | None:
        """Return the last end tag of an entry (or of the root: then group 1 is set) behind ``start``."""
        position = len(text)
        while (position := text.rfind("</", start, position)) >= 0:
            if match := self.end.match(text, position):
                return match
        return None


class Batches:
    """Iterates over the batches of one file.

    Afterwards ``is_closed`` tells whether the root's end was seen, and ``line`` where the last entry ended.
    """

    __slots__ = ("_is_dropping", "_limits", "_problems", "_tags", "_texts", "is_closed", "line")

    def __init__(self, texts: Iterable[str], tags: Tags, line: int, limits: Limits, problems: Problems) -> None:
        self._texts = texts
        self._tags = tags
        self.line = line
        self._limits = limits
        self._problems = problems
        self.is_closed = False
        self._is_dropping = False

    def __iter__(self) -> Iterator[Batch]:
        held = ""
        for text in self._texts:
            seen = max(0, len(held) - _TAG_CHARS)
            held += text
            end = self._tags.last_end(held, seen)
            if end is None:
                held = self._bounded(held)
                continue
            self._is_dropping = False
            self.is_closed = end[1] is not None
            yield Batch(self._tags.without_root(held[: end.end()]), self.line)
            self.line += held.count("\n", 0, end.end())
            held = held[end.end() :]

    def _bounded(self, held: str) -> str:
        """Return a started entry without what is too long in it, or without all of it."""
        if len(held) <= 2 * self._limits.max_text:
            return held
        held = re.sub(rf"(>[^<]{{{self._limits.max_text}}})[^<]+", r"\1", held)
        if len(held) <= self._limits.max_entry:
            return held
        if not self._is_dropping:
            self._problems.add(Code.ENTRY_TOO_LONG, f"line {self.line}", held)
            self._is_dropping = True
        return ""
