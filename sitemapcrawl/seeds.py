"""Seed lines: what to crawl, as Nutch's sitemap crawler took them, read generously.

    http://www.example.com/ sitemaps: sitemap1.xml sitemap2.xml
    https://example3.com/news.xml -sitemap
    example4.com  score=2  interval=1d

Fields are separated by tabs or blanks; names after ``sitemaps:`` are joined to the seed like links; `` # `` starts a
comment; a leading ``*``, ``-`` or bullet, as in lists pasted from a page, is ignored. A URL whose path looks like a sitemap or
feed is one; a robots.txt stands for its host.

Knows the grammar. Refuses to read files (``exists`` is given) and to know what a seed leads to.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from tldextract import TLDExtract

from sitemapcrawl import urls
from sitemapcrawl.exceptions import SeedError

_BULLET = re.compile(r"^(?:[*•–-]|\d+[.)])\s+")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_FIELD = re.compile(r"([A-Za-z][\w.]*)=(.*)", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SITEMAP_PATH = re.compile(r"\.(?:xml|rss|atom|txt|gz)$|(?:^|/)[^/]*sitemap[^/]*$", re.IGNORECASE)
_INTERVAL = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)", re.IGNORECASE)
_UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_KEYS = {"score": "score", "nutch.score": "score", "interval": "interval", "nutch.fetchInterval": "interval"}
_SHOWN = 80
_suffixes = TLDExtract(suffix_list_urls=(), cache_dir=None)


@dataclass(frozen=True, slots=True)
class Seed:
    """One valid seed line."""

    url: str  #: repaired; of a local sitemap file, its file: URL
    sitemaps: tuple[str, ...] = ()  #: absolute, repaired
    is_sitemap: bool = False  #: the URL itself is a sitemap or feed
    score: float = 1.0
    interval_seconds: int | None = None
    line: int = 0
    is_local: bool = False


@dataclass(frozen=True, slots=True)
class BadSeed:
    """One line that is no seed."""

    name: str
    line: int
    text: str
    reason: str

    def __str__(self) -> str:
        text = self.text if len(self.text) <= _SHOWN else self.text[: _SHOWN - 1] + "…"
        return f"{self.name}:{self.line}: Invalid: {text} ({self.reason})"


class SourceKind(StrEnum):
    """Where the lines are."""

    FILE = "file"
    URL = "url"
    STDIN = "stdin"
    REDIS = "redis"
    LINES = "lines"


@dataclass(frozen=True, slots=True)
class Source:
    """What ``-a seeds=`` means."""

    kind: SourceKind
    value: str


def describe(argument: str, exists: Callable[[str], bool]) -> Source:
    """Return what a seeds argument means: a file that exists, ``-``, ``redis:KEY``, a list on the web, or the lines.

    An http(s) URL is where a list is fetched, unless it can only be a seed: a bare host, a robots.txt, or a path that
    looks like a sitemap (a .txt counts as a list unless it is named so).
    """
    text = argument.strip()
    if exists(text):
        return Source(SourceKind.FILE, text)
    if text == "-":
        return Source(SourceKind.STDIN, "")
    if text.startswith("redis:") and not text.startswith("redis://"):
        return Source(SourceKind.REDIS, text.removeprefix("redis:"))
    if re.fullmatch(r"https?://\S+", text) and _is_list(text):
        return Source(SourceKind.URL, text)
    return Source(SourceKind.LINES, text.replace("\\n", "\n"))


def _is_list(url: str) -> bool:
    name = url.partition("?")[0].split("/", 3)[-1] if url.count("/") > 2 else ""
    name = name.rpartition("/")[2].lower()
    return (
        name not in ("", "robots.txt")
        and (name.endswith(".txt") or not _SITEMAP_PATH.search(name))
        and "sitemap" not in name
    )


def decode(body: bytes) -> str:
    """Return the text of a seed file, whatever its encoding and line ends; nothing is lost to a bad byte."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = body.decode("utf-16", "replace")
    else:
        try:
            text = body.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = body.decode("windows-1252", "replace")
    return re.sub("\r\n?", "\n", text).replace("\x00", "")


