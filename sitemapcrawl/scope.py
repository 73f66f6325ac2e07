"""Which hosts a sitemap may list pages of.

sitemaps.org lets a sitemap list pages of its own site only, unless the other site's robots.txt names it: a sitemap
carries the site that vouches for it through the whole tree, from the robots.txt (or seed) that led to it.

Knows the policies. Refuses to know where the sitemap lies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum

from sitemapcrawl import urls
from sitemapcrawl.entries import Entry


class CrossSubmit(StrEnum):
    """``SITEMAPCRAWL_CROSS_SUBMIT``: whose pages a sitemap may list."""

    OFF = "off"  #: anybody's: nothing is checked
    SITE = "site"  #: those of the site that vouches for it; http, https, www and subdomains are one site
    STRICT = "strict"  #: those of the very host that vouches for it


class Scope:
    """Sorts a sitemap's entries by host, and counts those of hosts it may not list."""

    def __init__(self, policy: CrossSubmit, voucher: str) -> None:
        """Judge by a policy.

        Args:
            policy: whose pages may be listed.
            voucher: the host key that vouches for the sitemap; "" for none, then nothing is checked.
        """
        self._policy = policy if voucher else CrossSubmit.OFF
        self._voucher = voucher
        self.foreign: Counter[str] = Counter()  #: entries left out, by host

    def by_host(self, entries: Sequence[Entry]) -> dict[str, list[Entry]]:
        """Return the entries of allowed hosts, grouped by host key."""
        groups: dict[str, list[Entry]] = {}
        for origin, run in _runs(entries):
            host = urls.host_key(origin)
            if self.allows(host):
                groups.setdefault(host, []).extend(run)
            else:
                self.foreign[host] += len(run)
        return groups

    def allows(self, host: str) -> bool:
        match self._policy:
            case CrossSubmit.OFF:
                return True
            case CrossSubmit.SITE:
                return urls.site(host) == urls.site(self._voucher)
            case CrossSubmit.STRICT:
                return host == self._voucher


def _runs(entries: Sequence[Entry]) -> Iterator[tuple[str, Sequence[Entry]]]:
    """Cut entries into runs of one origin; most files are one run."""
    start = 0
    while start < len(entries):
        origin = urls.base_of(entries[start].loc)
        end = next((n for n in range(start, len(entries)) if not entries[n][0].startswith(origin)), len(entries))
        yield origin, entries[start:end]
        start = end
