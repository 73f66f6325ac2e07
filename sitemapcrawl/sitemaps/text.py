"""Plain text documents -> entries: one URL per line (https://www.sitemaps.org/protocol.html#otherformats).

Knows lines. Refuses to know relative URLs: a line that is no http(s) URL is a problem, not a path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from sitemapcrawl.entries import Entry, Link
from sitemapcrawl.sitemaps.detect import Head
from sitemapcrawl.sitemaps.limits import MAX_URL_CHARS, Limits
from sitemapcrawl.sitemaps.problems import CUT, Code, Problems
from sitemapcrawl.urls import repair

_LINE_END = re.compile(r"\r\n|\r(?=[^\n])|\n")
_URL = re.compile(r"[^\w<]{0,8}https?://", re.IGNORECASE)


def read(
    head: Head, texts: Iterable[str], url: str, limits: Limits, problems: Problems
) -> Iterator[list[Entry | Link]]:
    """Yield the entries, some lines at a time. The last line counts unless the file was cut off."""
    number, held = head.line, ""
    for text in chain((head.body,), texts):
        *lines, held = _LINE_END.split(held + text)
        held = held[: limits.max_text]
        yield _entries(lines, number, url, problems)
        number += len(lines)
    if not any(code in problems for code in CUT):
        yield _entries([held], number, url, problems)


def _entries(lines: list[str], number: int, base: str, problems: Problems) -> list[Entry | Link]:
    items: list[Entry | Link] = []
    for line_number, line in enumerate(lines, number):
        url = repair(line, base) if _URL.match(line) and len(line) <= MAX_URL_CHARS else None
        if url is not None:
            items.append(Entry(url))
        elif line.strip() and not line.lstrip().startswith("#"):
            code = Code.URL_TOO_LONG if len(line) > MAX_URL_CHARS else Code.INVALID_URL
            problems.add(code, f"line {line_number}", line)
    return items
