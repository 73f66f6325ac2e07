"""changefreq and priority texts -> values, or None.

Knows what the protocol allows and the spellings of it that are plain. Refuses to know a default: a
value that is not there or not valid is unknown, never "0.5" or "always".
"""

from __future__ import annotations

import re
from functools import lru_cache

from sitemapcrawl.entries import CHANGEFREQS

_NUMBER = re.compile(r"\+?(?:\d{1,20}(?:[.,]\d{0,20})?|[.,]\d{1,20})", re.ASCII)


#: No value is longer; it bounds what is remembered.
_MAX_CHARS = 100


def changefreq(text: str) -> str | None:
    """Return one of CHANGEFREQS, whatever the case and the blanks, or None."""
    return _changefreq(text if len(text) <= _MAX_CHARS else text.strip()[:_MAX_CHARS])


def priority(text: str) -> float | None:
    """Return a number from 0 to 1, with a decimal point or comma, or None."""
    return _priority(text if len(text) <= _MAX_CHARS else text.strip()[:_MAX_CHARS])


@lru_cache(maxsize=1024)
def _changefreq(text: str) -> str | None:
    word = text.strip().lower()
    return word if word in CHANGEFREQS else None


@lru_cache(maxsize=1024)
def _priority(text: str) -> float | None:
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text.replace(",", "."))
    return value if value <= 1 else None
