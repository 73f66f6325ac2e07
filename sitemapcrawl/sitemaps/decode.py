"""Bytes of a document -> text: BOM, then what the bytes are, then what they are declared as.

Knows charsets and how they are mislabelled. Refuses to know markup beyond the XML declaration's
``encoding``. No byte is lost: what is not valid is read as windows-1252, as browsers read the web.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

from w3lib.encoding import resolve_encoding

from sitemapcrawl.sitemaps.problems import Code, Problems

_HEAD_BYTES = 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose BOM it starts with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_PRINTABLE = bytes(range(0x20, 0x7F))
#: No character is longer; as many bytes at the end of a piece may be the start of one.
_CHARACTER_BYTES = 4


def texts(pieces: Iterable[bytes], problems: Problems) -> Iterator[str]:
    """Yield the document as text, without its BOM."""
    stream = iter(pieces)
    head = b""
    while len(head) < _HEAD_BYTES and (piece := next(stream, None)) is not None:
        head += piece
    decoder, head = _decoder(head, problems)
    yield decoder.decode(head)
    for piece in stream:
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def _decoder(head: bytes, problems: Problems) -> tuple[_Decoder, bytes]:
    """Return the decoder for a document that starts with ``head``, and the head without its BOM."""
    for bom, name in _BOMS:
        if head.startswith(bom):
            return _Decoder(name, problems), head[len(bom) :]
    if len(head) > 1 and (head[0] == 0) != (head[1] == 0):  # ASCII characters in UTF-16 without a BOM
        return _Decoder("utf-16-be" if head[0] == 0 else "utf-16-le", problems), head
    match = _DECLARED.search(head[:_HEAD_BYTES])
    if match is None:
        return _Decoder("utf-8", problems), head
    charset = _ascii_compatible(match[1].decode())
    if charset is None:
        problems.add(Code.CHARSET_MISMATCH, "line 1", f"declared {match[1].decode()}, read as utf-8")
    return _Decoder("utf-8", problems, instead=charset if charset != "utf-8" else None), head


def _ascii_compatible(label: str) -> str | None:
    """Return Python's name of a charset that reads ASCII as ASCII and keeps no state; None for all others."""
    name = resolve_encoding(label)
    if name is None or name.startswith("iso2022"):
        return None
    try:
        decoded, _ = codecs.lookup(name).decode(_PRINTABLE)
    except (LookupError, ValueError, TypeError):
        return None
    return name if decoded == _PRINTABLE.decode() else None


class _Decoder:
    """Decodes piece by piece, and never raises.

    ``instead`` is a declared charset that is taken if the first bytes beyond ASCII are not UTF-8.
    """

    __slots__ = ("_carry", "_decode", "_instead", "_offset", "_problems")

    def __init__(self, charset: str, problems: Problems, instead: str | None = None) -> None:
        self._decode = codecs.lookup(charset).decode
        self._instead = instead
        self._problems = problems
        self._carry = b""
        self._offset = 0

    def decode(self, piece: bytes, *, final: bool = False) -> str:
        data = self._carry + piece
        if self._instead and not data.isascii():
            self._decide(self._instead, data)
        rest = memoryview(data)
        parts = []
        while rest:
            try:
                parts.append(self._decode(rest, "strict")[0])
                rest = rest[:0]
            except UnicodeDecodeError as error:
                parts.append(self._decode(rest[: error.start], "strict")[0])
                rest = rest[error.start :]
                if len(rest) < _CHARACTER_BYTES and not final:
                    break
                parts.append(self._repaired(bytes(rest[:1]), len(data) - len(rest)))
                rest = rest[1:]
        self._carry = bytes(rest)
        self._offset += len(data) - len(rest)
        return "".join(parts)

    def _decide(self, declared: str, data: bytes) -> None:
        try:
            _, used = codecs.utf_8_decode(data, "strict", False)
        except UnicodeDecodeError:
            self._decode = codecs.lookup(declared).decode
            self._instead = None
            return
        if not data[:used].isascii():
            self._problems.add(Code.CHARSET_MISMATCH, "line 1", f"declared {declared}, but is utf-8")
            self._instead = None

    def _repaired(self, byte: bytes, position: int) -> str:
        self._problems.add(Code.BAD_BYTES, f"byte {self._offset + position}", repr(byte))
        try:
            return byte.decode("windows-1252")
        except UnicodeDecodeError:  # the five bytes it leaves undefined, which browsers map like this
            return byte.decode("latin-1")
