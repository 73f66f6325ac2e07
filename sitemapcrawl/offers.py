"""What leads to what: a seed, a robots.txt, a sitemap and a failed probe, each to the requests it makes known.

Knows who vouches for a sitemap and in which order sitemaps are read. Refuses to know whether a request is known
already (the frontier decides) and to write anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from sitemapcrawl import urls
from sitemapcrawl.entries import Link
from sitemapcrawl.frontier.records import Claim, FoundBy, Kind, Offer
from sitemapcrawl.ranking import rank_sitemap
from sitemapcrawl.robots import Robots
from sitemapcrawl.seeds import Seed


class Refusal(StrEnum):
    """Why a sitemap that was named is not read."""

    LOOP = "loop"
    DEPTH = "depth"
    PRIVATE = "private-address"


class Refused(NamedTuple):
    """A sitemap that was named and is not read."""

    url: str
    reason: Refusal


def of_seed(seed: Seed) -> list[Offer]:
    """Return the host's robots.txt, unless the seed is a sitemap, and the sitemaps the seed names."""
    named = [*seed.sitemaps, *([seed.url] if seed.is_sitemap else ())]
    offers = [_seed_sitemap(url, seed.score, urls.host_key(seed.url)) for url in named]
    return offers if seed.is_sitemap else [of_host(seed.url, seed.score), *offers]


def of_host(url: str, score: float = 1.0) -> Offer:
    """Return the robots.txt of a URL's host, to be asked for sitemaps."""
    return Offer(Kind.ROBOTS, urls.base_of(url) + "robots.txt", score=score, discover=True, seeded=True)


def of_sitemap(url: str) -> Offer:
    """Return a sitemap the user names; its own host vouches for it."""
    return _seed_sitemap(url, 1.0, urls.host_key(url))


def of_robots(claim: Claim, robots: Robots, now: float) -> list[Offer]:
    """Return the sitemaps a robots.txt names, wherever they lie: naming them, its host vouches for them."""
    rank = rank_sitemap(FoundBy.ROBOTS, None, now)
    return [
        Offer(
            Kind.SITEMAP,
            url,
            rank,
            FoundBy.ROBOTS,
            (claim.url,),
            0,
            claim.score,
            claim.host,
            seeded=_passes_trust(claim),
        )
        for url in robots.sitemaps
        if _may_lead(claim.host, url)
    ]


def of_links(claim: Claim, links: Iterable[Link], deepest: int, now: float) -> tuple[list[Offer], list[Refused]]:
    """Return the sitemaps an index names, and those it may not: itself or an index above it, too deep, too private."""
    offers, refused = [], []
    above = {claim.url, *claim.chain}
    for link in links:
        if link.loc in above:
            refused.append(Refused(link.loc, Refusal.LOOP))
        elif claim.depth >= deepest:
            refused.append(Refused(link.loc, Refusal.DEPTH))
        elif not _may_lead(claim.host, link.loc):
            refused.append(Refused(link.loc, Refusal.PRIVATE))
        else:
            rank = rank_sitemap(FoundBy.INDEX, link.lastmod.at if link.lastmod else None, now)
            offers.append(
                Offer(
                    Kind.SITEMAP, link.loc, rank, FoundBy.INDEX, (*claim.chain, claim.url), claim.depth + 1,
                    claim.score, claim.site, str(link.lastmod or ""), seeded=_passes_trust(claim),
                )
            )  # fmt: skip
    return offers, refused


def of_redirect(claim: Claim, url: str) -> Offer | None:
    """Return the sitemap a redirect to another host leads to; None if it may not lead there."""
    if not _may_lead(claim.host, url):
        return None
    found_by = FoundBy.PATH if claim.record.get("found_by") == FoundBy.PATH else FoundBy.REDIRECT
    return Offer(
        Kind.SITEMAP, url, 1.0, found_by, (*claim.chain, claim.url), claim.depth, claim.score, claim.site,
        seeded=_passes_trust(claim),
    )  # fmt: skip


def of_next_path(claim: Claim, paths: Sequence[str], now: float) -> list[Offer]:
    """Return the well-known paths still to be tried on the host, in order, after a robots.txt or a failed probe."""
    origin = claim.url
    if claim.kind == Kind.SITEMAP:
        origin = claim.chain[0] if claim.chain else claim.url  # a probe that was redirected began there
        tried = "/" + origin.removeprefix(urls.base_of(origin))
        paths = paths[paths.index(tried) + 1 :] if tried in paths else ()
    rank = rank_sitemap(FoundBy.PATH, None, now)
    base, host = urls.base_of(origin), urls.host_key(origin)
    return [
        Offer(Kind.SITEMAP, base + path.lstrip("/"), rank, FoundBy.PATH, score=claim.score, site=host)
        for path in paths
    ]  # fmt: skip


def _seed_sitemap(url: str, score: float, voucher: str) -> Offer:
    return Offer(Kind.SITEMAP, url, 1.0, FoundBy.SEED, score=score, site=voucher, seeded=True)


def _passes_trust(claim: Claim) -> bool:
    """Tell whether the hosts a claim leads to may be private: it is private itself, and the user named it."""
    return bool(claim.host_record.get("seeded")) and urls.is_private(claim.host)


def _may_lead(host: str, url: str) -> bool:
    """Tell whether a host may name this URL: a public one can't send the crawler to a private address."""
    return urls.is_private(host) or not urls.is_private(urls.host_key(url))
