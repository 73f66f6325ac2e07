"""``scrapy read FILE_OR_URL``: one sitemap or robots.txt, what is in it and what is wrong with it.

Knows how to get the bytes of one file and how to show what was read. Refuses to know formats: the
readers do. Nothing is stored, and nothing but the named file is fetched.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from http.client import HTTPException
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import Any, BinaryIO, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from sitemapcrawl import robots
from sitemapcrawl.entries import Entry, Link
from sitemapcrawl.sitemaps import Kind, Problem, Reading, Severity, Verdict

TIMEOUT_SECONDS = 30
CHUNK_BYTES = 65_536
TABLE_ROWS = 20
WIDTH = 100
NOTHING_READABLE = 1
USAGE = 2

#: The columns before the URL: name in a line, heading, width.
_COLUMNS = (("type", "TYPE", 7), ("lastmod", "LASTMOD", 20), ("changefreq", "CHANGEFREQ", 10), ("priority", "PRIO", 4))

Line = dict[str, Any]
_READ_KINDS = (Kind.URLSET, Kind.INDEX, Kind.TEXT, "robots")


class Command(ScrapyCommand):
    requires_project = False
    requires_crawler_process = False

    def syntax(self) -> str:
        return "<file, URL or -> [--url URL] [--format table|jsonl]"

    def short_desc(self) -> str:
        return "Read one sitemap or robots.txt: what is in it, and what is wrong with it"

    def long_desc(self) -> str:
        return (
            "Read one sitemap or robots.txt from a file, an http(s) URL or standard input (-), whatever its state. "
            "Exit code 0: read; 1: nothing readable; 2: no such file."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--url", default="", help="the address the file was published at; relative URLs need it")
        parser.add_argument("--format", choices=("table", "jsonl"), default="table", help="default: %(default)s")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("read takes one file, URL or -")
        with ExitStack() as stack:
            try:
                source = _open(args[0], opts.url, stack)
            except ValueError as error:
                self.exitcode = _complain(f"{args[0]} is no address: {error}.", USAGE)
            except (OSError, HTTPException) as error:
                self.exitcode = _complain(*_reason(args[0], error))
            else:
                self.exitcode = _show(source, opts.format)


class _Source(NamedTuple):
    name: str
    url: str
    head: bytes
    chunks: Iterator[bytes]


def _open(target: str, url: str, stack: ExitStack) -> _Source:
    """Return the bytes of a file, a URL or standard input; they are read as they are needed."""
    if target.lower().startswith(("http://", "https://")):
        request = Request(target, headers={"User-Agent": "sitemapcrawl", "Accept-Encoding": "identity"})  # noqa: S310
        response = stack.enter_context(urlopen(request, timeout=TIMEOUT_SECONDS))  # noqa: S310 - http(s) only
        return _source(target, url or response.url, response)
    if target == "-":
        return _source("standard input", url, sys.stdin.buffer)
    return _source(target, url, stack.enter_context(Path(target).open("rb")))


def _source(name: str, url: str, file: BinaryIO) -> _Source:
    head = file.read(CHUNK_BYTES)
    return _Source(name, url, head, chain((head,), _chunks(file)))


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    """Yield what is left. A connection that breaks ends the file: the reading says that it is cut off."""
    try:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
    except (OSError, HTTPException) as error:
        _complain(f"The connection broke: {error}.", NOTHING_READABLE)


def _reason(target: str, error: Exception) -> tuple[str, int]:
    """Return the sentence and the exit code for what could not be opened."""
    if isinstance(error, HTTPError):
        return f"{target} answers {error.code} {error.reason}.", NOTHING_READABLE
    if isinstance(error, URLError | HTTPException):
        return f"{target} can't be fetched: {getattr(error, 'reason', error)}.", NOTHING_READABLE
    if isinstance(error, FileNotFoundError):
        return f"There is no file {target}.", USAGE
    return f"{target} can't be read: {getattr(error, 'strerror', None) or error}.", USAGE


def _complain(sentence: str, exitcode: int) -> int:
    print(sentence, file=sys.stderr)
    return exitcode


def _show(source: _Source, form: str) -> int:
    """Print what was read; return the exit code. That the reader of the output leaves early is no failure."""
    lines = _robots_lines(source) if _is_robots(source) else _sitemap_lines(source)
    try:
        summary = _print_json(lines) if form == "jsonl" else _print_table(source.name, lines)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains when it ends
        return 0
    return 0 if _is_readable(summary) else NOTHING_READABLE


def _is_readable(summary: Line) -> bool:
    found = summary["entries"] + summary["sitemaps"]
    return bool(found) or (summary["kind"] in _READ_KINDS and summary["verdict"] in {Verdict.OK, Verdict.EMPTY})


def _is_robots(source: _Source) -> bool:
    names = (urlsplit(source.url).path, urlsplit(source.name).path)
    return any(name.endswith("robots.txt") for name in names) or robots.looks_like(source.head)


def _robots_lines(source: _Source) -> Iterator[Line]:
    body = b"".join(source.chunks)
    found = robots.parse(body, source.url)
    yield from ({"type": "sitemap", "loc": sitemap} for sitemap in found.sitemaps)
    yield from map(_problem_line, found.problems)
    lost = any(problem.severity is Severity.ERROR for problem in found.problems)
    verdict = Verdict.HTML if found.is_html else Verdict.PARTIAL if lost else Verdict.OK
    yield _summary(source.url, "robots", verdict, entries=0, sitemaps=len(found.sitemaps), bytes=len(body))


def _sitemap_lines(source: _Source) -> Iterator[Line]:
    reading = Reading(source.chunks, source.url)
    for item in reading:
        yield _item_line(item)
    yield from map(_problem_line, reading.problems)
    counts = {"entries": reading.entries, "sitemaps": reading.links, "bytes": reading.bytes}
    yield _summary(source.url, reading.kind, reading.verdict, **counts)


def _item_line(item: Entry | Link) -> Line:
    line: Line = {"type": "entry" if isinstance(item, Entry) else "sitemap", "loc": item.loc}
    if item.lastmod is not None:
        line["lastmod"] = str(item.lastmod)
    if isinstance(item, Entry):
        if item.changefreq is not None:
            line["changefreq"] = item.changefreq
        if item.priority is not None:
            line["priority"] = item.priority
    return line


def _problem_line(problem: Problem) -> Line:
    return {"type": "problem", **asdict(problem)}


def _summary(url: str, kind: str, verdict: Verdict, **counts: int) -> Line:
    return {"type": "summary", "url": url, "kind": kind, "verdict": verdict, **counts}


def _print_json(lines: Iterable[Line]) -> Line:
    """Print each line as JSON; return the last, which is the summary."""
    line: Line = {}
    for line in lines:
        print(json.dumps(line))
    return line


def _print_table(name: str, lines: Iterable[Line]) -> Line:
    """Print the first rows, the problems and the summary; return the summary."""
    rows: list[Line] = []
    problems: list[Line] = []
    line: Line = {}
    for line in lines:
        if line["type"] == "problem":
            problems.append(line)
        elif line["type"] != "summary" and len(rows) < TABLE_ROWS:
            rows.append(line)
    print(f"{name}\n{_headline(line)}")
    for table in (_rows_table(rows, line["entries"] + line["sitemaps"]), _problems_table(problems)):
        if table:
            print("", *table, sep="\n")
    return line


def _headline(summary: Line) -> str:
    parts = [f"{summary['kind']}: {summary['verdict']}"]
    parts += [f"{summary[what]:,} {what}" for what in ("entries", "sitemaps", "bytes") if summary[what]]
    return " · ".join(parts)


def _rows_table(rows: list[Line], total: int) -> list[str]:
    """Return the rows under a heading, without the columns that are empty in all of them."""
    if not rows:
        return []
    columns = [(name, head, width) for name, head, width in _COLUMNS if any(name in row for row in rows)]
    table = ["  ".join([*(f"{head:<{width}}" for _, head, width in columns), "URL"])]
    for row in rows:
        line = "".join(f"{row.get(name, ''):<{width}}  " for name, _, width in columns)
        table.append(line + _shortened(row["loc"], WIDTH - len(line)))
    if total > len(rows):
        table.append(f"... and {total - len(rows):,} more; --format jsonl lists all")
    return table


def _problems_table(problems: list[Line]) -> list[str]:
    if not problems:
        return []
    table = [f"{'SEVERITY':<8}  {'COUNT':>6}  {'FIRST AT':<12}  PROBLEM"]
    for problem in problems:
        start = f"{problem['severity']:<8}  {problem['count']:>6,}  {problem['place']:<12}  "
        indent = " " * len(start)
        text = wrap(f"{problem['code']}. {problem['message']}", WIDTH - len(start))
        table += [start + text[0], *(indent + line for line in text[1:])]
        if problem["sample"]:
            table.append(indent + _shortened(f"> {problem['sample']}", WIDTH - len(start)))
    return table


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