def parse(lines: Iterable[str], name: str) -> Iterator[Seed | BadSeed]:
    """Yield the seed of each line that has one, and what is wrong with each that should have; ``name`` is the list's."""
    for number, line in enumerate(lines, start=1):
        try:
            seed = parse_line(line, number)
        except SeedError as error:
            yield BadSeed(name, number, line.strip(), str(error))
        else:
            if seed:
                yield seed


def parse_line(text: str, number: int = 0) -> Seed | None:
    """Return the seed of a line; None for a blank line or a comment.

    Raises:
        SeedError: the line is no seed; the message is the reason.
    """
    words = _BULLET.sub("", _COMMENT.sub("", text.strip("\ufeff \t\r\n\v\f")).strip()).split()
    if not words:
        return None
    first, *rest = words
    url, is_local = _url(first)
    names, flags, fields = _annotations(rest)
    path = urlsplit(url).path
    if path.lower().endswith("/robots.txt") and not is_local:
        url, path = urls.base_of(url), "/"
    return Seed(
        url,
        tuple(_sitemap(url, name) for name in names),
        is_local or "-sitemap" in flags or bool(_SITEMAP_PATH.search(path)),
        _score(fields.get("score", "1")),
        _interval(fields["interval"]) if "interval" in fields else None,
        number,
        is_local,
    )


def _url(word: str) -> tuple[str, bool]:
    if word.startswith(("./", "../", "/", "~/")) and not word.startswith("//"):
        return Path(word).expanduser().absolute().as_uri(), True
    if word.lower().startswith("file:"):
        return word, True
    if _SCHEME.match(word):
        url = urls.repair(word)
        if url is None:
            raise SeedError("not an http or https URL")
        return url, False
    return _bare_host(word), False


def _bare_host(word: str) -> str:
    """Return the URL of a host without scheme: https, but http for addresses, localhost and ports, where TLS is rare."""
    authority = re.split(r"[/?#]", word, maxsplit=1)[0]
    name, _, port = authority.partition(":")
    is_local = bool(port) or name == "localhost" or re.fullmatch(r"[\d.]+", name) or word.startswith("[")
    url = urls.repair(f"{'http' if is_local else 'https'}://{word}")
    if url is None:
        raise SeedError("neither a URL nor a host name")
    if not is_local and not _suffixes(urls.host_key(url)).suffix:
        raise SeedError(
            "no known top-level domain: if this is a file, it does not exist; if it is a host, write http://"
        )
    return url


def _annotations(words: list[str]) -> tuple[list[str], set[str], dict[str, str]]:
    names: list[str] = []
    flags: set[str] = set()
    fields: dict[str, str] = {}
    takes_names = False
    for word in words:
        label, colon, name = word.partition(":")
        if colon and label.lower() in ("sitemaps", "sitemap") and not name.startswith("//"):
            takes_names = True
            names += [name] if name else []
        elif word.lower() in ("-sitemap", "-sitemaps"):
            flags.add("-sitemap")
        elif (match := _FIELD.fullmatch(word)) and match[1] in _KEYS:
            fields[_KEYS[match[1]]] = match[2]
        elif takes_names:
            names.append(word)
        else:
            raise SeedError(_unknown(word, match[1] if match else word))
    return names, flags, fields


def _unknown(word: str, key: str) -> str:
    near = difflib.get_close_matches(key, ("sitemaps:", "-sitemap", *_KEYS), 1)
    return f"{word[:40]} is not known here" + (
        f": did you mean {near[0]}?" if near else ": sitemap names need sitemaps: before them"
    )


def _sitemap(seed: str, name: str) -> str:
    url = urls.repair(name.rstrip(","), seed)
    if url is None:
        raise SeedError(f"the sitemap {name[:40]} is no URL")
    return url


def _score(text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = -1.0
    if not (0 < score < math.inf):
        raise SeedError(f"score={text[:20]} is no number above 0")
    return score


def _interval(text: str) -> int:
    match = _INTERVAL.fullmatch(text)
    if not match:
        raise SeedError(f"interval={text[:20]} is no time: write seconds, or 30m, 12h, 1d, 2w")
    return round(float(match[1]) * _UNIT_SECONDS[match[2].lower()])
