"""A small real web for the tests: many hosts on loopback, one asyncio thread, faults on demand.

    with Web() as web:
        shop = web.host("shop")
        shop.robots(f"Sitemap: {shop.url}/sitemap.xml")
        shop.sitemap("/sitemap.xml", ["/a", {"loc": "/b", "lastmod": "2026-01-01"}], gz=True)
        shop.add("/flaky.xml", Page(times=[Page(status=503), Page("fine")]))
        shop.add("*", Page(status=410))  # every path that was not added; without it 404

Knows HTTP/1.1 as far as crawlers use it, and how servers fail. Refuses to know Scrapy and the crawl.
To serve from a process of its own, see ``outside`` and ``main``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self
from urllib.parse import urljoin
from xml.sax.saxutils import escape

TYPES = {".xml": "application/xml", ".gz": "application/gzip", ".txt": "text/plain; charset=utf-8"}
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
SERVER_CALL_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Page:
    """What a host answers at one path."""

    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0  #: seconds before answering
    hang: bool = False  #: never answers
    close: bool = False  #: drops the connection: at once without a body, half-way through one
    etag: str = ""  #: sent as it is; a request whose If-None-Match has it gets 304
    times: Sequence[Page] = ()  #: answered one after another instead of this page, the last again and again

    @property
    def data(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body


@dataclass(frozen=True, slots=True)
class Fetch:
    """One request a host got."""

    t: float  #: time.monotonic() when the request line had been read; the same clock in all processes of a machine
    host: str
    method: str
    path: str  #: with the query
    status: int  #: as answered; 0 when the page hangs or drops the connection before answering
    headers: Mapping[str, str]  #: names in lower case


class Host:
    """One web server: a port of its own, its pages and its log. Made by ``Web.host``, safe from any thread."""

    def __init__(self, web: Web, name: str, port: int) -> None:
        self.name = name
        self.log: list[Fetch] = []
        self._web = web
        self._pages: dict[str, list[Page]] = {}
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.StreamWriter] = set()

    def add(self, path: str, page: Page | str | bytes) -> str:
        """Serve ``page`` at ``path`` (``*``: wherever nothing else is) and return its URL."""
        page = page if isinstance(page, Page) else Page(page)
        self._pages[path] = list(page.times) or [page]
        return self.at(path)

    def robots(self, text: str) -> str:
        return self.add("/robots.txt", text)

    def sitemap(self, path: str, urls: Iterable[str | Mapping[str, str]], *, gz: bool = False, **page: Any) -> str:
        """Serve a urlset of locs, or of mappings of element names to texts; paths are joined to the host."""
        data = self._xml("urlset", "url", urls)
        return self.add(path, Page(_packed(data) if gz else data, **page))

    def index(self, path: str, children: Iterable[str | Mapping[str, str]], *, gz: bool = False, **page: Any) -> str:
        """Serve a sitemapindex; ``children`` as in ``sitemap``."""
        data = self._xml("sitemapindex", "sitemap", children)
        return self.add(path, Page(_packed(data) if gz else data, **page))

    def at(self, path: str) -> str:
        return urljoin(self.url + "/", path)

    def dead(self) -> None:
        """Refuse connections from now on. The port stays reserved, so that nobody else answers there."""
        self._web._call(self._stop())
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", self.port))

    def _xml(self, root: str, element: str, rows: Iterable[str | Mapping[str, str]]) -> bytes:
        rows = ({"loc": row} if isinstance(row, str) else row for row in rows)
        rows = ({**row, "loc": self.at(row["loc"])} for row in rows)
        lines = ("".join(f"<{name}>{escape(text)}</{name}>" for name, text in row.items()) for row in rows)
        items = "\n".join(f"<{element}>{line}</{element}>" for line in lines)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{NAMESPACE}">\n{items}\n</{root}>\n'.encode()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._talk, sock=self._socket, backlog=1024)

    async def _stop(self) -> None:
        if self._server:
            self._server.close()
        self._socket.close()
        for writer in list(self._connections):
            writer.transport.abort()
        await asyncio.sleep(0)  # lets the transports close before the caller goes on

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, ValueError, asyncio.IncompleteReadError):
            pass  # the client left, or does not speak HTTP
        finally:
            self._connections.discard(writer)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection stays open."""
        line = await reader.readline()
        t = time.monotonic()
        if not line.strip():
            return False
        method, path, version = line.decode("latin-1").split()
        headers = await _read_headers(reader)
        await reader.readexactly(int(headers.get("content-length", 0)))
        page = self._take(path)
        status = _status(page, headers)
        self._web._record(self, Fetch(t, self.name, method, path, status, headers))
        if page.hang:
            await reader.read()  # until the client leaves or the host stops
            return False
        await asyncio.sleep(page.delay)
        stays = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close" and not page.close
        if status:
            writer.write(_render(page, path, method, status, stays=stays))
            await writer.drain()
        return stays

    def _take(self, path: str) -> Page:
        bare = path.partition("?")[0]
        pages = self._pages.get(path) or self._pages.get(bare) or self._pages.get("*") or [Page("no such page", 404)]
        return pages.pop(0) if len(pages) > 1 else pages[0]


