"""Text of an XML document -> text an XML parser reads as it was meant: the repairs.

Knows the ways in which markup is commonly broken and libxml2's recovery would lose or change a URL
(it cuts ``?a=1&b=2`` and ``caf&eacute;``). Refuses to know sitemaps.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from html import escape
from html.entities import html5

from sitemapcrawl.sitemaps.problems import Code, Problems

_OPENERS = ("<!--", "<![CDATA[")
_OPENER = re.compile(r"<!--|<!\[CDATA\[")
_CLOSERS = {"<!--": "-->", "<![CDATA[": "]]>"}

_FORBIDDEN = r"\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff"
_FORBIDDEN_CHARACTER = re.compile(f"[{_FORBIDDEN}]")
_CODE_POINT_DIGITS = 8
_TROUBLE = re.compile(rf"&(?!(?:amp|lt|gt|quot|apos);)|[{_FORBIDDEN}]|\]\]>")
_REPAIRABLE = re.compile(
    rf"&(?:(?P<predefined>amp|lt|gt|quot|apos);|\#(?P<decimal>[0-9]+);|\#[xX](?P<hex>[0-9a-fA-F]+);|(?P<name>[\w.:-]+);)?"
    rf"|(?P<forbidden>[{_FORBIDDEN}])|\]\]>"
)
#: A ``<`` that starts no tag, because no name follows it, or the next ``<`` comes before a ``>``.
_BARE_LESS = re.compile(r"<(?![A-Za-z_/!?:\x80-\U0010ffff])|<(?=[^<>]*(?:<|\Z))")
_DECLARATION = re.compile(r"<[!?][^<>]*>")


def plain(texts: Iterable[str]) -> Iterator[str]:
    """Yield the text with comments left out and CDATA sections written as escaped text. Lines stay lines."""
    held = inside = ""
    for text in texts:
        parts: list[str] = []
        held, inside = _unfold(held + text, inside, parts)
        yield "".join(parts)
    yield _content(held, inside)


def _unfold(text: str, inside: str, parts: list[str]) -> tuple[str, str]:
    """Append what is known of the text to the parts; return what is not, and the opener of what it is inside of."""
    position = 0
    while True:
        if inside:
            closer = _CLOSERS[inside]
            end = text.find(closer, position)
            if end < 0:
                cut = max(position, len(text) - len(closer) + 1)
                parts.append(_content(text[position:cut], inside))
                return text[cut:], inside
            parts.append(_content(text[position:end], inside))
            position, inside = end + len(closer), ""
        match = _OPENER.search(text, position)
        if match is None:
            cut = _partial_opener(text, position)
            parts.append(text[position:cut])
            return text[cut:], ""
        parts.append(text[position : match.start()])
        position, inside = match.end(), match[0]


def _content(text: str, inside: str) -> str:
    if inside == "<!--":
        return "\n" * text.count("\n")
    return escape(text, quote=False) if inside else text


def _partial_opener(text: str, position: int) -> int:
    """Return where the text ends, without a tail that may be the start of an opener."""
    start = text.rfind("<", position)
    if start >= 0 and any(opener.startswith(text[start:]) for opener in _OPENERS):
        return start
    return len(text)


class Repairs:
    """Repairs the text of whole entries, and counts what it repaired.

    An entity the document defines is never expanded: an empty element takes its place, so that a
    field with one in it is no mere text any more.
    """

    __slots__ = ("_entities", "_line", "_markup", "_problems")

    def __init__(self, problems: Problems, entities: frozenset[str] = frozenset()) -> None:
        self._problems = problems
        self._entities = entities
        self._markup = ""
        self._line = 1

    def characters(self, markup: str, line: int) -> str:
        """Return the markup with only such characters and references as XML knows; ``line`` is its first."""
        if not _TROUBLE.search(markup):
            return markup
        self._markup, self._line = markup, line
        return _REPAIRABLE.sub(self._repaired, markup)

    def tags(self, markup: str) -> str:
        """Return the markup with only such ``<`` as start a tag, and without declarations."""
        return _BARE_LESS.sub("&lt;", _DECLARATION.sub("", markup))

    def _repaired(self, match: re.Match[str]) -> str:
        found, name = match[0], match["name"]
        if match["predefined"] or _is_character(match):
            return found
        if name in self._entities:
            return self._noted(Code.DOCUMENT_ENTITY, match, "<entity/>")
        if name and name + ";" in html5:
            return self._noted(Code.HTML_ENTITY, match, escape(html5[name + ";"], quote=False))
        if found[0] == "&" and not (match["decimal"] or match["hex"]):
            return self._noted(Code.BARE_AMPERSAND, match, "&amp;" + found[1:])
        return "]]&gt;" if found == "]]>" else self._noted(Code.CONTROL_CHARACTER, match, "")

    def _noted(self, code: Code, match: re.Match[str], replacement: str) -> str:
        if code in self._problems:
            self._problems.add(code)
        else:
            start, markup = match.start(), self._markup
            line = self._line + markup.count("\n", 0, start)
            self._problems.add(code, f"line {line}", markup[max(0, start - 40) : start + 40])
        return replacement


def _is_character(match: re.Match[str]) -> bool:
    """Tell whether it is a numeric reference to a character XML allows (https://www.w3.org/TR/xml/#charsets)."""
    digits = (match["decimal"] or match["hex"] or "").lstrip("0")[:_CODE_POINT_DIGITS]
    if not digits:
        return False
    code = int(digits, 10 if match["decimal"] else 16)
    return code <= sys.maxunicode and not _FORBIDDEN_CHARACTER.match(chr(code))
