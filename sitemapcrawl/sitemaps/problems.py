"""What can be wrong with a sitemap or a robots.txt: stable codes, how bad each is, and what to do about it.

Knows every code and its sentence. Refuses to know how a problem was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SAMPLE_CHARS = 120


class Severity(StrEnum):
    """``error``: something the file lists, or may list, was lost. ``warning``: repaired. ``info``: unusual."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Code(StrEnum):
    """Names of problems; they are an API, as stats, exports and dashboards use them."""

    # the whole file
    EMPTY = "empty"
    HTML = "html"
    ERROR_DOCUMENT = "error-document"
    UNKNOWN_ROOT = "unknown-root"
    FEED = "feed"
    TOO_BIG = "too-big"
    TOO_MANY_ENTRIES = "too-many-entries"
    TRUNCATED = "truncated"
    NO_ENTRIES = "no-entries"
    OVER_PROTOCOL_ENTRIES = "over-protocol-entries"
    # bytes
    GZIP_TRUNCATED = "gzip-truncated"
    GZIP_CORRUPT = "gzip-corrupt"
    GZIP_TRAILING_DATA = "gzip-trailing-data"
    GZIP_NESTED = "gzip-nested"
    CHARSET_MISMATCH = "charset-mismatch"
    BAD_BYTES = "bad-bytes"
    # markup
    JUNK_BEFORE_ROOT = "junk-before-root"
    MISSING_ROOT = "missing-root"
    WRONG_NAMESPACE = "wrong-namespace"
    MALFORMED_MARKUP = "malformed-markup"
    BARE_AMPERSAND = "bare-ampersand"
    HTML_ENTITY = "html-entity"
    DOCUMENT_ENTITY = "document-entity"
    CONTROL_CHARACTER = "control-character"
    # one entry
    ENTRY_TOO_LONG = "entry-too-long"
    MISSING_LOC = "missing-loc"
    MISSING_LOC_TAG = "missing-loc-tag"
    SEVERAL_LOCS = "several-locs"
    MISPLACED_ENTRY = "misplaced-entry"
    INVALID_URL = "invalid-url"
    URL_TOO_LONG = "url-too-long"
    INVALID_LASTMOD = "invalid-lastmod"
    INVALID_CHANGEFREQ = "invalid-changefreq"
    INVALID_PRIORITY = "invalid-priority"
    # robots.txt
    ROBOTS_HTML = "robots-html"
    ROBOTS_TOO_BIG = "robots-too-big"
    ROBOTS_INVALID_SITEMAP = "robots-invalid-sitemap"


