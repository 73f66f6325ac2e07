#!/usr/bin/env python3
"""10^6 URLs from one host: what one worker needs to find, read, rank and store them.

    bench/discover.py CORPUS_TOOL [--files 200] [--urls 5000] [--runs 3] [--peer "COMMAND {base}"]

CORPUS_TOOL makes the site: it is called as ``TOOL FOLDER --base URL --files N --urls N`` and writes robots.txt, an
index and gzipped sitemaps into FOLDER. nginx serves it on loopback; a store of its own is used and removed. Prints one
JSON line a run: wall and CPU seconds and peak memory of the worker, bytes a URL in Redis. ``--peer`` runs a command
in turn with ours, for a ratio taken in one run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scrapy.settings import Settings

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from sitemapcrawl.store import connect  # noqa: E402

NGINX = """
worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{ access_log off; keepalive_requests 100000;
  types {{ application/xml xml; application/x-gzip gz; text/plain txt; }}
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 127.0.0.1:{port}; root {folder}/site; }} }}
"""


@contextmanager
def served(tool: Path, port: int, files: int, urls: int) -> Iterator[str]:
    """Serve the corpus by nginx and yield its address."""
    base = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="sc-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # nginx's worker is another user when it is started by root
        size = ("--files", str(files), "--urls", str(urls))
        subprocess.run([sys.executable, tool, folder / "site", "--base", base, *size], check=True)
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
        server = subprocess.Popen([shutil.which("nginx") or "/usr/sbin/nginx", "-c", folder / "nginx.conf"])
        try:
            wait_for(base + "/robots.txt")
            yield base
        finally:
            server.terminate()
            server.wait()


def wait_for(url: str) -> None:
    for _ in range(100):
        try:
            urllib.request.urlopen(url).read()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"{url} does not answer")


def measured(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Run a command; return its wall and CPU seconds and its peak memory in MB."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"{shlex.join(command)}: exit code {process.returncode}")
    per_mb = 1024 * 1024 if sys.platform == "darwin" else 1024
    return {
        "wall_s": round(wall, 2),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_mb": round(usage.ru_maxrss / per_mb, 1),
    }


async def stored(folder: Path) -> dict[str, float]:
    """Return what the store holds: URLs seen and bytes of data a URL, the server's own start-up left out."""
    store = await connect(Settings({"SITEMAPCRAWL_STORE_DIR": str(folder)}))
    try:
        info = await store.client.info()
        seen = 0
        async for key in store.client.scan_iter(match="*:seen:*", count=1000):
            seen += await store.client.scard(key)
        data = info["used_memory_dataset"] + info["used_memory_overhead"] - info["used_memory_startup"]
        return {"urls": seen, "bytes_per_url": round(data / seen, 1)}
    finally:
        await store.close()


def ours(base: str) -> dict[str, float]:
    folder = Path(tempfile.mkdtemp(prefix="sc-"))
    options = {
        "SITEMAPCRAWL_HOST_DELAY_SECONDS": 0, "SITEMAPCRAWL_HOST_CONCURRENCY": 4, "LOG_LEVEL": "WARNING",
    }  # fmt: skip
    command = [sys.executable, "-m", "scrapy", "crawl", "sitemap", "-a", f"seeds={base}/"]
    command += [word for name, value in options.items() for word in ("-s", f"{name}={value}")]
    environment = {k: v for k, v in os.environ.items() if k != "REDIS_URL"} | {"SITEMAPCRAWL_STORE_DIR": str(folder)}
    try:
        return measured(command, environment) | asyncio.run(stored(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", type=Path)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--urls", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--port", type=int, default=18080)
    parser.add_argument("--peer", help="a command run in turn with ours; {base} is the site's address")
    options = parser.parse_args()
    with served(options.tool, options.port, options.files, options.urls) as base:
        for number in range(options.runs):
            print(json.dumps({"run": number, "who": "sitemapcrawl", **ours(base)}), flush=True)
            if options.peer:
                peer = shlex.split(options.peer.format(base=base))
                print(json.dumps({"run": number, "who": "peer", **measured(peer, dict(os.environ))}), flush=True)


if __name__ == "__main__":
    main()
