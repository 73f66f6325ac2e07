"""``scrapy demo``: the real spider on a small bundled web, in a temporary store, told step by step.

Knows which commands a user would type, and runs them as such. Refuses to know the spider, the store and
what they print.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import indent

from scrapy.commands import ScrapyCommand

import sitemapcrawl
from sitemapcrawl.demo.server import DemoWeb

WIDTH = 98
INTERRUPTED = 130
#: Settings of the crawl alone: a web on the same machine needs no long waits.
CRAWL_SETTINGS = {
    "SITEMAPCRAWL_BLACKLIST_FILE": "blacklist.txt",
    "SITEMAPCRAWL_HOST_DELAY_SECONDS": "0.1",
    "SITEMAPCRAWL_BACKOFF_SECONDS": "1",
    "SITEMAPCRAWL_PATIENCE_SECONDS": "5",
    "LOG_LEVEL": "WARNING",
}
NEXT = """\
scrapy crawl sitemap -a seeds=seeds.txt                  the seeds in seeds.txt: real sites
scrapy crawl sitemap -a seeds=example.org -O urls.jsonl  one site, and its URLs in a file
scrapy crawl sitemap -a seeds=seeds.txt -a since=7d      only what changed within a week
scrapy read https://example.org/sitemap.xml              one file, and what is wrong with it
"""
_STOP_SECONDS = 5
_NOT_OURS = ("REDIS_", "SITEMAPCRAWL_", "NO_PROXY", "no_proxy")


class Command(ScrapyCommand):
    requires_project = False
    requires_crawler_process = False

    def short_desc(self) -> str:
        return "Show the main job on a small web of its own, offline, in a few seconds"

    def long_desc(self) -> str:
        return (
            "Serve a few hosts on loopback, with the faults real ones have; run the sitemap spider on them in a "
            "temporary store; list what it found, and what it refused and why. Nothing is left behind."
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # leave as at Ctrl-C: with everything cleaned up
        try:
            with ExitStack() as stack:
                web = stack.enter_context(DemoWeb(datetime.now(UTC)))
                folder = TemporaryDirectory(prefix="sitemapcrawl-demo-", ignore_cleanup_errors=True)
                path = Path(stack.enter_context(folder))
                stack.callback(_await_store_end, path)
                self.exitcode = _show(web, path)
        except KeyboardInterrupt:
            self.exitcode = INTERRUPTED


def _show(web: DemoWeb, folder: Path) -> int:
    """Tell the story; return the exit code of the crawl."""
    for name, text in {"seeds.txt": web.seeds(), "blacklist.txt": web.blacklist()}.items():
        (folder / name).write_text(text, encoding="utf-8")
    _heading(1, f"A web of {len(web.hosts)} hosts on this machine, each with a port of its own. seeds.txt:")
    _say(indent(web.seeds().rstrip(), "  "))
    _heading(2, "The crawl: seeds -> robots.txt -> sitemaps -> filters -> ranking -> store")
    exitcode = _run(["crawl", "sitemap", "-a", "seeds=seeds.txt"], CRAWL_SETTINGS, folder)
    _heading(3, "What is in the store: the best URLs of all hosts")
    _run(["urls", "--top", "10"], {}, folder)
    _heading(4, "What is in the store: the sitemaps, and what was wrong with them")
    _run(["sitemaps"], {}, folder)
    _heading(5, "What to try next")
    _say(indent(NEXT.rstrip(), "  "))
    return exitcode


def _run(arguments: Sequence[str], settings: Mapping[str, str], folder: Path) -> int:
    """Say and run one scrapy command in the demo's folder; return its exit code.

    It runs in a process group of its own, so that at Ctrl-C it gets exactly one signal, from here: the second
    one would make Scrapy leave without cleaning up.
    """
    options = [f"-s {name}={value}" for name, value in {"SITEMAPCRAWL_STORE_DIR": "store", **settings}.items()]
    between = " \\\n        " if len(options) > 1 else " "
    _say("  $ scrapy " + between.join((" ".join(arguments), *options)) + "\n")
    command = [sys.executable, "-m", "scrapy", *arguments, *" ".join(options).split()]
    with subprocess.Popen(command, cwd=folder, env=_environment(), process_group=0) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            _stop(child)
            raise


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(_STOP_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        child.kill()


def _await_store_end(folder: Path) -> None:
    """Wait for the embedded store, which ends just after its last user and takes its socket away last."""
    deadline = time.monotonic() + _STOP_SECONDS
    while any(folder.glob("store/*.sock")) and time.monotonic() < deadline:
        time.sleep(0.02)


def _environment() -> dict[str, str]:
    """Return an environment in which the project is found from any folder, and nothing of the user's interferes."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_OURS)}
    root = str(Path(sitemapcrawl.__file__).parents[1])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    return kept | {"SCRAPY_SETTINGS_MODULE": "sitemapcrawl.settings", "PYTHONPATH": path, "no_proxy": "127.0.0.1"}


def _heading(number: int, text: str) -> None:
    _say(f"\n{number}. {text}\n{'─' * WIDTH}")


def _say(text: str) -> None:
    print(text, flush=True)
