"""Bounds of reading one sitemap; the one place that says how much of a file is believed."""

from __future__ import annotations

from dataclasses import dataclass

#: What https://www.sitemaps.org/protocol.html allows per file; more is read, but said.
PROTOCOL_BYTES = 52_428_800
PROTOCOL_ENTRIES = 50_000
#: Servers and browsers refuse URLs from about this length on (Apache: 8,190).
MAX_URL_CHARS = 8_190


@dataclass(frozen=True, slots=True)
class Limits:
    """What a reading stops at. Nothing read before a limit is lost."""

    max_bytes: int = PROTOCOL_BYTES  #: after decompression, and after each gzip layer
    max_entries: int = 1_000_000  #: entries and links together
    max_text: int = 65_536  #: characters of one text field that are kept; more than MAX_URL_CHARS
    max_entry: int = (
        1_048_576  #: characters of one entry, with all its images and translations, that are held; give or take a piece
    )
    max_head: int = 1_048_576  #: characters searched for the root element
    gzip_layers: int = 3

    def __post_init__(self) -> None:
        if self.max_text <= MAX_URL_CHARS:  # else a shortened text could pass for a URL
            raise ValueError(f"max_text is {self.max_text}: it must be more than {MAX_URL_CHARS}.")
