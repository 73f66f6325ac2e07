"""Bytes as they came -> bytes of the document: gzip by its magic, in layers, members and pieces.

Knows the outside of the gzip format (RFC 1952). Refuses to know names and content types, which lie.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

from isal import isal_zlib
from isal.igzip_lib import IsalError

from sitemapcrawl.sitemaps.limits import Limits
from sitemapcrawl.sitemaps.problems import Code, Problems

#: Bytes come out in pieces of at most this size, so that a bomb meets its limit early.
PIECE_BYTES = 32_768
_MAGIC = b"\x1f\x8b\x08"
_GZIP_WBITS = 31
#: CRC and length. They are inflated apart: of a call in which the CRC turns out wrong, isal gives nothing back.
_TRAILER_BYTES = 8
_PADDING = b"\0 \t\r\n"


def unpacked(chunks: Iterable[bytes], limits: Limits, problems: Problems) -> Iterator[bytes]:
    """Yield the document in pieces of at most PIECE_BYTES, and no more than ``limits.max_bytes`` in all."""
    source = _Source(chunks)
    layers = 0
    while layers < limits.gzip_layers and source.peek(len(_MAGIC)) == _MAGIC:
        source = _Source(_capped(_gunzipped(source, problems), limits.max_bytes, problems))
        layers += 1
    if layers > 1:
        problems.add(Code.GZIP_NESTED, sample=f"{layers} layers")
    return _capped(source, limits.max_bytes, problems)


class _Source(Iterator[bytes]):
    """A stream of non-empty pieces that can be looked into and pushed back into."""

    __slots__ = ("_back", "_pieces")

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._pieces = _sliced(chunks)
        self._back = b""

    def __next__(self) -> bytes:
        if self._back:
            piece, self._back = self._back, b""
            return piece
        return next(self._pieces)

    def push(self, data: bytes) -> None:
        self._back = data + self._back

    def peek(self, size: int) -> bytes:
        """Return the next ``size`` bytes, fewer at the end, and leave them in the stream."""
        while len(self._back) < size and (piece := next(self._pieces, None)) is not None:
            self._back += piece
        return self._back[:size]


def _sliced(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), PIECE_BYTES):
            yield chunk[start : start + PIECE_BYTES]


def _capped(pieces: Iterable[bytes], limit: int, problems: Problems) -> Iterator[bytes]:
    left = limit
    for piece in pieces:
        if len(piece) > left:
            problems.add(Code.TOO_BIG, f"byte {limit}")
            yield piece[:left]
            return
        left -= len(piece)
        yield piece


def _gunzipped(packed: Iterable[bytes], problems: Problems) -> Iterator[bytes]:
    """Yield what the members of a gzip stream hold; damage ends it, and what came before stays."""
    source = _Source(_trailer_apart(packed))
    while source.peek(len(_MAGIC)) == _MAGIC:
        whole = yield from _member(source, problems)
        if not whole:
            return
    if source.peek(_TRAILER_BYTES).strip(_PADDING):
        problems.add(Code.GZIP_TRAILING_DATA, sample=repr(source.peek(_TRAILER_BYTES)))


def _member(source: _Source, problems: Problems) -> Generator[bytes, None, bool]:
    """Yield one member's content; return whether it came to its end."""
    member = isal_zlib.decompressobj(_GZIP_WBITS)
    try:
        for packed in source:
            data, piece = packed, b""
            while data or len(piece) == PIECE_BYTES:
                piece = member.decompress(data, PIECE_BYTES)
                yield piece
                if member.eof:
                    source.push(member.unused_data)
                    return True
                data = member.unconsumed_tail
    except IsalError as error:  # type: ignore[misc] # the stub declares it as an instance
        problems.add(Code.GZIP_CORRUPT, sample=str(error))
        return False
    problems.add(Code.GZIP_TRUNCATED)
    return False


def _trailer_apart(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes, the last _TRAILER_BYTES of the stream as a piece of their own."""
    held = b""
    for piece in pieces:
        held += piece
        yield held[:-_TRAILER_BYTES]
        held = held[-_TRAILER_BYTES:]
    yield held