class Web:
    """Hosts by name, served while the context is open. ``log`` holds the fetches of all, in order of arrival."""

    def __init__(self, on_fetch: Callable[[Fetch], None] = lambda fetch: None) -> None:
        self.hosts: dict[str, Host] = {}
        self.log: list[Fetch] = []
        self._on_fetch = on_fetch
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="web", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SERVER_CALL_SECONDS)
        self._loop.close()

    def host(self, name: str, port: int = 0) -> Host:
        """Return the host of that name, started at its first mention (port 0: the system chooses)."""
        if name not in self.hosts:
            host = Host(self, name, port)
            self._call(host._start())
            self.hosts[name] = host
        return self.hosts[name]

    def _record(self, host: Host, fetch: Fetch) -> None:
        host.log.append(fetch)
        self.log.append(fetch)
        self._on_fetch(fetch)

    def _call(self, coroutine: Any) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(SERVER_CALL_SECONDS)

    async def _stop(self) -> None:
        for host in self.hosts.values():
            await host._stop()
        talks = asyncio.all_tasks() - {asyncio.current_task()}
        for talk in talks:
            talk.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
        await asyncio.sleep(0)  # lets the last transports close


def _packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


async def _read_headers(reader: asyncio.StreamReader) -> dict[str, str]:
    headers = {}
    while (line := await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    return headers


def _status(page: Page, headers: Mapping[str, str]) -> int:
    if page.hang or (page.close and not page.data):
        return 0
    if page.etag and page.etag in headers.get("if-none-match", ""):
        return HTTPStatus.NOT_MODIFIED
    return page.status


def _render(page: Page, path: str, method: str, status: int, *, stays: bool) -> bytes:
    data = b"" if status == HTTPStatus.NOT_MODIFIED else page.data
    kind = TYPES.get(Path(path.partition("?")[0]).suffix, "text/html; charset=utf-8")
    headers = {"Content-Type": kind, "Content-Length": str(len(data)), "Connection": "keep-alive" if stays else "close"}
    if page.etag:
        headers["ETag"] = page.etag
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in {**headers, **page.headers}.items())]
    if method == "HEAD":
        data = b""
    elif page.close:
        data = data[: len(data) // 2]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + data


def serve(site: Mapping[str, Any], web: Web) -> dict[str, str]:
    """Add the hosts of a JSON description to ``web`` and return their URLs by name.

    {"shop": {"port": 8001, "dead": false, "pages": {"/a": "text", "/b.gz": {"body": "text", "gz": true, "delay": 2}}}}

    ``port`` may be left out. A page is its body, or the fields of ``Page``; ``gz`` compresses the body.
    """
    for name, described in site.items():
        host = web.host(name, described.get("port", 0))
        for path, page in described.get("pages", {}).items():
            host.add(path, _page(page))
        if described.get("dead"):
            host.dead()
    return {name: host.url for name, host in web.hosts.items()}


def _page(described: str | Mapping[str, Any]) -> Page:
    if isinstance(described, str):
        return Page(described)
    fields = dict(described)
    if fields.pop("gz", False):
        fields["body"] = _packed(fields["body"].encode())
    fields["times"] = [_page(page) for page in fields.get("times", ())]
    return Page(**fields)


@contextlib.contextmanager
def outside(site: Mapping[str, Any], folder: Path) -> Iterator[dict[str, str]]:
    """Serve a JSON description from a process of its own; yield the URLs by name, log to ``folder``/fetches.jsonl."""
    (folder / "site.json").write_text(json.dumps(site))
    command = [sys.executable, __file__, folder / "site.json", "--log", folder / "fetches.jsonl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()


def read_log(path: Path) -> list[Fetch]:
    return [Fetch(**json.loads(line)) for line in path.read_text().splitlines()]


def main() -> None:
    """Serve until SIGTERM or Ctrl-C. The first line on standard output is the JSON of URLs by host name."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("site", type=Path, help="a JSON file, see serve()")
    parser.add_argument("--log", type=Path, default=Path("/dev/null"), help="a file that gets one JSON line per fetch")
    options = parser.parse_args()
    stopping = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, stopping)
    with (
        options.log.open("a", buffering=1) as log,
        Web(lambda fetch: print(json.dumps(asdict(fetch)), file=log)) as web,
    ):
        print(json.dumps(serve(json.loads(options.site.read_text()), web)), flush=True)
        signal.sigwait(stopping)


if __name__ == "__main__":
    main()
