"""One sitemap from its bytes to its verdict.

Knows the order of the steps: unpack, decode, recognise, read. Refuses to know how each is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum

from sitemapcrawl.entries import Entry, Link
from sitemapcrawl.sitemaps import text, xml
from sitemapcrawl.sitemaps.decode import texts
from sitemapcrawl.sitemaps.decompress import unpacked
from sitemapcrawl.sitemaps.detect import Head, Kind, sniff
from sitemapcrawl.sitemaps.limits import PROTOCOL_ENTRIES, Limits
from sitemapcrawl.sitemaps.problems import Code, Problem, Problems, Severity

Reader = Callable[[Head, Iterable[str], str, Limits, Problems], Iterator[list[Entry | Link]]]
#: The reader of each kind. A new format is one more module and one more row.
_READERS: dict[Kind, Reader] = {Kind.URLSET: xml.read, Kind.INDEX: xml.read, Kind.TEXT: text.read}
_UNREADABLE = {
    Kind.HTML: Code.HTML,
    Kind.ERROR: Code.ERROR_DOCUMENT,
    Kind.RSS: Code.FEED,
    Kind.ATOM: Code.FEED,
    Kind.UNKNOWN: Code.UNKNOWN_ROOT,
}


class Verdict(StrEnum):
    """How far a sitemap could be read."""

    OK = "ok"  #: whole
    PARTIAL = "partial"  #: to its end, but some entries were lost
    TRUNCATED = "truncated"  #: as far as it went
    TOO_BIG = "too-big"  #: as far as the limits go
    EMPTY = "empty"  #: it lists nothing
    HTML = "html"
    ERROR_DOCUMENT = "error-document"
    UNKNOWN_ROOT = "unknown-root"


#: The first of these codes that was found decides; lost entries without any of them make a partial reading.
_VERDICTS = {
    Code.HTML: Verdict.HTML,
    Code.ERROR_DOCUMENT: Verdict.ERROR_DOCUMENT,
    Code.FEED: Verdict.UNKNOWN_ROOT,
    Code.TOO_BIG: Verdict.TOO_BIG,
    Code.TOO_MANY_ENTRIES: Verdict.TOO_BIG,
    Code.TRUNCATED: Verdict.TRUNCATED,
    Code.GZIP_TRUNCATED: Verdict.TRUNCATED,
    Code.GZIP_CORRUPT: Verdict.TRUNCATED,
    Code.UNKNOWN_ROOT: Verdict.UNKNOWN_ROOT,  # what is cut off is not known by what is left
    Code.EMPTY: Verdict.EMPTY,
    Code.NO_ENTRIES: Verdict.EMPTY,
}


class Reading:
    """Iterates once over what a sitemap lists, as its bytes come in; no bytes make it raise.

    Afterwards its attributes are final; until then they tell how far it is.
    """

    def __init__(self, chunks: Iterable[bytes], url: str, limits: Limits | None = None) -> None:
        self.url = url
        self.kind = Kind.UNKNOWN
        self.entries = 0
        self.links = 0
        self.bytes = 0  #: after decompression
        self._limits = limits or Limits()
        self._problems = Problems()
        self._items = self._read(chunks)

    def __iter__(self) -> Iterator[Entry | Link]:
        return self._items

    @property
    def problems(self) -> list[Problem]:
        """What was found wrong, the worst first."""
        return self._problems.as_list()

    @property
    def verdict(self) -> Verdict:
        for code, verdict in _VERDICTS.items():
            if code in self._problems:
                return verdict
        lost = any(problem.severity is Severity.ERROR for problem in self.problems)
        return Verdict.PARTIAL if lost else Verdict.OK

    def _read(self, chunks: Iterable[bytes]) -> Iterator[Entry | Link]:
        pieces = self._counted(unpacked(chunks, self._limits, self._problems))
        head, rest = sniff(texts(pieces, self._problems), self._limits)
        self.kind = head.kind
        if head.junk:
            self._problems.add(Code.JUNK_BEFORE_ROOT, "line 1", head.junk)
        reader = _READERS.get(head.kind)
        if reader is None:
            self._refuse(head)
            return
        for batch in reader(head, rest, self.url, self._limits, self._problems):
            yield from self._within_limits(batch)
            if Code.TOO_MANY_ENTRIES in self._problems:
                break
        self._count_protocol()

    def _counted(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.bytes += len(piece)
            yield piece

    def _within_limits(self, batch: list[Entry | Link]) -> list[Entry | Link]:
        """Count a batch, and return as much of it as the limit lets pass."""
        room = self._limits.max_entries - self.entries - self.links
        if len(batch) > room:
            self._problems.add(Code.TOO_MANY_ENTRIES)
            batch = batch[:room]
        links = sum(type(item) is Link for item in batch)
        self.links += links
        self.entries += len(batch) - links
        return batch

    def _refuse(self, head: Head) -> None:
        is_blank = head.kind is Kind.UNKNOWN and not head.body.strip("\0\ufeff \t\r\n")
        code = Code.EMPTY if is_blank else _UNREADABLE[head.kind]
        self._problems.add(code, f"line {head.line}", head.body or head.root)

    def _count_protocol(self) -> None:
        total = self.entries + self.links
        if total > PROTOCOL_ENTRIES:
            self._problems.add(Code.OVER_PROTOCOL_ENTRIES, sample=f"{total:,} entries")
        if not total and self.verdict is Verdict.OK:
            self._problems.add(Code.NO_ENTRIES)
