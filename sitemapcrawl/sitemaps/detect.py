"""What a document is, by how it starts: past blanks, declarations, comments, a DOCTYPE and junk, to the root.

Knows the roots of sitemaps and feeds, and what HTML pages and error messages look like. Refuses to
know names and content types, and what stands behind the root's start tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from sitemapcrawl.sitemaps.limits import Limits


class Kind(StrEnum):
    """What a document is."""

    URLSET = "urlset"
    INDEX = "sitemapindex"
    TEXT = "text"
    RSS = "rss"
    ATOM = "atom"
    HTML = "html"
    ERROR = "error"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Head:
    """How a document starts."""

    kind: Kind
    body: str = ""  #: the text from where a reader of this kind begins: at the root's start tag
    line: int = 1  #: of the body's start
    root: str = ""  #: name of the root element as written, with its prefix; empty where there is none
    junk: str = ""  #: what stood before the document and does not belong there
    entities: frozenset[str] = frozenset()  #: names of the entities a DOCTYPE defines


_SITEMAP_ROOTS = {"urlset": Kind.URLSET, "sitemapindex": Kind.INDEX}
#: An entry as the first element: its root is missing. As written, for ASP.NET has a siteMap element of its own.
_ENTRIES = {"url": Kind.URLSET, "sitemap": Kind.INDEX}
_FEED_ROOTS = {"rss": Kind.RSS, "rdf": Kind.RSS, "feed": Kind.ATOM}
_HTML_TAGS = dict.fromkeys(
    ("html", "head", "body", "title", "meta", "script", "style", "div", "p", "h1", "br", "center"), Kind.HTML
)
_ERROR_ROOTS = dict.fromkeys(("error", "errors", "exception", "fault"), Kind.ERROR)
_KINDS = _SITEMAP_ROOTS | _FEED_ROOTS | _HTML_TAGS | _ERROR_ROOTS

_TAG = re.compile(r"<((?:[\w.-]+:)?([\w.-]+))(?=[\s/>])[^<>]*>")
_KNOWN_TAG = re.compile(r"<((?:[\w.-]+:)?(urlset|sitemapindex|rss|rdf|feed|html))(?=[\s>])[^<>]*>", re.IGNORECASE)
#: What may stand before a root and is no junk. A comment that has not ended may end in later text.
_PROLOG = re.compile(r"(?>[\s\ufeff\0]+|<\?[^>]*>|<!--.*?(?:-->|\Z))++", re.DOTALL)
_DOCTYPE = re.compile(r"""<!DOCTYPE[^\[<>]*(?:\[(?:[^\]"']|"[^"]*"|'[^']*')*+\]\s*)?>""", re.IGNORECASE)
_HTML_DOCTYPE = re.compile(r"<!doctype\s+html\b", re.IGNORECASE)
_ENTITY = re.compile(r"""<!ENTITY\s+([^\s%"'<>&;]+)""")
_URL_LINE = re.compile(r"^[\s\ufeff]*https?://\S", re.IGNORECASE | re.MULTILINE)
_ERROR_WORDS = re.compile(
    r"\b(?:error|exception|fatal|warning|notice|not found|forbidden|denied|unavailable|unauthori[sz]ed)\b",
    re.IGNORECASE,
)
_ERROR_CHARS = 2000


def sniff(texts: Iterable[str], limits: Limits) -> tuple[Head, Iterator[str]]:
    """Return how the document starts, and the stream of the text behind ``Head.body``.

    The answer does not depend on where the pieces were cut.
    """
    stream = iter(texts)
    text = ""
    for piece in stream:
        text += piece
        head = _head(text)
        if head is not None:
            return head, stream
        if len(text) > limits.max_head:
            break
    return _without_root(text), stream


def _head(text: str) -> Head | None:
    """Return the head if the text shows one that more text can't change."""
    position, entities = _behind_prolog(text)
    if _HTML_DOCTYPE.match(text, position):
        return Head(Kind.HTML)
    if _URL_LINE.match(text, position):
        return Head(Kind.TEXT, text[position:], _line(text, position))
    tag = _TAG.match(text, position)
    if tag is None or _kind(tag[2]) is None or _is_closed_html(tag):
        tag = _KNOWN_TAG.search(text, position)
    if tag is None:
        return None
    kind = _kind(tag[2]) or Kind.UNKNOWN
    junk = text[position : tag.start()].strip()
    return Head(kind, text[tag.start() :], _line(text, tag.start()), tag[1], junk, entities)


def _behind_prolog(text: str) -> tuple[int, frozenset[str]]:
    """Return where the prolog ends, and the names of the entities its DOCTYPE defines."""
    position, entities = 0, frozenset[str]()
    while match := _PROLOG.match(text, position) or _DOCTYPE.match(text, position):
        if _HTML_DOCTYPE.match(text, position):
            break
        entities |= frozenset(_ENTITY.findall(match[0]))
        position = match.end()
    return position, entities


def _kind(name: str) -> Kind | None:
    return _ENTRIES.get(name) or _KINDS.get(name.lower())


def _is_closed_html(tag: re.Match[str]) -> bool:
    """Tell ``<head/>``, which some generators leave before the root, from the start of a page."""
    return tag[0].endswith("/>") and _kind(tag[2]) is Kind.HTML


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _without_root(text: str) -> Head:
    """Return the head of a document in whose text no known root element is."""
    position, _ = _behind_prolog(text)
    body, tag = text[position:], _TAG.match(text, position)
    line, start = _line(text, position), body[:_ERROR_CHARS]
    if tag is None and _URL_LINE.search(body):
        return Head(Kind.TEXT, body, line)
    if tag is None and (start.startswith(("{", "[")) or _ERROR_WORDS.search(start)):
        return Head(Kind.ERROR, body, line)
    return Head(Kind.UNKNOWN, body, line, tag[1] if tag else "")
