"""The numbers the frontier works with, read once from the settings.

Knows each number's unit. Refuses to know what is done with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from scrapy.settings import BaseSettings

#: A robots.txt must outlive the delays of some requests, or a host would be asked for nothing else.
_SHORTEST_ROBOTS_TTL_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Policy:
    """How the frontier is shared: politeness, leases, limits. See docs/settings.md for each."""

    crawl: str = "sitemap"
    partitions: int = 64
    lease_seconds: float = 60.0
    host_delay_seconds: float = 1.0
    host_concurrency: int = 1
    crawl_delay_cap_seconds: float = 60.0
    robots_ttl_seconds: float = 86_400.0  #: 0: robots.txt is not asked for permission
    discovery_ttl_seconds: float = 86_400.0
    max_attempts: int = 5
    queue_size: int = 10_000
    patience_seconds: float = 120.0

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        return cls(
            crawl=settings["SITEMAPCRAWL_CRAWL"],
            partitions=settings.getint("SITEMAPCRAWL_PARTITIONS"),
            lease_seconds=settings.getfloat("SITEMAPCRAWL_LEASE_SECONDS"),
            host_delay_seconds=settings.getfloat("SITEMAPCRAWL_HOST_DELAY_SECONDS"),
            host_concurrency=settings.getint("SITEMAPCRAWL_HOST_CONCURRENCY"),
            crawl_delay_cap_seconds=settings.getfloat("SITEMAPCRAWL_CRAWL_DELAY_CAP_SECONDS"),
            robots_ttl_seconds=max(_SHORTEST_ROBOTS_TTL_SECONDS, settings.getfloat("SITEMAPCRAWL_ROBOTS_TTL_SECONDS"))
            if settings.getbool("ROBOTSTXT_OBEY")
            else 0.0,
            discovery_ttl_seconds=settings.getfloat("SITEMAPCRAWL_DISCOVERY_TTL_SECONDS"),
            max_attempts=settings.getint("SITEMAPCRAWL_MAX_ATTEMPTS"),
            queue_size=settings.getint("SITEMAPCRAWL_QUEUE_SIZE"),
            patience_seconds=settings.getfloat("SITEMAPCRAWL_PATIENCE_SECONDS"),
        )
