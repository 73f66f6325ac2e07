"""What a sitemap lists: entries (pages) and links (further sitemaps), and what was wrong with it.

Knows the shape of the data that flows from the readers to the store. Refuses to know how it was
read, ranked or stored.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

CHANGEFREQS = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")


class Precision:
    """How much of a lastmod the site gave; plain letters, since there is one in every row."""

    YEAR = "y"
    MONTH = "m"
    DAY = "d"
    MINUTE = "M"
    SECOND = "s"


_FORMATS = {
    Precision.YEAR: "%Y",
    Precision.MONTH: "%Y-%m",
    Precision.DAY: "%Y-%m-%d",
    Precision.MINUTE: "%Y-%m-%dT%H:%MZ",
    Precision.SECOND: "%Y-%m-%dT%H:%M:%SZ",
}


class Lastmod(NamedTuple):
    """A moment in UTC, as precise as the site gave it."""

    at: int  #: seconds since 1970-01-01 UTC, the start of the year, month or day where no more was given
    precision: str  #: see Precision

    def __str__(self) -> str:
        return datetime.fromtimestamp(self.at, UTC).strftime(_FORMATS[self.precision])


class Entry(NamedTuple):
    """One page a sitemap lists."""

    loc: str  #: repaired, absolute, http(s), without fragment
    lastmod: Lastmod | None = None
    changefreq: str | None = None  #: one of CHANGEFREQS
    priority: float | None = None  #: 0..1

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as Scrapy's ``sitemap_filter`` knows it: strings, absent fields left out."""
        fields = {"loc": self.loc}
        if self.lastmod:
            fields["lastmod"] = str(self.lastmod)
        if self.changefreq:
            fields["changefreq"] = self.changefreq
        if self.priority is not None:
            fields["priority"] = str(self.priority)
        return fields


class Link(NamedTuple):
    """One further sitemap a sitemap names."""

    loc: str  #: repaired, absolute, http(s), without fragment
    lastmod: Lastmod | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the link as Scrapy's ``sitemap_filter`` knows it."""
        return {"loc": self.loc} | ({"lastmod": str(self.lastmod)} if self.lastmod else {})
