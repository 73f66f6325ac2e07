"""lastmod texts -> moments in UTC with their precision, or None.

Knows ISO 8601, RFC 822, Unix times and dates whose month is a name or can be no other field. Refuses
to guess: a text that could be two days is none, and missing fields are never filled with today's.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from math import floor

from dateutil.parser import isoparse

from sitemapcrawl.entries import Lastmod, Precision

#: The last second a datetime can name. Before 0 are the null dates of programs (0001-01-01), not of pages.
_LAST_SECOND = floor(datetime.max.replace(tzinfo=UTC, microsecond=0).timestamp())
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_USUAL_CHARS = (len("2024-03-05T10:20:30Z"), len("2024-03-05T10:20:30+01:00"))
#: Between date and time; compact dates have a digit of the time there, after their T.
_SEPARATORS = frozenset(("", "T", "t", " ", *"0123456789"))
#: No date is longer; it bounds what is remembered.
_MAX_CHARS = 100

_ISO = re.compile(
    r"(?P<year>\d{4})(?:[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2})(?:(?:T|\s)\s*(?P<time>\d{1,2}:[\d:.,]+))?)?)?"
    r"\s*(?P<zone>[+-]\d\d:?\d\d|Z|UTC|GMT)?",
    re.IGNORECASE | re.ASCII,
)
_RFC_822 = re.compile(r"(?:[A-Za-z]{3,9}\.?,?\s+)?\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{2,4}\s+\d{1,2}:\d\d.{0,40}", re.ASCII)
_NAMED = re.compile(r"(?:(\d{1,2})\.?\s+)?([A-Za-z]{3,9})\.?\s+(?:(\d{1,2}),?\s+)?(\d{4})", re.ASCII)
_NUMBERS = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})", re.ASCII)
_UNIX = re.compile(r"(1\d{9})(?:\d{3})?", re.ASCII)  # seconds or milliseconds, 2001 to 2033


def parse(text: str) -> Lastmod | None:
    """Return the moment a lastmod names, in UTC unless it says otherwise; None if it is not certain."""
    if len(text) in _USUAL_CHARS and (found := _usual(text)):
        return found
    if len(text) > _MAX_CHARS:
        text = text.strip()
    return _parse(text) if len(text) <= _MAX_CHARS else None


def _usual(text: str) -> Lastmod | None:
    """Read what nearly all sitemaps have: a moment to the second with its zone, each another one; not worth keeping."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None or text[10] != "T" or text[16] != ":":
        return None
    found = _lastmod(moment, Precision.SECOND)
    return found if 0 <= found.at <= _LAST_SECOND else None


@lru_cache(maxsize=16_384)
def _parse(text: str) -> Lastmod | None:
    found = _iso(text) or _other(text.strip())
    return found if found is not None and 0 <= found.at <= _LAST_SECOND else None


def _iso(text: str) -> Lastmod | None:
    """Read what ``datetime.fromisoformat`` does: nearly all there is."""
    if text[10:11] not in _SEPARATORS or (text.isdigit() and len(text) != len("20240305")):
        return None  # fromisoformat takes any separator, and long numbers for compact times
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if len(text) <= len("2024-03-05"):
        return _lastmod(moment, Precision.DAY)
    return _lastmod(moment, Precision.SECOND if text[16:17] == ":" or moment.second else Precision.MINUTE)


def _lastmod(moment: datetime, precision: str) -> Lastmod:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    since = moment - _EPOCH
    return Lastmod(since.days * 86_400 + since.seconds, precision)


def _other(text: str) -> Lastmod | None:
    for read in (_iso, _unix, _loose_iso, _rfc_822, _named, _numbers):
        try:
            found = read(text)
        except (ValueError, OverflowError):
            continue
        if found is not None:
            return found
    return None


def _unix(text: str) -> Lastmod | None:
    match = _UNIX.fullmatch(text)
    return Lastmod(int(match[1]), Precision.SECOND) if match else None


def _loose_iso(text: str) -> Lastmod | None:
    """Read ISO 8601 that ends early, lacks zeros, has slashes, or names its zone."""
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day, time, zone = match.groups()
    date = f"{year}-{int(month or 1):02}-{int(day or 1):02}"
    if time is None:
        precision = Precision.DAY if day else Precision.MONTH if month else Precision.YEAR
        return _lastmod(isoparse(date), precision)
    time = time if time[1] != ":" else "0" + time
    zone = zone if zone and zone[0] in "+-" else "Z"
    return _lastmod(isoparse(f"{date}T{time}{zone}"), Precision.SECOND if time.count(":") > 1 else Precision.MINUTE)


def _rfc_822(text: str) -> Lastmod | None:
    return _lastmod(parsedate_to_datetime(text), Precision.SECOND) if _RFC_822.fullmatch(text) else None


def _named(text: str) -> Lastmod | None:
    """Read dates with the month's English name: "Mar 5, 2024", "5 March 2024", "March 2024"."""
    match = _NAMED.fullmatch(text)
    if match is None or (match[1] and match[3]):
        return None
    months = [n for n, month in enumerate(_MONTHS, 1) if month.startswith(match[2].lower())]
    if not months:
        return None
    day = match[1] or match[3]
    return _lastmod(
        datetime(int(match[4]), months[0], int(day or 1), tzinfo=UTC), Precision.DAY if day else Precision.MONTH
    )


def _numbers(text: str) -> Lastmod | None:
    """Read 25/03/2024 and 03/25/2024, which can be one day only; 05/03/2024 can be two."""
    match = _NUMBERS.fullmatch(text)
    if match is None:
        return None
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if first <= 12 and second <= 12 and first != second:
        return None
    month, day = sorted((first, second))
    return _lastmod(datetime(year, month, day, tzinfo=UTC), Precision.DAY)
