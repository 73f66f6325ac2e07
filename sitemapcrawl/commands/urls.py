"""``scrapy urls``: what the sitemaps list, in rank order, each URL once."""

from __future__ import annotations

import argparse
import sys

from scrapy.commands import ScrapyCommand

from sitemapcrawl import urls
from sitemapcrawl.commands._store import with_frontier
from sitemapcrawl.frontier import Frontier, listing
from sitemapcrawl.tables import Format, Writer

_COLUMNS = ("url", "lastmod", "changefreq", "priority", "rank", "sitemap", "site")
_TABLE = ("url", "lastmod", "priority", "rank")
_NOTHING_FOUND = 3


class Command(ScrapyCommand):
    """Lists the catalogue's URLs."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        return "[options]"

    def short_desc(self) -> str:
        return "List the URLs of all sitemaps, best rank first"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--site", metavar="HOST", help="only this host (example.com: its www and subdomains too)")
        parser.add_argument("--top", type=int, default=0, metavar="N", help="only the best N")
        parser.add_argument("--format", choices=list(Format), default=Format.TABLE, type=Format)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        with_frontier(self, lambda frontier: _list(frontier, opts))


async def _list(frontier: Frontier, opts: argparse.Namespace) -> int:
    hosts = [host for host in await listing.hosts(frontier) if is_of_site(host, opts.site)]
    form: Format = opts.format
    with Writer(_TABLE if form == Format.TABLE else _COLUMNS, form) as writer:
        async for found in listing.listed(frontier, hosts, with_sources=form == Format.JSONL):
            row = found.row.as_dict(found.sitemaps[0], urls.site(found.host))
            writer.write(row | {"sitemaps": found.sitemaps} if form == Format.JSONL else row)
            if writer.count == opts.top:
                break
    if not writer.count:
        sys.stderr.write("No URL is listed" + (f" for {opts.site}" if opts.site else "") + ".\n")
        return _NOTHING_FOUND
    return 0


def is_of_site(host: str, asked: str | None) -> bool:
    """Tell whether a host key is the one asked for, or belongs to the registrable domain asked for."""
    return not asked or host == asked.lower() or urls.site(host) == asked.lower()
