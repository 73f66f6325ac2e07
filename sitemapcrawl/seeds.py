"""Seed lines: what to crawl, as Nutch's sitemap crawler took them, read generously.

    http://www.example.com/ sitemaps: sitemap1.xml sitemap2.xml
    https://example3.com/news.xml -sitemap
    example4.com  score=2  interval=1d

Fields are separated by tabs or blanks; names after ``sitemaps:`` are joined to the seed like links; `` # `` starts a
comment; a leading ``*``, ``- ``, number or other bullet, and quotes, as in lists pasted from a page, are ignored. A URL
whose path looks like a sitemap or feed is one; a robots.txt stands for its host.

Knows the grammar. Refuses to read files (``exists`` is given) and to know what a seed leads to.
"""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from tldextract import TLDExtract

from sitemapcrawl import urls
from sitemapcrawl.exceptions import SeedError

#: Signs that begin no host may stand against the line's first word; others need a blank.
_BULLET = re.compile(r"[*\u2022\u00b7\u2013\u2014]\s*|(?:[-+]|\d+[.)])\s+")
_COMMENT = re.compile(r"(?:^|\s)#.*", re.DOTALL)
_FIELD = re.compile(r"([A-Za-z][\w.]*)=(.*)", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|https?:", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z0-9_-]+\.)*[a-z0-9_-]+\.?(?::\d+)?|\[[0-9a-f:.]+\](?::\d+)?")
_SITEMAP_PATH = re.compile(
    r"\.(?:xml|rss|atom|txt|gz)$|(?:^|/)(?:[^/]*sitemap[^/]*|(?:feed|rss|atom)/?)$", re.IGNORECASE
)
_INTERVAL = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)([smhdw]?)", re.IGNORECASE | re.ASCII)
_UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_LONGEST_INTERVAL_SECONDS = 10 * 365 * 86_400
_KEYS = {"score": "score", "nutch.score": "score", "interval": "interval", "nutch.fetchinterval": "interval"}
_SITEMAPS_LABEL = re.compile(r"sitemaps?:(?!//)", re.IGNORECASE)
_SITEMAP_FLAGS = ("-sitemap", "-sitemaps")
_WORDS = ("sitemaps:", "-sitemap", "score", "interval", "nutch.score", "nutch.fetchInterval")
#: What stands around a URL in lists, and zero-width characters.
_AROUND = "\"'<>,;\u200b\u2060\ufeff"
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
        sentence = f"{self.name}:{self.line}: Invalid: {text} ({self.reason})"
        return "".join(char if char.isprintable() else " " for char in sentence)


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
    """Return what a seeds argument means: ``-``, a file that exists, ``redis:KEY``, a list on the web, or the lines.

    An http(s) URL is where a list is fetched, unless it can only be a seed: a bare host, a robots.txt, or a path that
    looks like a sitemap (a .txt counts as a list unless it is named so).
    """
    text = argument.strip()
    if text == "-":
        return Source(SourceKind.STDIN, "")
    path = os.path.expanduser(text) if text.startswith("~/") else text  # noqa: PTH111  a path stays as it was written
    if _is_there(path, exists):
        return Source(SourceKind.FILE, path)
    if re.fullmatch(r"redis:(?!//)\S+", text):
        return Source(SourceKind.REDIS, text.removeprefix("redis:"))
    if re.fullmatch(r"https?://\S+", text, re.IGNORECASE) and _is_list(_encodable(text)):
        return Source(SourceKind.URL, text)
    return Source(SourceKind.LINES, _encodable(text).replace("\\n", "\n"))


def _is_there(path: str, exists: Callable[[str], bool]) -> bool:
    try:
        return exists(path)
    except (OSError, ValueError):  # too long for a name: these are lines
        return False


def _encodable(text: str) -> str:
    """Return the text without lone surrogates, by which Python shows bad bytes of a command line."""
    return text.encode(errors="replace").decode()


def _is_list(url: str) -> bool:
    repaired = urls.repair(url)
    if repaired is None:
        return False
    path = urlsplit(repaired).path
    name = path.rpartition("/")[2].lower()
    if name in ("", "robots.txt") or "sitemap" in name:
        return False
    return name.endswith(".txt") or not _SITEMAP_PATH.search(path)


