"""What a spider yields for a claim: one item, however many URLs it holds.

Knows the fields. Refuses to know who reads them: pipelines and exporters go through itemadapter, so an item of any
kind with these fields does as well.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sitemapcrawl.entries import Entry, Link
from sitemapcrawl.frontier.catalogue import Row
from sitemapcrawl.frontier.records import Claim
from sitemapcrawl.robots import Robots


@dataclass(slots=True, repr=False)
class SitemapRead:
    """A sitemap that was read, whole or in part, or found unchanged."""

    claim: Claim
    url: str  #: where it was found in the end, after redirects
    kind: str  #: see sitemaps.Kind
    verdict: str  #: see sitemaps.Verdict
    rows: dict[str, Sequence[Entry] | Sequence[Row]] = field(default_factory=dict)  #: by host; ranked by a pipeline
    links: list[Link] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)  #: entries and links left out, by reason
    samples: dict[str, list[str]] = field(default_factory=dict)  #: a few of them, by reason
    bytes: int = 0  #: after decompression
    hash: str = ""  #: of the body as it came
    etag: str = ""
    last_modified: str = ""
    recipe: str = ""  #: what decided which entries were kept
    unchanged: bool = False
    answered_at: float = field(default_factory=time.monotonic)  #: when the answer began, monotonic seconds

    def __repr__(self) -> str:
        count = sum(map(len, self.rows.values()))
        return f"<SitemapRead {self.url} {self.kind} {self.verdict}: {count} URLs, {len(self.links)} sitemaps>"


@dataclass(slots=True, repr=False)
class RobotsRead:
    """A robots.txt that was answered: a text, a page, or its absence (then everything is allowed)."""

    claim: Claim
    url: str
    status: int
    robots: Robots
    body: bytes = b""
    cached: bool = False  #: answered from the record, not by the host
    dropped: dict[str, int] = field(default_factory=dict)  #: sitemaps it names that are left out, by reason
    samples: dict[str, list[str]] = field(default_factory=dict)  #: a few of them, by reason
    answered_at: float = field(default_factory=time.monotonic)

    def __repr__(self) -> str:
        return f"<RobotsRead {self.url} {self.status}: {len(self.robots.sitemaps)} sitemaps>"


@dataclass(slots=True)
class Failure:
    """A claim that came to nothing."""

    claim: Claim
    url: str
    status: int | None = None
    error: str | None = None  #: see outcomes.classify_exception
    detail: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)  #: Retry-After, where the host gave it
    answered_at: float = field(default_factory=time.monotonic)