_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO
_MEANING: dict[Code, tuple[Severity, str]] = {
    Code.EMPTY: (_E, "The file is empty: serve a sitemap here, or take its address out of robots.txt."),
    Code.HTML: (_E, "An HTML page came instead of a sitemap: check the address, and what it answers to a crawler."),
    Code.ERROR_DOCUMENT: (_E, "An error message came instead of a sitemap: repair what makes this file."),
    Code.UNKNOWN_ROOT: (_E, "This is no sitemap: the root element should be urlset or sitemapindex."),
    Code.FEED: (_E, "This is an RSS or Atom feed, and feeds are not read: name a sitemap instead."),
    Code.TOO_BIG: (_E, "The file is larger than the limit: split it, or raise the limit. What came before was read."),
    Code.TOO_MANY_ENTRIES: (_E, "The file lists more than the limit: split it, or raise the limit."),
    Code.TRUNCATED: (_E, "The file ends before its end: see whether its generator or the transfer was cut off."),
    Code.NO_ENTRIES: (_W, "The sitemap lists nothing: fill it, or take it out of robots.txt and of indexes."),
    Code.OVER_PROTOCOL_ENTRIES: (_I, "The file lists more than the 50,000 the protocol allows: split it."),
    Code.GZIP_TRUNCATED: (_E, "The gzip data ends before its end: see whether the transfer was cut off."),
    Code.GZIP_CORRUPT: (_E, "The gzip data is damaged: compress the file anew. What came before was read."),
    Code.GZIP_TRAILING_DATA: (_I, "Something follows the gzip data and was ignored: see what is appended."),
    Code.GZIP_NESTED: (_W, "The file is compressed more than once: compress it once."),
    Code.CHARSET_MISMATCH: (_W, "The bytes are not in the declared encoding: declare the true one, best UTF-8."),
    Code.BAD_BYTES: (_W, "Some bytes are not valid in the file's encoding and were read as windows-1252."),
    Code.JUNK_BEFORE_ROOT: (_W, "Something stands before the sitemap: remove what is printed before it."),
    Code.MISSING_ROOT: (_W, "Entries stand without a urlset or sitemapindex around them: add it."),
    Code.WRONG_NAMESPACE: (_I, "The namespace should be http://www.sitemaps.org/schemas/sitemap/0.9."),
    Code.MALFORMED_MARKUP: (_W, "The markup of entries is broken and was repaired: validate what the generator makes."),
    Code.BARE_AMPERSAND: (_W, "A bare & stands in the text: write &amp; instead."),
    Code.HTML_ENTITY: (_W, "XML knows no HTML entities: write the character itself."),
    Code.DOCUMENT_ENTITY: (_E, "Entities the document defines are never expanded: write the text itself."),
    Code.CONTROL_CHARACTER: (_W, "Characters XML forbids were removed: remove them at the source."),
    Code.ENTRY_TOO_LONG: (_E, "An entry is larger than the limit and was left out: split it, or raise the limit."),
    Code.MISSING_LOC: (_E, "An entry has no loc: give each entry one."),
    Code.MISSING_LOC_TAG: (_W, "A URL stands directly in an entry: put it into a loc element."),
    Code.SEVERAL_LOCS: (_W, "An entry has several locs, and each was read as an entry: give each its own."),
    Code.MISPLACED_ENTRY: (_I, "Pages and sitemaps stand in one file: list sitemaps in a sitemapindex of their own."),
    Code.INVALID_URL: (_E, "A loc is no http(s) URL and was left out: write it whole, with scheme and host."),
    Code.URL_TOO_LONG: (_E, "A URL is longer than any server takes and was left out: shorten it."),
    Code.INVALID_LASTMOD: (
        _W,
        "A lastmod can't be read for certain and was ignored: write it like 2024-03-05T10:20:30Z.",
    ),
    Code.INVALID_CHANGEFREQ: (
        _W,
        "A changefreq was ignored: use always, hourly, daily, weekly, monthly, yearly or never.",
    ),
    Code.INVALID_PRIORITY: (_W, "A priority was ignored: write a number from 0.0 to 1.0."),
    Code.ROBOTS_HTML: (_E, "An HTML page came instead of robots.txt: serve a text there, or answer 404."),
    Code.ROBOTS_TOO_BIG: (_W, "robots.txt is longer than what crawlers must read: shorten it to 500 KiB."),
    Code.ROBOTS_INVALID_SITEMAP: (_E, "A Sitemap line holds no http(s) URL: write it whole, with scheme and host."),
}


#: What says that the file goes on behind what could be read.
CUT = (Code.TOO_BIG, Code.TRUNCATED, Code.GZIP_TRUNCATED, Code.GZIP_CORRUPT)


@dataclass(frozen=True, slots=True)
class Problem:
    """Everything of one code that was found in one file."""

    code: Code
    severity: Severity
    count: int
    place: str  #: of the first: "line 12" or "byte 300", empty where it is the whole file
    sample: str  #: of the first, at most SAMPLE_CHARS characters
    message: str  #: one sentence that says what to do


class Problems:
    """Counts problems by code and remembers where the first of each was."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[Code, tuple[int, str, str]] = {}

    def add(self, code: Code, place: str = "", sample: str = "", count: int = 1) -> None:
        if code in self._found:
            before, place, sample = self._found[code]
            self._found[code] = (before + count, place, sample)
        else:
            self._found[code] = (count, place, _shown(sample))

    def __contains__(self, code: object) -> bool:
        return code in self._found

    def as_list(self) -> list[Problem]:
        """Return the problems, the worst first, in the order they were found."""
        order = list(Severity)
        problems = [Problem(c, _MEANING[c][0], n, place, s, _MEANING[c][1]) for c, (n, place, s) in self._found.items()]
        return sorted(problems, key=lambda problem: order.index(problem.severity))


def _shown(sample: str) -> str:
    """Return a sample as one line of printable characters."""
    line = " ".join(sample[: 2 * SAMPLE_CHARS].split())
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    return line if len(line) <= SAMPLE_CHARS else line[: SAMPLE_CHARS - 1] + "…"
