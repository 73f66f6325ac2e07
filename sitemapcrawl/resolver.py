"""Host names resolve to public addresses only, unless the name was given by the user.

A public site can't send the crawler to private addresses by a name that points there (literal addresses are
refused where they are offered). Knows names and addresses. Refuses to know who asked. With a proxy, names are the
proxy's matter.
"""

from __future__ import annotations

from collections.abc import Sequence

from scrapy.resolver import CachingThreadedResolver
from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred
from twisted.internet.error import DNSLookupError

from sitemapcrawl import urls


class GuardingResolver(CachingThreadedResolver):
    """Scrapy's resolver with a guard; IPv4 only, as that is."""

    def __init__(self, reactor: ReactorBase, cache_size: int, timeout: float) -> None:
        super().__init__(reactor, cache_size, timeout)
        self._allowed: set[str] = set()
        self.refused: set[str] = set()  #: names that were not resolved because they point to private addresses

    def allow(self, host: str) -> None:
        """Let a host key's name point anywhere: the user gave it."""
        self._allowed.add(_name(host))

    def has_refused(self, host: str) -> bool:
        return _name(host) in self.refused

    def getHostByName(self, name: str, timeout: Sequence[int] = ()) -> Deferred[str]:  # noqa: N802  Twisted's name
        return super().getHostByName(name, timeout).addCallback(self._check, name)

    def _check(self, address: str, name: str) -> str:
        if name not in self._allowed and name != address and urls.is_private(address):
            self.refused.add(name)
            raise DNSLookupError(f"{name} points to the private address {address}")
        return address


def installed() -> GuardingResolver | None:
    """Return the resolver of this process's reactor, if it is ours."""
    from twisted.internet import reactor  # noqa: PLC0415  installed by then

    resolver = getattr(reactor, "resolver", None)
    return resolver if isinstance(resolver, GuardingResolver) else None


def _name(host: str) -> str:
    return host.partition(":")[0]
