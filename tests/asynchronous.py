"""Lets tests be coroutines on the reactor that pytest-twisted runs (``--reactor=asyncio``)."""

import asyncio
import contextlib
import functools

import pytest_twisted
from twisted.internet.defer import Deferred

from sitemapcrawl.frontier import Frontier
from sitemapcrawl.frontier.policy import Policy
from sitemapcrawl.store import connect


def asynchronous(test):
    """Run a coroutine test to its end on the reactor's loop."""

    @pytest_twisted.ensureDeferred
    @functools.wraps(test)
    async def run(*args, **kwargs):
        from twisted.internet import reactor

        task = reactor._asyncioEventloop.create_task(test(*args, **kwargs))
        return await Deferred.fromFuture(task)

    return run


@contextlib.asynccontextmanager
async def frontier_on(settings, **policy):
    """A frontier with a run, on the settings' store; ``policy`` overrides numbers of the settings' policy."""
    store = await connect(settings)
    base = Policy.from_settings(settings)
    values = {name: getattr(base, name) for name in Policy.__slots__} | {"robots_ttl_seconds": 0.0} | policy
    frontier = Frontier(store, Policy(**values))
    try:
        await frontier.join_run({})
        yield frontier
    finally:
        await store.close()


async def claim_one(frontier, host, worker="w"):
    """Claim the host's next request; None if there is none now."""
    claimed = await frontier.claim(frontier.keys.partition(host), worker, 1)
    return claimed.claims[0] if claimed.claims else None


async def eventually(ask, seconds=10.0):
    """Ask until the answer is true, and return it."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not (answer := await ask()):
        assert asyncio.get_running_loop().time() < deadline, "it did not happen in time"
        await asyncio.sleep(0.02)
    return answer
