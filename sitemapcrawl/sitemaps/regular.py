"""Batches that look as most generators write them -> entries, without an XML parser.

Knows one narrow shape: ``<url>`` elements of plain ASCII, their children in the protocol's order, no attributes, no
comments, no entity but ``&amp;``, every value valid. Whatever deviates in one character is declined as a whole, and the
XML reader reads the batch; so both give the same entries, and this one never has a problem to report.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sitemapcrawl.entries import Entry
from sitemapcrawl.sitemaps import dates, fields
from sitemapcrawl.sitemaps.limits import MAX_URL_CHARS

#: Possessive, since nothing here can match otherwise by giving back.
_BLANKS = r"[ \t\r\n]*+"
_ENTRY = re.compile(
    rf"{_BLANKS}<url>{_BLANKS}"
    rf"<loc>{_BLANKS}(https?://[!-%'-;=?-~]++(?:&amp;[!-%'-;=?-~]*+)*+){_BLANKS}</loc>{_BLANKS}"
    rf"(?:<lastmod>([0-9][0-9T:Z.+-]{{3,34}}+)</lastmod>{_BLANKS})?+"
    rf"(?:<changefreq>([a-z]{{5,7}}+)</changefreq>{_BLANKS})?+"
    rf"(?:<priority>([0-9.]{{1,6}}+)</priority>{_BLANKS})?+"
    r"</url>"
)


def read(text: str, repair: Callable[[str], str | None]) -> list[Entry] | None:
    """Return a batch's entries, their URLs repaired by ``urls.repairer``; None if any of it has another shape."""
    entries: list[Entry] = []
    end, match_at = 0, _ENTRY.match
    while match := match_at(text, end):
        end = match.end()
        loc, lastmod, changefreq, priority = match.groups()
        if "&" in loc:
            loc = loc.replace("&amp;", "&")
        if (url := repair(loc)) is None or len(loc) > MAX_URL_CHARS:
            return None
        when = often = weight = None
        if lastmod and (when := dates.parse(lastmod)) is None:
            return None
        if changefreq and (often := fields.changefreq(changefreq)) is None:
            return None
        if priority and (weight := fields.priority(priority)) is None:
            return None
        entries.append(Entry(url, when, often, weight))
    return None if text[end:].strip(" \t\r\n") else entries
