"""robots.txt: bytes -> sitemaps, rules and crawl delay.

Knows the format as sites write it (RFC 9309, and the ``Sitemap`` lines of sitemaps.org); protego decides
what is allowed. Refuses to know how the file was fetched, and what a missing one means.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from protego import Protego

from sitemapcrawl.sitemaps.problems import Code, Problem, Problems
from sitemapcrawl.urls import repair

#: RFC 9309, 2.5: at least 500 KiB are parsed. What is behind is not read.
MAX_BYTES = 512 * 1024

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LINE_END = re.compile(rb"\r\n|\r|\n")
#: ``Sitemap``, ``Site-map`` or ``sitemaps`` in any case; the colon may be missing before a whole URL.
_SITEMAP = re.compile(r"\s*site[-_ ]?maps?\s*(?::|(?=\s+https?://))(.*)", re.IGNORECASE)
_COMMENT = re.compile(r"(?:^|\s)#.*")
#: Some write several URLs into one line.
_NEXT_URL = re.compile(r"[\s,]+(?=https?://)", re.IGNORECASE)
#: What an empty Sitemap line means when it is the next line.
_URL_ALONE = re.compile(r"\s*https?://\S+\s*", re.IGNORECASE)
_AROUND = " \t<>\"',"
_HTML = re.compile(
    r"(?>\s+|<\?[^>]*>|<!--.*?-->)*+<(?:!doctype\s+html|html|head|body|script|title|meta|div|p|h1)\b",
    re.IGNORECASE | re.DOTALL,
)
_FIRST_DIRECTIVE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?>\s+|#[^\r\n]*)*+(?:user-?agent|(?:dis)?allow|crawl-?delay|site-?map)\s*:", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Robots:
    """What one robots.txt says."""

    sitemaps: list[str]  #: absolute, repaired, in order, each once
    is_html: bool  #: a page came instead of a text: there are no rules and no sitemaps in it
    problems: list[Problem]
    rules: Protego = field(repr=False, compare=False)

    def allowed(self, url: str, user_agent: str) -> bool:
        return self.rules.can_fetch(url, user_agent)

    def crawl_delay(self, user_agent: str) -> float | None:
        """Return the seconds the file asks this agent to wait between requests; None if it asks nothing."""
        return self.rules.crawl_delay(user_agent)


def parse(body: bytes, url: str) -> Robots:
    """Read the robots.txt that was fetched from ``url``. No bytes make it raise."""
    problems = Problems()
    if len(body) > MAX_BYTES:
        problems.add(Code.ROBOTS_TOO_BIG, f"byte {MAX_BYTES}")
        body = body[:MAX_BYTES]
    lines = _lines(body, problems)
    if is_html := _HTML.match("\n".join(lines)) is not None:
        problems.add(Code.ROBOTS_HTML, "line 1", lines[0])
        lines = []
    sitemaps = list(dict.fromkeys(_sitemaps(lines, url, problems)))
    return Robots(sitemaps, is_html, problems.as_list(), Protego.parse("\n".join(lines)))


def _lines(body: bytes, problems: Problems) -> list[str]:
    """Return the lines, each decoded by itself: one bad byte in a comment must not cost the rules."""
    for bom, charset in _BOMS:
        if body.startswith(bom):
            body = body.removeprefix(bom).decode(charset, "replace").encode()
            break
    return [_decoded(line, f"line {number}", problems) for number, line in enumerate(_LINE_END.split(body), 1)]


def _decoded(line: bytes, place: str, problems: Problems) -> str:
    try:
        return line.decode().replace("\0", "").lstrip("\ufeff")
    except UnicodeDecodeError:
        problems.add(Code.BAD_BYTES, place, repr(line))
        return line.decode("windows-1252", "replace").replace("\0", "")


def _sitemaps(lines: list[str], url: str, problems: Problems) -> Iterator[str]:
    """Yield the sitemaps of all lines: they belong to no group (https://www.sitemaps.org/protocol.html)."""
    own = repair(url)
    for number, line in enumerate(lines, 1):
        match = _SITEMAP.match(_COMMENT.sub("", line))
        if match is None:
            continue
        following = lines[number] if number < len(lines) and _URL_ALONE.fullmatch(lines[number]) else ""
        for value in _NEXT_URL.split(match[1].strip() or following.strip()):
            sitemap = repair(value.strip(_AROUND), url)
            if sitemap is None:
                problems.add(Code.ROBOTS_INVALID_SITEMAP, f"line {number}", line)
            elif sitemap != own:
                yield sitemap


def looks_like(head: bytes) -> bool:
    """Tell whether a text starts as only a robots.txt does: with a directive behind blank lines and comments."""
    return _FIRST_DIRECTIVE.match(head) is not None