def decode(body: bytes) -> str:
    """Return the text of a seed file, whatever its encoding and line ends; a bad byte spoils no other line."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = re.sub("\r\n?", "\n", body.decode("utf-16", "replace"))
    else:
        text = "\n".join(map(_decode_line, re.split(rb"\r\n?|\n", body.removeprefix(b"\xef\xbb\xbf"))))
    return text.replace("\x00", "")


def _decode_line(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("windows-1252", "replace")


def parse(lines: Iterable[str], name: str) -> Iterator[Seed | BadSeed]:
    """Yield the seed of each line that has one, and what is wrong with each that should; ``name`` is the list's."""
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
    text = _encodable(text).strip("\ufeff \t\r\n\v\f")
    words = _BULLET.sub("", _COMMENT.sub("", text).strip(), count=1).split()
    if not words:
        return None
    first, *rest = words
    url, is_local = _url(first.strip(_AROUND))
    names, is_named_sitemap, fields = _annotations(rest)
    is_robots = not is_local and urlsplit(url).path.lower().endswith("/robots.txt")
    if is_robots:
        url = urls.base_of(url)
    return Seed(
        url,
        tuple(dict.fromkeys(_sitemap(url, name) for name in names)),
        not is_robots and (is_local or is_named_sitemap or bool(_SITEMAP_PATH.search(urlsplit(url).path))),
        _score(fields.get("score", "1")),
        _interval(fields["interval"]) if "interval" in fields else None,
        number,
        is_local,
    )


def _url(word: str) -> tuple[str, bool]:
    if _is_annotation(word):
        raise SeedError("a line begins with its URL or host")
    if word.startswith(("./", "../", "/", "~/")) and not word.startswith("//"):
        return _file(word), True
    if word[:5].lower() == "file:":
        return _file(_path_of_file_url(word)), True
    if not _SCHEME.match(word):
        return _bare_host(word), False
    url = urls.repair(word)
    if url is None:
        raise SeedError("not an http or https URL")
    if not _HOST.fullmatch(urls.host_key(url)):
        raise SeedError(f"{urls.host_key(url)[:60]} is no host name")
    return url, False


def _path_of_file_url(url: str) -> str:
    try:
        return url2pathname(urlsplit(url).path)
    except ValueError:
        return ""


def _file(path: str) -> str:
    """Return the file: URL of a path; whether it exists is seen when it is read."""
    if not path.strip("/") or "\x00" in path:
        raise SeedError("names no file")
    try:
        return Path(path).expanduser().absolute().as_uri()
    except (ValueError, RuntimeError):  # not encodable; nobody's home
        raise SeedError("names no file") from None


def _bare_host(word: str) -> str:
    """Return the URL of a host without scheme: https, but http for addresses, localhost and most ports."""
    word = word.removeprefix("//")
    authority = re.split(r"[/?#]", word, maxsplit=1)[0]
    name, _, port = authority.partition(":")
    is_address = authority.startswith("[") or re.fullmatch(r"\d+(?:\.\d+){3}", name)
    is_local = bool(port) or name == "localhost" or is_address
    scheme = "http" if is_local and port != "443" else "https"
    url = urls.repair(f"{scheme}://{word.rstrip('.') if word == authority else word}")
    host = urls.host_key(url) if url else ""
    if url is None or "@" in authority or not _HOST.fullmatch(host):
        raise SeedError("neither a URL nor a host name")
    if not is_local and ("." not in host or not _suffixes(host).suffix):
        raise SeedError(
            "no known top-level domain: if it is a host, write http:// before it; if it is a file, a path that exists"
        )
    return url


def _annotations(words: list[str]) -> tuple[list[str], bool, dict[str, str]]:
    """Return the sitemap names, whether the seed itself is called a sitemap, and the fields by their short names."""
    names: list[str] = []
    fields: dict[str, str] = {}
    is_sitemap = takes_names = False
    for word in words:
        field = _FIELD.fullmatch(word)
        if match := _SITEMAPS_LABEL.match(word):
            takes_names = True
            names += [word[match.end() :]] if word[match.end() :] else []
        elif word.lower() in _SITEMAP_FLAGS:
            is_sitemap = True
        elif field and field[1].lower() in _KEYS:
            fields[_KEYS[field[1].lower()]] = field[2]
        elif takes_names:
            names.append(word)
        else:
            raise SeedError(_unknown(word, field[1] if field else word))
    return names, is_sitemap, fields


def _is_annotation(word: str) -> bool:
    field = _FIELD.fullmatch(word)
    is_field = field is not None and field[1].lower() in _KEYS
    return is_field or word.lower() in _SITEMAP_FLAGS or _SITEMAPS_LABEL.match(word) is not None


def _unknown(word: str, key: str) -> str:
    near = difflib.get_close_matches(key[:40], _WORDS, 1)
    hint = f"did you mean {near[0]}?" if near else "one seed a line; sitemap names need sitemaps: before them"
    return f"{word[:40]} is not known here: {hint}"


def _sitemap(seed: str, name: str) -> str:
    url = urls.repair(name.strip(_AROUND), seed)
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
    seconds = round(float(match[1]) * _UNIT_SECONDS[match[2].lower()])
    if not 1 <= seconds <= _LONGEST_INTERVAL_SECONDS:
        raise SeedError(f"interval={text[:20]} is not between a second and ten years")
    return seconds
