"""Ctrl-C and SIGTERM: what runs ends, the rest is given back, and the same command does the rest later."""

import json
import signal
import time
from collections import Counter

import pytest
import redis

from sitemapcrawl.keeper import Hold

FILES = 12


@pytest.fixture
def project(project):
    """The project with its embedded store kept up between commands, so that it can be looked into."""
    hold = Hold(project.store_dir)
    yield project
    hold.release()
    while hold.socket.exists():  # the server leaves before its folder does
        time.sleep(0.01)


@pytest.fixture
def shop(web):
    shop = web.host("shop")
    shop.robots("Sitemap: /index.xml")
    shop.index("/index.xml", [f"/{n}.xml" for n in range(FILES)])
    for n in range(FILES):
        shop.sitemap(f"/{n}.xml", [f"/page-{n}"], delay=0.25)
    return shop


def leased(project):
    with redis.Redis(unix_socket_path=str(project.store_dir / "valkey.sock")) as client:
        return [key for pattern in ("*:leases", "*:lease") for key in client.scan_iter(match=pattern)]


def wait_until(holds, seconds=15):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_drains_gives_back_and_the_same_command_reads_only_what_was_not_read(shop, project, number):
    command = ("crawl", "sitemap", "-a", f"seeds={shop.url}", "-o", "-:jsonl")
    worker = project.start(*command)
    wait_until(lambda: len(shop.log) >= 5)

    worker.send_signal(number)
    begin = time.monotonic()
    first, errors = worker.communicate(timeout=30)

    assert 130 == worker.returncode, errors
    assert 5 > time.monotonic() - begin
    assert "was interrupted" in errors
    assert "The same command goes on where this one stopped." in errors
    assert "Traceback" not in errors
    assert [] == leased(project)
    assert len(shop.log) < FILES

    second = project.run(*command)

    assert 0 == second.returncode, second.stderr
    assert "(resumed)" in second.stderr
    assert {1} == set(Counter(fetch.path for fetch in shop.log).values()), "what was read is not fetched again"
    rows = [json.loads(line)["url"] for line in (first + second.stdout).splitlines()]
    assert sorted(shop.at(f"/page-{n}") for n in range(FILES)) == sorted(rows)
    assert sorted(rows) == sorted(project.urls())


def test_one_worker_that_is_stopped_leaves_its_rest_to_the_other(web, project):
    hosts = [web.host(f"h{n}") for n in range(6)]
    for host in hosts:
        host.robots("\n".join(f"Sitemap: /{n}.xml" for n in range(5)))
        for n in range(5):
            host.sitemap(f"/{n}.xml", [f"/page-{n}"], delay=0.2)
    command = ("crawl", "sitemap", "-a", "seeds=" + "\n".join(host.url for host in hosts))
    stopped, other = project.start(*command), project.start(*command)
    wait_until(lambda: len(web.log) >= 12)

    stopped.send_signal(signal.SIGTERM)

    _, errors = stopped.communicate(timeout=30)
    assert 130 == stopped.returncode, errors
    _, errors = other.communicate(timeout=60)
    assert 0 == other.returncode, errors
    assert 30 == len(project.urls())
    assert {1} == set(Counter((fetch.host, fetch.path) for fetch in web.log).values())
    assert [] == leased(project)


def test_a_run_that_is_given_up_by_run_new_lets_other_filters_in(shop, project):
    worker = project.start("crawl", "sitemap", "-a", f"seeds={shop.url}")
    wait_until(lambda: len(shop.log) >= 4)
    worker.send_signal(signal.SIGINT)
    worker.communicate(timeout=30)

    fresh = project.crawl(shop.url, "-a", "run=new", "-a", "sitemap_include=/1.xml", "-o", "-:txt")

    assert (0, [shop.at("/page-1")]) == (fresh.returncode, fresh.stdout.splitlines())


@pytest.mark.parametrize("seconds", [0.0, 0.1])
def test_a_signal_right_after_the_start_ends_the_worker_as_well(shop, project, seconds):
    worker = project.start("crawl", "sitemap", "-a", f"seeds={shop.url}", LOG_LEVEL="INFO")
    for line in worker.stderr:
        if "run " in line and "of the crawl" in line:
            break
    time.sleep(seconds)

    worker.send_signal(signal.SIGTERM)
    try:
        _, errors = worker.communicate(timeout=15)
    finally:
        worker.kill()

    assert 130 == worker.returncode, errors
    assert [] == leased(project)
