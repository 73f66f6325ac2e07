"""``scrapy sitemaps``: the files themselves, with their state and what is wrong with them."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from typing import Any

from scrapy.commands import ScrapyCommand

from sitemapcrawl.commands._store import with_frontier
from sitemapcrawl.commands.urls import is_of_site
from sitemapcrawl.frontier import Frontier, listing
from sitemapcrawl.tables import Format, Writer

_COLUMNS = ("url", "state", "kind", "urls", "children", "found_by", "read", "problems")
_TABLE = ("url", "state", "urls", "found_by", "problems")


class Command(ScrapyCommand):
    """Lists robots.txt and sitemap files."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        return "[options]"

    def short_desc(self) -> str:
        return "List the sitemap files with their state and problems"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--site", metavar="HOST", help="only this host (example.com: its www and subdomains too)")
        parser.add_argument("--format", choices=list(Format), default=Format.TABLE, type=Format)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        with_frontier(self, lambda frontier: _list(frontier, opts))


async def _list(frontier: Frontier, opts: argparse.Namespace) -> int:
    with Writer(_TABLE if opts.format == Format.TABLE else _COLUMNS, opts.format) as writer:
        for host in await listing.hosts(frontier):
            if is_of_site(host, opts.site):
                for record in await listing.records(frontier, host):
                    writer.write(row_of(record, plain=opts.format in (Format.TABLE, Format.CSV)))
    if not writer.count:
        sys.stderr.write("No sitemap is known.\n")
        return 3
    return 0


def row_of(record: dict[str, str], *, plain: bool) -> dict[str, Any]:
    """Return a record as a listing shows it; ``plain`` puts lists into one cell."""
    problems = json.loads(record.get("problems") or "[]")
    dropped = json.loads(record.get("dropped") or "{}")
    row: dict[str, Any] = {
        "url": record["url"],
        "state": _state(record),
        "kind": record.get("kind", ""),
        "urls": int(record.get("urls") or 0),
        "children": int(record.get("children") or 0),
        "found_by": record.get("found_by", ""),
        "read": datetime.fromtimestamp(int(record["at"]) / 1000, UTC).strftime("%Y-%m-%d %H:%M")
        if record.get("at")
        else "",
    }
    if plain:
        said = [f"{problem['code']} ({problem['count']})" for problem in problems]
        return row | {"problems": ", ".join(said + [f"{reason} ({n})" for reason, n in dropped.items() if n])}
    row |= {"chain": record.get("chain", "").split("\n") if record.get("chain") else []}
    row |= {
        "bytes": int(record.get("bytes") or 0),
        "target": record.get("target", ""),
        "problems": problems,
        "dropped": dropped,
    }
    return row | {"samples": json.loads(record.get("samples") or "{}")}


def _state(record: dict[str, str]) -> str:
    outcome = record.get("outcome", "waiting")
    if outcome == "ok" and record.get("verdict", "ok") != "ok":
        return record["verdict"]
    return f"{outcome}: {record['reason']}" if record.get("reason") else outcome
