"""What is left alone: hosts, URL patterns and sitemaps, each with a reason.

A line of a blacklist file is one rule; `` # `` begins the reason:

    example.com                       # the host
    *.example.com                     # the host and its subdomains
    https://example.com/private/*     # URLs; * stands for anything
    re:[?&]sessionid=                 # URLs, by a regular expression found anywhere in them
    sitemap https://example.com/old-* # sitemaps, by URL or pattern

Knows the rules' grammar. Refuses to know where the lines come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from sitemapcrawl import urls

_SITEMAP_PREFIX = re.compile(r"sitemaps?:?\s+", re.IGNORECASE)
_HOST_PREFIX = re.compile(r"host:?\s+", re.IGNORECASE)
_HOST = re.compile(r"(\*\.)?[\w.-]+(:\d+)?|\[[0-9a-f:.]+\](:\d+)?")


class Kind(StrEnum):
    """What a rule speaks of."""

    HOST = "host"
    URL = "url"
    SITEMAP = "sitemap"


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to leave alone."""

    kind: Kind
    pattern: str
    reason: str = "blacklisted"

    @classmethod
    def parse(cls, line: str) -> Self | None:
        """Read a line; None for a blank one or a comment.

        Raises:
            ValueError: it is no rule; says why.
        """
        text, _, reason = f" {line.strip()}".partition(" #")
        text, reason = text.strip(), reason.strip() or "blacklisted"
        if not text:
            return None
        if match := _SITEMAP_PREFIX.match(text):
            return cls(Kind.SITEMAP, _pattern(text[match.end() :]), reason)
        text = _HOST_PREFIX.sub("", text, count=1)
        if text.startswith("re:") or "://" in text or "/" in text:
            return cls(Kind.URL, _pattern(text), reason)
        if not _HOST.fullmatch(text):
            raise ValueError("neither a host nor a URL pattern: write example.com, https://example.com/x/* or re:...")
        star = "*." if text.startswith("*.") else ""
        url = urls.repair(f"http://{text.removeprefix('*.')}/")
        if url is None:
            raise ValueError("not a host name")
        return cls(Kind.HOST, star + urls.host_key(url), reason)


class Blacklist:
    """Rules, looked up fast: hosts in a table, patterns one after the other."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._hosts: dict[str, str] = {}
        self._urls: list[tuple[re.Pattern[str], str]] = []
        self._sitemaps: list[tuple[re.Pattern[str], str]] = []
        for rule in rules:
            if rule.kind == Kind.HOST:
                self._hosts[rule.pattern] = rule.reason
            else:
                patterns = self._urls if rule.kind == Kind.URL else self._sitemaps
                patterns.append((re.compile(rule.pattern), rule.reason))

    @classmethod
    def parse(cls, lines: Iterable[str], name: str) -> tuple[Self, list[str]]:
        """Return the blacklist of a file's good lines, and a sentence for each bad one."""
        rules, bad = [], []
        for number, line in enumerate(lines, start=1):
            try:
                rule = Rule.parse(line)
            except (ValueError, re.error) as error:
                bad.append(f"{name}:{number}: Invalid: {line.strip()[:80]} ({error})")
            else:
                rules += [rule] if rule else []
        return cls(rules), bad

    @property
    def judges_urls(self) -> bool:
        """Whether any rule can speak of a page whose host is not listed."""
        return bool(self._urls)

    def reason_for_host(self, host: str) -> str | None:
        """Return why a host key is left alone, or None."""
        if reason := self._hosts.get(host):
            return reason
        while host:
            if reason := self._hosts.get(f"*.{host}"):
                return reason
            _, _, host = host.partition(".")
        return None

    def reason_for_url(self, url: str) -> str | None:
        """Return why a page's URL is left alone, or None; its host is not looked at."""
        return next((reason for pattern, reason in self._urls if pattern.search(url)), None)

    def reason_for_sitemap(self, url: str) -> str | None:
        """Return why a sitemap is left alone, or None: by a sitemap rule or by its host."""
        found = next((reason for pattern, reason in self._sitemaps if pattern.search(url)), None)
        return found or self.reason_for_host(urls.host_key(url))


def _pattern(text: str) -> str:
    """Return a rule's pattern as a regular expression; a pattern without scheme fits any."""
    if text.startswith("re:"):
        re.compile(text[3:])
        return text[3:]
    scheme = "" if "://" in text else r"^https?://(?:[^/]*\.)?" if not text.startswith("/") else r"^https?://[^/]*"
    return (scheme or "^") + ".*".join(map(re.escape, text.split("*"))) + "$"
