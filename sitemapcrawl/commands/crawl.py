"""``scrapy crawl``: Scrapy's own, with arguments and store checked first and an exit code that tells how it went."""

from __future__ import annotations

import argparse
import asyncio
import difflib
import gc
import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import NoReturn

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.misc import load_object

from sitemapcrawl import arguments, stats
from sitemapcrawl import settings as project
from sitemapcrawl.arguments import Arguments
from sitemapcrawl.exceptions import ArgumentError, RunConflict, StoreUnreachable
from sitemapcrawl.frontier import Frontier
from sitemapcrawl.frontier.policy import Policy
from sitemapcrawl.scope import CrossSubmit
from sitemapcrawl.spiders import SitemapSpider
from sitemapcrawl.store import connect

_EXIT_CODES = {
    "finished": 0,
    "no_valid_seed": 2,
    "run_conflict": 2,
    "shutdown": 130,
    "start_error": 1,
    "worker_failed": 1,
}
_WRONG_USAGE = 2
_NOTHING_FOUND = 3
_UNREACHABLE = 4


class Command(CrawlCommand):
    """Runs a spider."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse a crawl that can't work before anything is started or logged."""
        super().process_options(args, opts)
        assert self.settings is not None
        if len(args) != 1:
            return
        try:
            spidercls = get_spider_loader(self.settings).load(args[0])
        except KeyError:
            near = difflib.get_close_matches(args[0], get_spider_loader(self.settings).list(), 1)
            hint = f": did you mean {near[0]}?" if near else ""
            _refuse(ArgumentError(f"There is no spider named {args[0]}{hint}"), _WRONG_USAGE)
        try:
            if issubclass(spidercls, SitemapSpider):
                _check(spidercls, self.settings, opts.spargs)
        except (ArgumentError, RunConflict) as error:
            _refuse(error, _WRONG_USAGE)
        except StoreUnreachable as error:
            _refuse(error, _UNREACHABLE)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            super().run(args, opts)
            return
        assert self.crawler_process
        crawler = self._create_crawler(args[0])
        _calm_garbage_collection()
        self.crawler_process.crawl(crawler, **opts.spargs)
        self.crawler_process.start()
        self.exitcode = 1 if self.crawler_process.bootstrap_failed else _exit_code(crawler)


def _refuse(error: Exception, code: int) -> NoReturn:
    sys.stderr.write(f"{error}\n")
    sys.exit(code)


def _calm_garbage_collection() -> None:
    """Keep the collector from walking all modules and each file's rows again and again: half the time of a read.

    Rows hold no cycles; what does is still collected, after 50,000 allocations instead of 700.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _check(spidercls: type[SitemapSpider], settings: BaseSettings, raw: dict[str, str]) -> None:
    parsed = arguments.parse(raw, datetime.now(UTC), spidercls.extra_arguments)
    settings = settings.copy()
    spidercls.update_settings(settings)
    _check_settings(settings)
    with ThreadPoolExecutor(1) as pool:  # the crawl's own event loop is not touched
        pool.submit(asyncio.run, _check_store(settings, parsed)).result()


def _check_settings(settings: BaseSettings) -> None:
    """Refuse settings whose values can't be used; names what to write instead."""
    for name in (str(name) for name in settings if str(name).startswith("SITEMAPCRAWL_")):
        if not hasattr(project, name):
            near = difflib.get_close_matches(name, vars(project), 1)
            raise ArgumentError(f"Unknown setting {name}" + (f": did you mean {near[0]}?" if near else "."))
        if isinstance(getattr(project, name), int | float):
            _check_number(name, settings[name])
    policy = settings["SITEMAPCRAWL_CROSS_SUBMIT"]
    if policy not in set(CrossSubmit):
        raise ArgumentError(f"SITEMAPCRAWL_CROSS_SUBMIT={policy} is not possible: write {', '.join(CrossSubmit)}.")
    blacklist = settings["SITEMAPCRAWL_BLACKLIST_FILE"]
    if blacklist and not os.access(blacklist, os.R_OK):
        raise ArgumentError(f"SITEMAPCRAWL_BLACKLIST_FILE={blacklist} can't be read.")
    for path in settings.getdict("SITEMAPCRAWL_FILTERS"):
        try:
            load_object(path)
        except (ImportError, NameError, ValueError) as error:
            raise ArgumentError(f"SITEMAPCRAWL_FILTERS names {path}, which can't be loaded: {error}.") from None


def _check_number(name: str, value: object) -> None:
    try:
        number = float(str(value))
    except ValueError:
        number = -1.0
    if not 0 <= number < math.inf:
        raise ArgumentError(f"{name}={value} is no number of 0 or more.")


async def _check_store(settings: BaseSettings, parsed: Arguments) -> None:
    store = await connect(settings)
    try:
        await Frontier(store, Policy.from_settings(settings)).check_run(parsed.recipe(), fresh=parsed.run == "new")
    finally:
        await store.close()


def _exit_code(crawler: Crawler) -> int:
    get = crawler.stats.get_value
    code = _EXIT_CODES.get(get("finish_reason", "shutdown"), 0)  # no reason: stopped before it had begun
    ran = issubclass(crawler.spidercls, SitemapSpider) and not crawler.spidercls.sitemap_urls
    return _NOTHING_FOUND if code == 0 and ran and not get(f"{stats.RUN}/read") else code
