"""urlset and sitemapindex documents -> entries and links.

Knows the sitemaps.org protocol, read generously: local names decide, in any namespace and case; what
an entry is decides each entry, not the root. Refuses to know the extensions (images, videos, news,
translations): a ``loc`` counts only as a direct child of an entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape, unescape
from itertools import chain, pairwise
from typing import cast

from lxml import etree

from sitemapcrawl.entries import Entry, Link
from sitemapcrawl.sitemaps import dates, fields, regular
from sitemapcrawl.sitemaps.batches import Batch, Batches, Tags
from sitemapcrawl.sitemaps.detect import Head, Kind
from sitemapcrawl.sitemaps.limits import MAX_URL_CHARS, Limits
from sitemapcrawl.sitemaps.markup import Repairs, plain
from sitemapcrawl.sitemaps.problems import Code, Problems
from sitemapcrawl.urls import repair, repairer

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
_NAMES = frozenset({"url", "sitemap", "loc", "lastmod", "changefreq", "priority"})
_CACHED_TAGS = 1000
_EXTENSION = re.compile(r"image|video|news|xhtml|mobile|pagemap", re.IGNORECASE)
_ROOTS = ("urlset", "sitemapindex")
_KINDS = {"url": Kind.URLSET, "sitemap": Kind.INDEX}
_XMLNS = re.compile(r"""\sxmlns(?::([\w.-]+))?\s*=\s*(?:"([^"<]*)"|'([^'<]*)')""")
_START_TAG = re.compile(r"<[^<>]*>")
_ENTRY_ATTRIBUTES = re.compile(
    r"<((?:[\w.-]+:)?(?:url|sitemap|loc|lastmod|changefreq|priority))\s[^<>]*?(/?)>", re.IGNORECASE
)
_URL = re.compile(r"\s*https?://", re.IGNORECASE)


def read(
    head: Head, texts: Iterable[str], url: str, limits: Limits, problems: Problems
) -> Iterator[list[Entry | Link]]:
    """Yield the entries and links batch by batch; the document starts with ``head.body``."""
    tag = _START_TAG.match(head.body)
    start_tag = tag[0] if tag and head.root.rpartition(":")[2].lower() in _ROOTS else ""
    scope = _Scope(head.root, start_tag)
    if not start_tag:
        problems.add(Code.MISSING_ROOT, f"line {head.line}")
    elif NAMESPACE not in scope.home:
        problems.add(Code.WRONG_NAMESPACE, f"line {head.line}", ", ".join(sorted(scope.home)))
    body = chain((head.body[len(start_tag) :],), texts)
    line = head.line + start_tag.count("\n")
    batches = Batches(plain(body), Tags(scope.prefixes), line, limits, problems)
    reader = _BatchReader(head, scope, url, problems)
    for batch in batches:
        yield reader.read(batch)
    if start_tag and not batches.is_closed and not start_tag.endswith("/>"):
        problems.add(Code.TRUNCATED, f"line {batches.line}")


class _Scope:
    """The namespaces the root declares: what each batch is parsed in.

    Except the default one: names without a namespace are shorter, which makes the hot loop a fifth faster.
    """

    __slots__ = ("end", "home", "prefixes", "start")

    def __init__(self, root: str, start_tag: str) -> None:
        declared = {prefix: double or single for prefix, double, single in _XMLNS.findall(start_tag)}
        own = {root.rpartition(":")[0], *(prefix for prefix, uri in declared.items() if "/sitemap/" in uri)}
        self.home = {declared.get(prefix, "") for prefix in own}
        self.prefixes = {f"{prefix}:" for prefix in own if prefix}
        attributes = "".join(f' xmlns:{prefix}="{escape(uri)}"' for prefix, uri in declared.items() if prefix)
        self.start = f"<entries{attributes}>"
        self.end = "</entries>"


class _Names(dict[str, str]):
    """From an element's tag as lxml spells it to the protocol's name for it, or ""."""

    __slots__ = ("_home",)

    def __init__(self, home: set[str]) -> None:
        super().__init__()
        self._home = home

    def __missing__(self, tag: str) -> str:
        space, _, name = tag.rpartition("}")
        prefix, _, local = name.rpartition(":")
        local = local.lower()
        foreign = space[1:] not in self._home and _EXTENSION.search(space + prefix)
        found = local if local in _NAMES and not foreign else ""
        if len(self) < _CACHED_TAGS:
            self[tag] = found
        return found


