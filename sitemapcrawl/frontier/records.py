"""What flows between the frontier and a worker: offers in, claims out, and the records that listings show.

Knows how these are spelt in Redis (flat strings, never pickles). Refuses to know the client.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from sitemapcrawl import urls

HOST_FIELDS = ("robots_at", "robots_outcome", "discover", "priorities", "robots_run", "base", "seeded", "score")
RECORD_FIELDS = (
    "found_by", "chain", "depth", "score", "site", "etag", "last_modified", "hash", "recipe", "hosts", "kind",
    "outcome", "verdict",
)  # fmt: skip


#: Where the records of local sitemap files are listed.
LOCAL_HOST = "file"


class Kind(StrEnum):
    """What a request asks for."""

    ROBOTS = "robots"
    SITEMAP = "sitemap"


class FoundBy(StrEnum):
    """Who named a sitemap."""

    SEED = "seed"
    ROBOTS = "robots"
    PATH = "path"  #: nobody: it lay at a well-known path
    INDEX = "index"
    REDIRECT = "redirect"


class Offered(StrEnum):
    """What became of an offer."""

    NEW = "1"
    KNOWN = "0"  #: another offer of this run was first
    ABSENT = "-1"  #: a well-known path that was not there lately


@dataclass(frozen=True, slots=True)
class Offer:
    """A request the frontier may or may not know yet."""

    kind: Kind
    url: str
    rank: float = 1.0  #: 0..1, the order among the host's sitemaps
    found_by: FoundBy = FoundBy.SEED
    chain: tuple[str, ...] = ()  #: the sitemaps (and robots.txt) that led here, the first one first
    depth: int = 0  #: indexes above it
    score: float = 1.0  #: the seed's; multiplies the rank of its pages
    site: str = ""  #: the site that vouches for it; "" for no check of its entries' hosts
    lastmod: str = ""
    discover: bool = False  #: robots only: read the sitemaps it names, or try the well-known paths
    seeded: bool = False  #: the user named its host, or a private host that names it: it may be private itself

    @property
    def host(self) -> str:
        return urls.host_key(self.url)

    def arguments(self) -> tuple[str, ...]:
        """Return the thirteen values offer.lua takes."""
        return (
            self.host, urls.base_of(self.url), self.kind, self.url, f"{self.rank:.6g}", self.found_by,
            "\n".join(self.chain), str(self.depth), f"{self.score:.6g}", self.site, self.lastmod,
            "1" if self.discover else "", "1" if self.seeded else "",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Claim:
    """A request this worker holds until it finishes it, gives it back, or its lease runs out."""

    kind: Kind
    url: str
    token: str = ""  #: "" for a local file, which nobody else can hold
    attempt: int = 1
    delay_seconds: float = 0.0
    host_record: Mapping[str, str] = field(default_factory=dict)
    record: Mapping[str, str] = field(default_factory=dict)  #: of a sitemap, as RECORD_FIELDS
    notes: list[str] = field(default_factory=list, compare=False)  #: problem codes met before the file was read

    @classmethod
    def from_reply(cls, reply: Sequence[Any]) -> Self:
        """Read one claim of claim.lua's reply."""
        request, token, attempt, delay_ms, host_values, record_values = reply
        _, kind, url = request.decode().split(" ", 2)
        return cls(
            Kind(kind), url, str(token), attempt, delay_ms / 1000,
            _fields(HOST_FIELDS, host_values), _fields(RECORD_FIELDS, record_values),
        )  # fmt: skip

    @property
    def host(self) -> str:
        return urls.host_key(self.url) or LOCAL_HOST

    @property
    def request(self) -> str:
        """Return the request's member in the frontier's keys."""
        return f"{self.host} {self.kind} {self.url}"

    @property
    def site(self) -> str:
        return self.record.get("site", "")

    @property
    def depth(self) -> int:
        return int(self.record.get("depth") or 0)

    @property
    def score(self) -> float:
        """Return the score of the seed that led here."""
        record = self.host_record if self.kind == Kind.ROBOTS else self.record
        return float(record.get("score") or 1)

    @property
    def chain(self) -> tuple[str, ...]:
        chain = self.record.get("chain", "")
        return tuple(chain.split("\n")) if chain else ()

    @property
    def priorities(self) -> list[int]:
        """Return the host's histogram of priorities, in tenths; [] when none was seen."""
        return [int(n) for n in self.host_record.get("priorities", "").split()]


@dataclass(slots=True)
class Finish:
    """How a claim ends."""

    outcome: str
    reason: str = ""
    shown: bool = True  #: whether the summary names it if there is a reason
    retry_seconds: float = 0.0
    block_seconds: float = 0.0  #: how long the host is left alone
    since_seconds: float = 0.0  #: since the answer began; 0 counts the host's delay from now
    delay_seconds: float = 0.0  #: the host's, if the answer tells a longer one than the claim knew
    fields: dict[str, str | bytes | int | float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def arguments(self, claim: Claim, run: str, channel: str) -> list[Any]:
        """Return the values finish() in common.lua takes."""
        fields, counts = _flat(self.fields.items()), _flat(self.counts.items())
        return [
            claim.request, claim.token, run, self.outcome, self.reason, self.reason if self.shown else "",
            _ms(self.retry_seconds), _ms(self.block_seconds), _ms(self.since_seconds),
            _ms(max(claim.delay_seconds, self.delay_seconds)), channel,
            len(fields), *fields, len(counts), *counts,
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the crawl: from the seeds until nothing is left to do."""

    id: str
    started_ms: int
    recipe: dict[str, str]
    resumed: bool


def recipe_text(recipe: Mapping[str, str]) -> str:
    """Return a recipe as a user reads it: the filters, as arguments."""
    return " ".join(f"-a {name}={value}" for name, value in sorted(recipe.items())) or "no filters"


def dump_recipe(recipe: Mapping[str, str]) -> str:
    return json.dumps(recipe, sort_keys=True)


def _fields(names: Iterable[str], values: Iterable[bytes | None]) -> dict[str, str]:
    return {name: value.decode() for name, value in zip(names, values, strict=False) if value is not None}


def _flat(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    return [value for pair in pairs for value in pair]


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
