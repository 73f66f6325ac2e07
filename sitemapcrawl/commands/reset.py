"""``scrapy reset``: forgets a crawl, or one site of it."""

from __future__ import annotations

import argparse
import sys

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from sitemapcrawl.commands._store import with_frontier
from sitemapcrawl.commands.urls import is_of_site
from sitemapcrawl.frontier import Frontier, listing
from sitemapcrawl.frontier.forgetting import forget_all, forget_host


class Command(ScrapyCommand):
    """Deletes keys of the crawl named by SITEMAPCRAWL_CRAWL; other crawls in the same Redis stay."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        return "[--site HOST] --yes"

    def short_desc(self) -> str:
        return "Forget the crawl, or one site of it"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--site", metavar="HOST", help="only this host (example.com: its www and subdomains too)")
        parser.add_argument("--yes", action="store_true", help="really do it")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if not opts.yes:
            raise UsageError("reset deletes what was found: say --yes if you mean it.", print_help=False)
        with_frontier(self, lambda frontier: _reset(frontier, opts.site))


async def _reset(frontier: Frontier, site: str | None) -> int:
    hosts = [host for host in await listing.hosts(frontier) if is_of_site(host, site)]
    if site:
        for host in hosts:
            await forget_host(frontier, host)
    else:
        await forget_all(frontier)
    sys.stderr.write(f"Forgot {len(hosts):,} hosts of the crawl {frontier.keys.crawl}.\n")
    return 0