class _BatchReader:
    """Reads batch after batch of one file: at once where it is well-formed, else entry by entry."""

    __slots__ = (
        "_base",
        "_kind",
        "_line",
        "_names",
        "_parser",
        "_problems",
        "_repair",
        "_repairs",
        "_scope",
        "_source",
        "_tags",
    )

    def __init__(self, head: Head, scope: _Scope, url: str, problems: Problems) -> None:
        self._kind = head.kind
        self._base = url
        self._repair = repairer(url)
        self._problems = problems
        self._repairs = Repairs(problems, head.entities)
        self._scope = scope
        self._tags = Tags(scope.prefixes)
        self._names = _Names(scope.home)
        self._parser = etree.XMLParser(
            recover=True,
            resolve_entities=False,
            no_network=True,
            huge_tree=True,
            remove_comments=True,
            remove_pis=True,
            remove_blank_text=True,
            collect_ids=False,
        )
        self._line = 1
        self._source = ""

    def read(self, batch: Batch) -> list[Entry | Link]:
        """Return what the batch lists. libxml2 is the judge: only what it complains of is repaired."""
        text, line = batch
        if self._kind is Kind.URLSET and (entries := regular.read(text, self._repair)) is not None:
            return cast(list[Entry | Link], entries)
        root, is_broken = self._parse(text)
        if is_broken:
            text = self._repairs.characters(text, line)
            root, is_broken = self._parse(text)
        if is_broken or _has_nested(root, text):
            return self._one_by_one(text, line)
        self._line, self._source = line, ""
        return self._entries(root)

    def _one_by_one(self, text: str, line: int) -> list[Entry | Link]:
        """Read each entry apart from its neighbours: it ends with its end tag, or where the next starts."""
        starts = [match.start() for match in self._tags.start.finditer(text)]
        items: list[Entry | Link] = []
        before = 0
        for start, following in pairwise((*starts, len(text))):
            line += text.count("\n", before, start)
            before = start
            end = self._tags.end.search(text, start, following)
            items += self._read_alone(text[start : end.end() if end else following], line)
        return items

    def _read_alone(self, text: str, line: int) -> list[Entry | Link]:
        text = _ENTRY_ATTRIBUTES.sub(r"<\1\2>", self._repairs.tags(text))
        root, is_broken = self._parse(text)
        self._line, self._source = line, text if is_broken else ""
        if is_broken:
            self._problems.add(Code.MALFORMED_MARKUP, f"line {line}", text)
        return self._entries(root)

    def _parse(self, text: str) -> tuple[etree._Element, bool]:
        """Return an element around the entries, and whether libxml2 complained; not of undeclared prefixes."""
        try:
            root = etree.fromstring(f"{self._scope.start}{text}{self._scope.end}", self._parser)
        except etree.XMLSyntaxError:
            return etree.Element("entries"), True
        log = self._parser.error_log
        return root, any(error.domain != etree.ErrorDomains.NAMESPACE for error in log)

    def _entries(self, root: etree._Element) -> list[Entry | Link]:  # noqa: C901, PLR0912 - flat because it is hot
        """Return what the children of ``root`` list. In here most of the time of a crawl's reading is spent."""
        names = self._names
        items: list[Entry | Link] = []
        for element in root[:]:  # type: ignore[index] # the stubs know no slices, which beat iterating
            kind = names[element.tag]
            if kind not in _KINDS:
                continue
            loc = lastmod = changefreq = priority = None
            for child in element[:]:  # type: ignore[index]
                name = names[child.tag]
                if name == "loc":
                    if loc is not None:
                        self._note(Code.SEVERAL_LOCS, child, loc)
                        items.append(Entry(loc, lastmod, changefreq, priority) if kind == "url" else Link(loc, lastmod))
                        lastmod = changefreq = priority = None
                    loc = self._url(child)
                elif name == "lastmod":
                    if (text := child.text) and (lastmod := dates.parse(text)) is None:
                        self._note_value(Code.INVALID_LASTMOD, child, text)
                elif name == "changefreq":
                    if (text := child.text) and (changefreq := fields.changefreq(text)) is None:
                        self._note_value(Code.INVALID_CHANGEFREQ, child, text)
                elif name == "priority" and (text := child.text) and (priority := fields.priority(text)) is None:
                    self._note_value(Code.INVALID_PRIORITY, child, text)
            if loc is None:
                loc = self._bare_url(element)
            if loc is not None:
                items.append(Entry(loc, lastmod, changefreq, priority) if kind == "url" else Link(loc, lastmod))
                if _KINDS[kind] is not self._kind:
                    self._note(Code.MISPLACED_ENTRY, element, loc)
        return items

    def _note_value(self, code: Code, element: etree._Element, text: str) -> None:
        if not text.isspace():
            self._note(code, element, text)

    def _url(self, loc: etree._Element) -> str | None:
        """Return the URL of a loc, or None with the reason noted."""
        text = loc.text or ""
        if len(text) > MAX_URL_CHARS:
            self._note(Code.URL_TOO_LONG, loc, text)
            return None
        if len(loc) or (self._source and not _is_whole(text, self._source)):
            self._note(Code.INVALID_URL, loc, text)
            return None
        url = repair(text, self._base)
        if url is None:
            self._note(Code.INVALID_URL if text.strip() else Code.MISSING_LOC, loc, text)
        return url

    def _bare_url(self, element: etree._Element) -> str | None:
        """Return the URL that stands in an entry itself, without a loc around it."""
        if any(self._names[child.tag] == "loc" for child in element):
            return None  # and why is noted
        text = element.text or ""
        if not _URL.match(text):
            self._note(Code.MISSING_LOC, element, text)
            return None
        self._note(Code.MISSING_LOC_TAG, element, text)
        return repair(text, self._base) if len(text) <= MAX_URL_CHARS else None

    def _note(self, code: Code, element: etree._Element, sample: str | None) -> None:
        if code in self._problems:
            self._problems.add(code)
        else:
            self._problems.add(
                code, f"line {self._line - 1 + (cast(int | None, element.sourceline) or 1)}", sample or ""
            )


def _has_nested(root: etree._Element, text: str) -> bool:
    """Tell whether an entry stands within another: well-formed, but some generators nest by mistake."""
    return text.count("<url>") + text.count("<sitemap>") > len(root)


def _is_whole(text: str, source: str) -> bool:
    """Tell whether a text stands in the source from the end of one tag to an end tag, so that nothing is missing."""
    return re.search(rf">\s*{re.escape(text.strip())}\s*</", unescape(source)) is not None
