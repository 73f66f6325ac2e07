"""The connection to Redis or to the embedded store, and the frontier's scripts on it.

Knows how to connect and how to wait: when the server is away, full, loading or failing over, every call waits, says
so once, and goes on by itself. Refuses to know what the scripts mean.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import redis.asyncio
from redis import exceptions as errors
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from scrapy.settings import BaseSettings
from scrapy.utils.project import data_path, inside_project
from scrapy_redis import connection, defaults

from sitemapcrawl.exceptions import ArgumentError, StoreUnreachable
from sitemapcrawl.keeper import Hold

logger = logging.getLogger(__name__)

_SCRIPTS = Path(__file__).parent / "frontier" / "scripts"
#: Scripts on the crawl's own keys; all others work on one partition and stand on common.lua.
_CRAWL_WIDE = ("run", "beat", "grant", "take_seeds")
_CONNECT_SECONDS = 5.0
#: A call unanswered for so long is made again; every script may be run twice.
_ANSWER_SECONDS = 5.0
#: Calls under way at once from one process.
_CONNECTIONS = 16
_SHORTEST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 1.0
#: What scrapy-redis's settings may hold and an asyncio client refuses, or would decode records with.
_REFUSED = ("redis_cls", "retry_on_timeout", "decode_responses", "encoding")
_PASSING = (
    errors.ConnectionError,
    errors.TimeoutError,
    errors.OutOfMemoryError,
    errors.ReadOnlyError,
    errors.ClusterDownError,
    errors.TryAgainError,
    errors.MasterDownError,
    OSError,
)


class Store:
    """A Redis client that waits instead of failing."""

    def __init__(self, client: redis.asyncio.Redis, hold: Hold | None = None) -> None:
        self.client = client
        self._hold = hold
        self._scripts: dict[str, Any] = {}
        self._away_since: float | None = None
        self._connections = asyncio.Semaphore(_CONNECTIONS)

    async def script(self, name: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        """Run ``frontier/scripts/NAME.lua`` in the slot of its keys."""
        script = self._scripts.get(name) or self._scripts.setdefault(name, self.client.register_script(_source(name)))
        return await self._patiently(lambda: script(keys=keys, args=arguments))

    async def command(self, *words: Any) -> Any:
        """Run one command, answered in bytes."""
        return await self._patiently(lambda: self.client.execute_command(*words))  # type: ignore[no-untyped-call]

    async def _patiently(self, operation: Callable[[], Awaitable[Any]]) -> Any:
        pause, started = _SHORTEST_PAUSE_SECONDS, time.monotonic()
        while True:
            try:
                async with self._connections:
                    answer = await operation()
            except _PASSING as error:
                # a pooled connection that the server closed long ago is no news
                if self._away_since is None and time.monotonic() > started + 2 * _SHORTEST_PAUSE_SECONDS:
                    self._away_since = started
                    logger.warning("Redis does not serve (%s): waiting, the crawl goes on when it is back", error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
            else:
                if self._away_since is not None:
                    logger.info("Redis is back after %.1f s", time.monotonic() - self._away_since)
                    self._away_since = None
                return answer

    async def close(self) -> None:
        """Close the connections and let an embedded store go."""
        await self.client.aclose()
        if self._hold:
            self._hold.release()


async def connect(settings: BaseSettings) -> Store:
    """Connect as scrapy-redis's settings say, or to the embedded store where they say nothing.

    Raises:
        ArgumentError: REDIS_URL is no address.
        StoreUnreachable: nobody answers, or nothing is configured outside a project; one sentence.
    """
    parameters, hold = _parameters(settings), None
    if not {"url", "host", "unix_socket_path"} & parameters.keys():
        hold = Hold(store_folder(settings))
        parameters["unix_socket_path"] = str(hold.socket)
    parameters |= {"redis_cls": redis.asyncio.Redis, "retry": Retry(NoBackoff(), 0)}
    try:
        client = connection.get_redis(**parameters)
        await client.ping()
    except ValueError as error:
        raise ArgumentError(f"REDIS_URL={_without_password(parameters.get('url'))}: {error}") from None
    except (errors.RedisError, OSError) as error:
        where = parameters.get("url") or parameters.get("host") or parameters.get("unix_socket_path")
        reason = str(error).rstrip(".")
        raise StoreUnreachable(f"No Redis answers at {_without_password(where)}: {reason}. Check REDIS_URL.") from None
    return Store(client, hold)


def store_folder(settings: BaseSettings) -> Path:
    """Return the embedded store's folder: the setting's, or ``.scrapy/store`` in the project."""
    if folder := settings.get("SITEMAPCRAWL_STORE_DIR"):
        return Path(folder)
    if not inside_project():
        raise StoreUnreachable("REDIS_URL is not set, and outside a project there is no embedded store.")
    return Path(data_path("store"))


def _parameters(settings: BaseSettings) -> dict[str, Any]:
    given = settings.getdict("REDIS_PARAMS")
    parameters = defaults.REDIS_PARAMS | {
        "socket_timeout": _ANSWER_SECONDS,
        "socket_connect_timeout": _CONNECT_SECONDS,
    }
    parameters |= given
    for setting, name in connection.SETTINGS_PARAMS_MAP.items():
        if value := settings.get(setting):
            parameters[name] = value
    return {name: value for name, value in parameters.items() if name not in _REFUSED}


def _without_password(where: Any) -> str:
    scheme, mark, rest = str(where).rpartition("://")
    return scheme + mark + rest.rpartition("@")[2]


@cache
def _source(name: str) -> str:
    source = (_SCRIPTS / f"{name}.lua").read_text()
    return source if name in _CRAWL_WIDE else (_SCRIPTS / "common.lua").read_text() + source
