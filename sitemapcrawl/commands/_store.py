"""What the commands on the store share: a frontier for as long as one coroutine runs, and exit code 4 without one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable

from scrapy.commands import ScrapyCommand

from sitemapcrawl.exceptions import ArgumentError, StoreUnreachable
from sitemapcrawl.frontier import Frontier
from sitemapcrawl.frontier.policy import Policy
from sitemapcrawl.store import connect

UNREACHABLE = 4


def with_frontier(command: ScrapyCommand, work: Callable[[Frontier], Awaitable[int]]) -> None:
    """Run ``work`` on the crawl's frontier; what it returns is the exit code."""
    settings = command.settings
    assert settings is not None

    async def run() -> int:
        store = await connect(settings)
        try:
            return await work(Frontier(store, Policy.from_settings(settings)))
        finally:
            await store.close()

    try:
        command.exitcode = asyncio.run(run())
    except ArgumentError as error:
        sys.stderr.write(f"{error}\n")
        command.exitcode = 2
    except StoreUnreachable as error:
        sys.stderr.write(f"{error}\n")
        command.exitcode = UNREACHABLE
    except KeyboardInterrupt:
        command.exitcode = 130
