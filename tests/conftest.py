"""What all tests share: a private server, a frontier on it, a web on loopback, whole crawls in subprocesses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from scrapy.settings import Settings
from web import Web

from sitemapcrawl import settings as project_settings

ROOT = Path(__file__).parent.parent


@pytest.fixture
def web():
    with Web() as site:
        yield site


@pytest.fixture
def store_dir():
    """A short folder of its own: a socket's path is limited to some 100 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="sc-"))
    yield folder
    deadline = time.monotonic() + 5
    while (folder / "valkey.sock").exists() and time.monotonic() < deadline:
        time.sleep(0.02)  # the keeper is stopping the server
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def settings(store_dir):
    """The project's settings on an embedded store of the test's own, without delays."""
    found = Settings()
    found.setmodule(project_settings, priority="project")
    found.setdict(
        {
            "REDIS_URL": None,
            "SITEMAPCRAWL_STORE_DIR": str(store_dir),
            "SITEMAPCRAWL_HOST_DELAY_SECONDS": 0,
        },
        priority="cmdline",
    )
    return found


class Project:
    """Runs the project's commands as a user would, each in a process of its own."""

    def __init__(self, store_dir: Path) -> None:
        self.store_dir = store_dir
        self.options = {
            "SITEMAPCRAWL_HOST_DELAY_SECONDS": 0,
            "SITEMAPCRAWL_PATIENCE_SECONDS": 2,
            "SITEMAPCRAWL_BACKOFF_SECONDS": 0.2,
            "ROBOTSTXT_OBEY": True,
        }
        self.environment = {name: value for name, value in os.environ.items() if name != "REDIS_URL"}
        self.environment |= {"SITEMAPCRAWL_STORE_DIR": str(store_dir), "PYTHONWARNINGS": "error"}

    def command(self, *words, **options):
        given = [f"{name}={value}" for name, value in (self.options | options).items()]
        return [sys.executable, "-m", "scrapy", *map(str, words), *(part for one in given for part in ("-s", one))]

    def run(self, *words, timeout=120, input=None, **options):
        return subprocess.run(
            self.command(*words, **options), cwd=ROOT, env=self.environment, capture_output=True, text=True,
            timeout=timeout, input=input,
        )  # fmt: skip

    def start(self, *words, **options):
        return subprocess.Popen(
            self.command(*words, **options), cwd=ROOT, env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def crawl(self, seeds, *words, **options):
        return self.run("crawl", "sitemap", "-a", f"seeds={seeds}", *words, **options)

    def urls(self):
        return self.run("urls", "--format", "txt").stdout.splitlines()


@pytest.fixture
def project(store_dir):
    return Project(store_dir)
