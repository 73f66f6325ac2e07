"""What is left alone: hosts, URL patterns and sitemaps, each with a reason.

A line of a blacklist file is one rule; `` # `` begins the reason:

    example.com                       # the host, on every port; https://example.com is the same
    *.example.com                     # the host and its subdomains
    https://example.com/private/*     # URLs; * stands for anything
    *.example.com/private/*           # URLs of the host and its subdomains
    /private/*                        # URLs of any host
    re:[?&]sessionid=                 # URLs, by a regular expression found anywhere in them
    sitemap https://example.com/old-* # sitemaps, by URL, pattern or host

Knows the rules' grammar. Refuses to know where the lines come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from sitemapcrawl import urls
from sitemapcrawl.filters import expression_of

_COMMENT = re.compile(r"(?:^|\s+)#")
_WORD = re.compile(r"(sitemap|host)s?(?::?\s+|:?$)(.*)", re.IGNORECASE)
_HOST = re.compile(r"(?:\*\.)?(?:[\w-]+\.)*[\w-]+(?::\d+)?|\[[0-9a-f:.]+\](?::\d+)?", re.IGNORECASE)
_PORT = re.compile(r":\d+$")
_PARTS = re.compile(r"(?:([a-z]+|\*)://)?([^/]*)(/.*)?", re.IGNORECASE)
_AROUND = "\ufeff \t\r\n"
_SHOWN = 80


class Kind(StrEnum):
    """What a rule speaks of."""

    HOST = "host"
    URL = "url"
    SITEMAP = "sitemap"


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to leave alone."""

    kind: Kind
    pattern: str  #: of a host its key, ``*.`` before it for subdomains; else a glob of URLs or paths, or ``re:...``
    reason: str = "blacklisted"

    @classmethod
    def parse(cls, line: str) -> Self | None:
        """Read a line; None for a blank one or a comment.

        Raises:
            ValueError: it is no rule; says why.
        """
        text, *comment = _COMMENT.split(line.strip(_AROUND), maxsplit=1)
        reason = "".join(comment).strip() or "blacklisted"
        if not text:
            return None
        word = _WORD.fullmatch(text)
        text = word[2] if word else text
        if word and word[1].lower() == "sitemap":
            return cls(Kind.SITEMAP, _pattern(text), reason)
        scheme, host, path = _parts(text)
        if text.startswith("re:") or path or "*" in host.removeprefix("*."):
            return cls(Kind.URL, _pattern(text), reason)
        return cls(Kind.HOST, _host(host, scheme), reason)


def _parts(text: str) -> tuple[str, str, str]:
    """Return scheme, host with port, and path with query; each may be empty."""
    match = _PARTS.fullmatch(text)
    return (match[1] or "", match[2], match[3] or "") if match else ("", text, "")


def _host(text: str, scheme: str) -> str:
    """Return the host key of a host, ``*.`` before it if it was there."""
    if not _HOST.fullmatch(text):
        raise ValueError("neither a host nor a URL pattern: write example.com, https://example.com/x/* or re:...")
    name = text.removeprefix("*.")
    url = urls.repair(f"{'https' if scheme.lower() == 'https' else 'http'}://{name}/")
    if url is None:
        raise ValueError("not a host name")
    return text.removesuffix(name) + urls.host_key(url)


def _pattern(text: str) -> str:
    """Return a pattern as it is compared with repaired URLs: any scheme, host or path where it gives none."""
    if text.startswith("re:"):
        if not text.removeprefix("re:"):
            raise ValueError("re: is empty and fits every URL")
        re.compile(text.removeprefix("re:"))
        return text
    scheme, host, path = _parts(text)
    if not (host or path):
        raise ValueError("nothing stands behind it: write a host, a URL or a pattern")
    if host and "*" not in host.removeprefix("*."):
        host = _host(host, scheme)
    origin = f"{scheme.lower() or '*'}://{host.lower()}" if host else ""
    return origin + (path or "/*")


class Blacklist:
    """Rules, looked up fast: hosts in a table, patterns all at once."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        rules = tuple(rules)
        self._hosts = {rule.pattern: rule.reason for rule in rules if rule.kind == Kind.HOST}
        self._urls = _Patterns([rule for rule in rules if rule.kind == Kind.URL])
        self._sitemaps = _Patterns([rule for rule in rules if rule.kind == Kind.SITEMAP])

    @classmethod
    def parse(cls, lines: Iterable[str], name: str) -> tuple[Self, list[str]]:
        """Return the blacklist of a file's good lines, and a sentence for each bad one."""
        rules, bad = [], []
        for number, line in enumerate(lines, start=1):
            try:
                rule = Rule.parse(line)
            except (ValueError, re.error, OverflowError, RecursionError) as error:  # the last two: of huge expressions
                bad.append(f"{name}:{number}: Invalid: {line.strip(_AROUND)[:_SHOWN]} ({error})")
            else:
                rules += [rule] if rule else []
        return cls(rules), bad

    def reason_for_host(self, host: str) -> str | None:
        """Return why a host key is left alone, or None."""
        return next((self._hosts[name] for name in _rules_of(host) if name in self._hosts), None)

    def reason_for_url(self, url: str) -> str | None:
        """Return why a page's URL is left alone, or None; its host is not looked at."""
        return self._urls.reason_for(url)

    def reason_for_sitemap(self, url: str) -> str | None:
        """Return why a sitemap is left alone, or None: by a sitemap rule or by its host."""
        return self._sitemaps.reason_for(url) or self.reason_for_host(urls.host_key(url))


def _rules_of(host: str) -> Iterator[str]:
    """Yield the host rules that cover a host key, the narrowest first: its own, without port, its parents'."""
    names = dict.fromkeys((host, _PORT.sub("", host)))
    yield from names
    for name in names:
        while name:
            yield f"*.{name}"
            _, _, name = name.partition(".")  # noqa: PLW2901


class _Patterns:
    """Patterns of one kind. Globs are tried all at once, up to 80 times faster: most URLs fit none."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        compiled = [(re.compile(_expression(rule.pattern)), rule) for rule in rules]
        self._globs = [(expression, rule.reason) for expression, rule in compiled if not rule.pattern.startswith("re:")]
        self._any_glob = re.compile("|".join(expression.pattern for expression, _ in self._globs) or "(?!)")
        self._others = [(expression, rule.reason) for expression, rule in compiled if rule.pattern.startswith("re:")]

    def reason_for(self, url: str) -> str | None:
        if self._any_glob.match(url):
            return next(reason for expression, reason in self._globs if expression.match(url))
        return next((reason for expression, reason in self._others if expression.search(url)), None)


def _expression(pattern: str) -> str:
    """Return a pattern as a regular expression; a path alone fits any host, ``*.`` before a host the host as well."""
    if pattern.startswith("re:"):
        return pattern.removeprefix("re:")
    scheme, host, path = _parts(pattern)
    if not host:
        return f"https?://[^/]*{expression_of(path)}\\Z"
    subdomains, host = (r"(?:[^/]*\.)?", host[2:]) if host.startswith("*.") else ("", host)
    scheme = "https?" if scheme == "*" else re.escape(scheme)
    return f"{scheme}://{subdomains}{expression_of(host + path)}\\Z"
