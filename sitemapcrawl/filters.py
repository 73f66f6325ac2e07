"""Filters: which entries and which further sitemaps are kept, and why the others are not.

``SITEMAPCRAWL_FILTERS`` lists them as ``{path: order}``. To add one, subclass ``Filter``: ``from_crawler`` reads
what it needs from ``crawler.settings`` and ``crawler.spider`` and raises ``NotNeeded`` when it has nothing to do.

Knows entries, links and arguments. Refuses to know Scrapy (the crawler is only asked for its parts), and never lets a
filter of pages touch a sitemap.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import MAXYEAR, UTC, datetime
from importlib import import_module
from typing import Any, Self, TypeVar
from urllib.parse import quote

from sitemapcrawl.entries import Entry, Lastmod, Link, Precision
from sitemapcrawl.exceptions import ArgumentError

_SAMPLES_A_REASON = 3
#: What URLs hold encoded in some of their parts and as it is in others.
_EITHER = "\"'<>^`{}"
_LETTER = re.compile(r"%[0-9A-F]{2}|.", re.IGNORECASE | re.DOTALL)
_WHOLE_URL = re.compile(r"(?:https?|\*)://", re.IGNORECASE)
_Thing = TypeVar("_Thing", Entry, Link)


class NotNeeded(Exception):
    """Raised by ``from_crawler`` of a filter that has nothing to do."""


class Filter:
    """A filter that keeps everything; subclasses say what they drop."""

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        """Build the filter, or raise ``NotNeeded``."""
        return cls()

    def drop_entry(self, entry: Entry) -> str | None:
        """Return a short reason to leave the entry out, or None to keep it."""
        return None

    def drop_sitemap(self, link: Link) -> str | None:
        """Return a short reason not to read the sitemap, or None to read it."""
        return None


class Patterns:
    """Globs on the path, and regular expressions (``re:``) on the whole URL.

    A glob fits the whole path with its query: ``*`` stands for anything, slashes too; ``/blog/*`` fits all below
    /blog/, ``*.pdf`` all that ends so, ``about`` is /about. One with a scheme fits the whole URL.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        globs = [pattern for pattern in patterns if not pattern.startswith("re:")]
        self._globs = re.compile(_one_expression(globs)) if globs else None
        self._anywhere = [re.compile(pattern[3:]) for pattern in patterns if pattern.startswith("re:")]

    def fits(self, url: str) -> bool:
        """Tell whether a repaired URL fits one of the patterns."""
        if self._globs and self._globs.match(url):
            return True
        return any(expression.search(url) for expression in self._anywhere)


def _one_expression(globs: Sequence[str]) -> str:
    """Return all globs as one expression on whole URLs: no URL needs to be cut at its path."""
    of_urls = [expression_of(glob) for glob in globs if _WHOLE_URL.match(glob)]
    of_paths = [
        expression_of(glob if glob.startswith(("/", "*")) else f"/{glob}")
        for glob in globs
        if not _WHOLE_URL.match(glob)
    ]
    if of_paths:
        of_urls.append(f"https?://[^/]*(?=/)(?:{'|'.join(of_paths)})")
    return rf"(?:{'|'.join(of_urls)})\Z"


def expression_of(glob: str) -> str:
    """Return a glob as a regular expression: ``*`` stands for anything; letters that URLs encode are encoded."""
    first, *parts = ("".join(map(_expression_of_letter, _LETTER.findall(part))) for part in glob.split("*"))
    if not parts:
        return first
    # Between two stars the first place that fits is as good as any: atomic groups spare all other attempts.
    return first + "".join(f"(?>.*?{part})" for part in parts[:-1]) + f".*{parts[-1]}"


def _expression_of_letter(letter: str) -> str:
    if letter in _EITHER:
        return f"(?i:{re.escape(letter)}|{quote(letter, safe='')})"
    if len(letter) == 1 and "!" <= letter <= "~":
        return re.escape(letter)
    return f"(?i:{letter if len(letter) > 1 else quote(letter, safe='', errors='replace')})"


class _IncludeExclude(Filter):
    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = Patterns(include) if include else None
        self._exclude = Patterns(exclude)

    def _reason(self, url: str) -> str | None:
        if self._exclude.fits(url):  # first: a root that is excluded is never read, see ``Filters.keep_links``
            return "excluded"
        return "not-included" if self._include and not self._include.fits(url) else None


class PatternFilter(_IncludeExclude):
    """``include=`` and ``exclude=``: on pages."""

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        arguments = crawler.spider.arguments
        if not (arguments.include or arguments.exclude):
            raise NotNeeded
        return cls(arguments.include, arguments.exclude)

    def drop_entry(self, entry: Entry) -> str | None:
        return self._reason(entry.loc)


class SitemapPatternFilter(_IncludeExclude):
    """``sitemap_include=`` and ``sitemap_exclude=``: on the sitemaps that indexes name."""

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        arguments = crawler.spider.arguments
        if not (arguments.sitemap_include or arguments.sitemap_exclude):
            raise NotNeeded
        return cls(arguments.sitemap_include, arguments.sitemap_exclude)

    def drop_sitemap(self, link: Link) -> str | None:
        return self._reason(link.loc)


class DateFilter(Filter):
    """``since=``, ``until=`` and ``undated=``, on lastmod.

    A lastmod that names a day, month or year is kept if any moment of it fits. A sitemap older than ``since`` is not
    read: an index's lastmod says when the file changed last. ``until`` spares no sitemap, nor does a missing lastmod.
    """

    def __init__(self, since: datetime | None, until: datetime | None, *, drops_undated: bool) -> None:
        self._since = since.timestamp() if since else None
        self._until = until.timestamp() if until else None
        self._drops_undated = drops_undated

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        arguments = crawler.spider.arguments
        if not (arguments.since or arguments.until or arguments.undated == "drop"):
            raise NotNeeded
        return cls(arguments.since, arguments.until, drops_undated=arguments.undated == "drop")

    def drop_entry(self, entry: Entry) -> str | None:
        if entry.lastmod is None:
            return "undated" if self._drops_undated else None
        if self._since is not None and _end(entry.lastmod) < self._since:
            return "before-since"
        if self._until is not None and entry.lastmod.at > self._until:
            return "after-until"
        return None

    def drop_sitemap(self, link: Link) -> str | None:
        if link.lastmod and self._since is not None and _end(link.lastmod) < self._since:
            return "before-since"
        return None


def _end(lastmod: Lastmod) -> float:
    """Return the last second a lastmod may mean."""
    match lastmod.precision:
        case Precision.SECOND:
            return lastmod.at
        case Precision.MINUTE:
            return lastmod.at + 59
        case Precision.DAY:
            return lastmod.at + 86_399
    start = datetime.fromtimestamp(lastmod.at, UTC)
    months = 12 if lastmod.precision == Precision.YEAR else 1
    years, month = divmod(start.month - 1 + months, 12)
    if start.year + years > MAXYEAR:
        return math.inf
    return start.replace(year=start.year + years, month=month + 1, day=1).timestamp() - 1


class Filters:
    """The filters of a crawl, in order, with what they dropped of the file at hand."""

    def __init__(self, filters: Sequence[Filter]) -> None:
        self._entry_filters = [f.drop_entry for f in filters if _overrides(f, "drop_entry")]
        self._sitemap_filters = [f.drop_sitemap for f in filters if _overrides(f, "drop_sitemap")]
        self.dropped: Counter[str] = Counter()
        self.samples: defaultdict[str, list[str]] = defaultdict(list)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        """Build the filters that SITEMAPCRAWL_FILTERS lists and that have something to do, in their order.

        Raises:
            ArgumentError: a listed path leads nowhere.
        """
        listed = crawler.settings.getdict("SITEMAPCRAWL_FILTERS")
        built = []
        for path in sorted((path for path, order in listed.items() if order is not None), key=listed.get):
            try:
                built.append(_load(path).from_crawler(crawler))
            except NotNeeded:
                continue
        return cls(built)

    def keep_entries(self, entries: Iterable[Entry]) -> Iterable[Entry]:
        """Return the entries that no filter drops."""
        return self._keep(entries, self._entry_filters) if self._entry_filters else entries

    def keep_links(self, links: Iterable[Link], *, are_roots: bool = False) -> Iterable[Link]:
        """Return the sitemaps that no filter drops; ``are_roots``: named by robots.txt, they may be indexes of others.

        A root that is only "not included" is kept until it is known to be no index.
        """
        if not self._sitemap_filters:
            return links
        return self._keep(
            links,
            [_unless_not_included(drop) for drop in self._sitemap_filters] if are_roots else self._sitemap_filters,
        )

    def _keep(self, things: Iterable[_Thing], filters: Sequence[Callable[[_Thing], str | None]]) -> Iterator[_Thing]:
        for thing in things:
            for drop in filters:
                if reason := drop(thing):
                    self.dropped[reason] += 1
                    if len(self.samples[reason]) < _SAMPLES_A_REASON:
                        self.samples[reason].append(thing.loc)
                    break
            else:
                yield thing

    def take_dropped(self) -> Counter[str]:
        """Return what was dropped since the last call, by reason."""
        dropped, self.dropped = self.dropped, Counter()
        return dropped

    def take_samples(self) -> dict[str, list[str]]:
        """Return a few of what was dropped since the last call, by reason."""
        samples, self.samples = self.samples, defaultdict(list)
        return dict(samples)


def _unless_not_included(drop: Callable[[Link], str | None]) -> Callable[[Link], str | None]:
    def judge(link: Link) -> str | None:
        reason = drop(link)
        return None if reason == "not-included" else reason

    return judge


def _overrides(found: Filter, name: str) -> bool:
    return getattr(type(found), name) is not getattr(Filter, name)


def _load(path: Any) -> Any:
    if not isinstance(path, str):
        return path
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ArgumentError(f"SITEMAPCRAWL_FILTERS lists {path}, which can't be loaded: {error}.") from error
