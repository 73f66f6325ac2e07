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

    __slots__ = ("_charset", "_decoder", "_instead", "_marks", "_offset", "_problems")

    def __init__(self, charset: str, problems: Problems, instead: str | None = None) -> None:
        self._problems = problems
        self._instead = instead
        self._offset = 0
        self._take(charset)

    def _take(self, charset: str) -> None:
        is_wide = charset.startswith(("utf-16", "utf-32"))  # whose bad units are no bytes that could be escaped
        self._charset = charset
        self._marks = _REPLACED if is_wide else _ESCAPED
        self._decoder = codecs.getincrementaldecoder(charset)("replace" if is_wide else "surrogateescape")

    def decode(self, piece: bytes, *, final: bool = False) -> str:
        pending, _ = self._decoder.getstate()
        start = self._offset - len(pending)
        self._offset += len(piece)
        if self._instead and not (pending + piece).isascii() and not self._is_utf_8(pending + piece):
            self._take(self._instead)
            self._instead = None
            piece = pending + piece
        text = self._decoder.decode(piece, final)
        return text if text.isascii() else self._repaired(text, start)

    def _is_utf_8(self, data: bytes) -> bool:
        try:
            _, used = codecs.utf_8_decode(data, "strict", False)
        except UnicodeDecodeError:
            return False
        if not data[:used].isascii():  # else its first character is cut off, and the next piece will tell
            self._problems.add(Code.CHARSET_MISMATCH, "line 1", f"declared {self._instead}, but is utf-8")
            self._instead = None
        return True

    def _repaired(self, text: str, start: int) -> str:
        """Return the text with its bad bytes read as windows-1252; ``start`` is its first byte."""
        match = self._marks.search(text)
        if match is None:
            return text
        place = start + len(text[: match.start()].encode(self._charset, "surrogateescape"))
        sample = text[max(0, match.start() - 20) : match.end() + 20]
        self._problems.add(Code.BAD_BYTES, f"byte {place}", sample, len(self._marks.findall(text)))
        return text.translate(_WINDOWS_1252)


def _windows_1252(byte: int) -> str:
    """Return a byte's character; the five windows-1252 leaves undefined are mapped as browsers do."""
    try:
        return bytes((byte,)).decode("windows-1252")
    except UnicodeDecodeError:
        return chr(byte)


#: Python's surrogateescape marks a bad byte as the surrogate 0xDC00 + byte.
_ESCAPED = re.compile("[\udc80-\udcff]")
_REPLACED = re.compile("\ufffd")
_WINDOWS_1252 = {0xDC00 + byte: _windows_1252(byte) for byte in range(0x80, 0x100)}
