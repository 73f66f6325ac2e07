"""The demo's web: a few hosts on loopback, each on a port of its own, serving the files in ``site/``.

``site/HOST/...`` is what HOST serves; ``site/seeds.txt`` and ``site/blacklist.txt`` are what the crawl is
given. In all of them ``{HOST}`` stands for a host's URL without the final slash, ``{HOST_host}`` for its address and
port, ``{3h ago}`` and ``{2d ago}`` for a moment.

Knows what it serves and where. Refuses to know who reads it, and the crawl.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Self, cast

SITE = Path(__file__).parent / "site"
#: Files that are served packed, under the name with ``.gz``: host and path.
PACKED = {("shop", "/products.xml")}
#: Paths that answer 503 with ``Retry-After: 1`` the first time they are asked for: host and path.
UNAVAILABLE_AT_FIRST = {("shop", "/reviews.xml")}

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_AGO = re.compile(r"\{(\d+)([hd]) ago\}")
_HOURS = {"h": 1, "d": 24}
_TYPES = {".xml": "application/xml", ".gz": "application/gzip", ".txt": "text/plain; charset=utf-8"}
_POLL_SECONDS = 0.05
_IDLE_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host sends back."""

    status: HTTPStatus
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    retry_after_seconds: int | None = None


class DemoWeb:
    """The demo's hosts, served in daemon threads while the context is open."""

    def __init__(self, now: datetime) -> None:
        self.hosts: dict[str, str] = {}  #: base URL, without a final slash, by name
        self._now = now
        self._servers: list[_Server] = []

    def __enter__(self) -> Self:
        """Bind every host's port, so that their files can name each other, and begin to serve."""
        self._servers = [_Server(folder.name) for folder in sorted(SITE.iterdir()) if folder.is_dir()]
        self.hosts = {server.name: f"http://127.0.0.1:{server.server_port}" for server in self._servers}
        for server in self._servers:
            server.answers = self._answers(server.name)
            Thread(target=server.serve_forever, args=(_POLL_SECONDS,), name=server.name, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def seeds(self) -> str:
        """Return the text of the seed file."""
        return self._filled(SITE / "seeds.txt")

    def blacklist(self) -> str:
        """Return the text of the blacklist file."""
        return self._filled(SITE / "blacklist.txt")

    def _answers(self, host: str) -> Mapping[str, Answer]:
        folder = SITE / host
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        return dict(self._answer(host, f"/{path.relative_to(folder)}", path) for path in files)

    def _answer(self, host: str, path: str, file: Path) -> tuple[str, Answer]:
        body = self._filled(file).encode()
        if (host, path) in PACKED:
            path, body = f"{path}.gz", gzip.compress(body)
        return path, Answer(HTTPStatus.OK, body, _TYPES[Path(path).suffix])

    def _filled(self, file: Path) -> str:
        text = _AGO.sub(self._moment, file.read_text(encoding="utf-8"))
        return _PLACEHOLDER.sub(lambda match: self._place(match[1]), text)

    def _place(self, name: str) -> str:
        host = name.removesuffix("_host")
        return self.hosts[host] if name == host else self.hosts[host].removeprefix("http://")

    def _moment(self, match: re.Match[str]) -> str:
        moment = self._now - timedelta(hours=int(match[1]) * _HOURS[match[2]])
        return moment.isoformat(timespec="seconds")


class _Server(ThreadingHTTPServer):
    """One host, on a port the system chose."""

    def __init__(self, name: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.name = name
        self.answers: Mapping[str, Answer] = {}
        self._unavailable = {path for host, path in UNAVAILABLE_AT_FIRST if host == name}
        self._lock = Lock()

    def answer(self, path: str) -> Answer:
        with self._lock:
            if path in self._unavailable:
                self._unavailable.remove(path)
                return Answer(HTTPStatus.SERVICE_UNAVAILABLE, b"Come back in a second.\n", retry_after_seconds=1)
        return self.answers.get(path, Answer(HTTPStatus.NOT_FOUND, b"No such file.\n"))

    def handle_error(self, request: object, client_address: object) -> None:
        """Report errors as the base class does, but for a client that left."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    """One connection; it is kept for the next request."""

    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS

    def do_HEAD(self) -> None:
        self._send_head()

    def do_GET(self) -> None:
        self.wfile.write(self._send_head().body)

    def _send_head(self) -> Answer:
        answer = cast("_Server", self.server).answer(self.path)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        if answer.retry_after_seconds is not None:
            self.send_header("Retry-After", str(answer.retry_after_seconds))
        self.end_headers()
        return answer

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server calls it so
        """Say nothing: the terminal belongs to the crawl."""
