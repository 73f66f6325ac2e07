"""Bounds of reading one sitemap; the one place that says how much of a file is believed."""

from __future__ import annotations

from dataclasses import dataclass

#: What https://www.sitemaps.org/protocol.html allows per file; more is read, but said.
PROTOCOL_BYTES = 52_428_800
PROTOCOL_ENTRIES = 50_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What a reading stops at. Nothing read before a limit is lost."""

    max_bytes: int = PROTOCOL_BYTES  #: after decompression, and after each gzip layer
    max_entries: int = 1_000_000  #: entries and links together
    max_text: int = 65_536  #: characters of one text field that are kept (a URL as long as this is no URL)
    max_entry: int = 1_048_576  #: characters of one entry with all its images and translations
    max_head: int = 1_048_576  #: characters searched for the root element
    gzip_layers: int = 3
