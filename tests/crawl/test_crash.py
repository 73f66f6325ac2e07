"""kill -9 of one of two workers: nothing is lost, nothing is listed or counted twice, the other one ends by itself."""

import asyncio
import random
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from scrapy.settings import Settings

from sitemapcrawl.frontier import Frontier, listing
from sitemapcrawl.frontier.policy import Policy
from sitemapcrawl.store import connect

FAULTY = Path(__file__).parent / "faulty.py"
FILES, URLS = 16, 40
OPTIONS = {"SITEMAPCRAWL_LEASE_SECONDS": 5, "SITEMAPCRAWL_PATIENCE_SECONDS": 2}


@pytest.fixture
def sites(web):
    """Two hosts of one site, an index and 16 sitemaps each; every sitemap lists pages of both hosts.

    localhost and 127.0.0.1 are two hosts to the crawler, so the first host's files make commits to two partitions.
    """
    for name in ("one", "two"):
        host, other = web.host(name), web.host("two" if name == "one" else "one")
        host.index("/index.xml", [f"/sm-{n}.xml" for n in range(FILES)])
        host.robots(f"Sitemap: {host.url}/index.xml")
        for n in range(FILES):
            mine = [host.at(f"/{name}/{n}/{k}") for k in range(URLS)]
            theirs = [other.at(f"/from-{name}/{n}/{k}") for k in range(5)]
            host.sitemap(f"/sm-{n}.xml", mine + theirs, delay=0.02)
    return web


def expected(web):
    urls = []
    for name, other in (("one", "two"), ("two", "one")):
        host, elsewhere = web.host(name), web.host(other)
        urls += [host.at(f"/{name}/{n}/{k}") for n in range(FILES) for k in range(URLS)]
        urls += [elsewhere.at(f"/from-{name}/{n}/{k}") for n in range(FILES) for k in range(5)]
    return sorted(urls)


def seeds(web):
    return "\n".join(web.host(name).url for name in ("one", "two"))


async def leases_and_seen(project):
    settings = Settings({"SITEMAPCRAWL_STORE_DIR": str(project.store_dir)})
    store = await connect(settings)
    try:
        frontier = Frontier(store, Policy())
        leased = seen = 0
        for partition in range(frontier.keys.partitions):
            leased += await store.command("ZCARD", f"{frontier.keys.tag(partition)}:leases")
        for host in await listing.hosts(frontier):
            buckets = await store.command("HGET", frontier.keys.of(host, f"host:{host}"), "seen_buckets")
            for bucket in range(int(buckets or 0)):
                seen += await store.command("SCARD", frontier.keys.of(host, f"seen:{host}:{bucket}"))
        return leased, seen
    finally:
        await store.close()


def run_apart(coroutine):
    """Run a coroutine on a loop of its own; this thread's loop is the reactor's."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def check(project, web, survivor):
    output = survivor.communicate(timeout=90)
    assert survivor.returncode == 0, output[1][-3000:]
    assert expected(web) == sorted(project.urls())
    assert (0, len(expected(web))) == run_apart(leases_and_seen(project))


def start_faulty(project, point, skip, *words, **options):
    command = project.command(*words, **options)
    command[1:3] = [str(FAULTY), point, str(skip)]
    return subprocess.Popen(
        command, cwd=FAULTY.parent.parent.parent, env=project.environment | {"PYTHONPATH": str(FAULTY.parent.parent.parent)},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("point", "skip"),
    [
        ("before-commit", 3),
        ("after-commit", 3),
        ("between-partitions", 2),
        ("during-top-up", 2),
        ("after-children-offered", 2),
        ("after-claim", 40),
    ],
)
def test_a_worker_that_dies_at_this_point_loses_nothing(project, sites, point, skip):
    crawl = ("crawl", "sitemap", "-a", f"seeds={seeds(sites)}")
    options = OPTIONS | {"SITEMAPCRAWL_CROSS_SUBMIT": "off"}
    victim = start_faulty(project, point, skip, *crawl, **options)
    survivor = project.start(*crawl, **options)

    _, errors = victim.communicate(timeout=60)

    assert -signal.SIGKILL == victim.returncode, errors[-3000:]
    check(project, sites, survivor)


@pytest.mark.parametrize("point", ["seeds-taken", "seeds-offered"])
def test_a_worker_that_dies_over_pushed_seeds_leaves_them_to_the_other(project, sites, point):
    options = OPTIONS | {"SITEMAPCRAWL_CROSS_SUBMIT": "off"}
    run_apart(push(project, seeds(sites).split("\n")))
    victim = start_faulty(project, point, 0, "crawl", "sitemap", **options)
    _, errors = victim.communicate(timeout=60)
    assert -signal.SIGKILL == victim.returncode, errors[-3000:]

    survivor = project.start("crawl", "sitemap", **options | {"MAX_IDLE_TIME_BEFORE_CLOSE": 8})

    check(project, sites, survivor)


async def push(project, lines):
    store = await connect(Settings({"SITEMAPCRAWL_STORE_DIR": str(project.store_dir)}))
    await store.command("RPUSH", "sitemap:start_urls", *lines)
    await store.command("SET", "kept", "1")
    await store.close()


def test_workers_that_die_at_random_times_lose_nothing(project, sites):
    rng = random.Random(20261201)
    crawl = ("crawl", "sitemap", "-a", f"seeds={seeds(sites)}")
    options = OPTIONS | {"SITEMAPCRAWL_CROSS_SUBMIT": "off", "SITEMAPCRAWL_HOST_DELAY_SECONDS": 0.3}
    options |= {"SITEMAPCRAWL_MAX_ATTEMPTS": 20}
    survivor = project.start(*crawl, **options)

    for _ in range(10):
        victim = project.start(*crawl, **options)
        time.sleep(1.2 + rng.random())
        victim.kill()
        victim.communicate()

    check(project, sites, survivor)


def test_the_keeper_outlives_its_starter_and_leaves_with_the_last_worker(project, sites):
    crawl = ("crawl", "sitemap", "-a", f"seeds={seeds(sites)}")
    options = OPTIONS | {"SITEMAPCRAWL_CROSS_SUBMIT": "off"}
    starter = project.start(*crawl, **options)
    time.sleep(1.5)
    other = project.start(*crawl, **options)
    time.sleep(1.5)

    starter.kill()
    starter.communicate()

    check(project, sites, other)
    deadline = time.monotonic() + 10
    while servers_of(project):
        assert time.monotonic() < deadline, "the server lingers"
        time.sleep(0.1)


def test_nothing_lingers_when_the_last_worker_is_killed(project, sites):
    worker = project.start("crawl", "sitemap", "-a", f"seeds={seeds(sites)}", SITEMAPCRAWL_HOST_DELAY_SECONDS=1)
    while not servers_of(project):
        time.sleep(0.1)
    time.sleep(1)

    worker.kill()
    worker.communicate()

    deadline = time.monotonic() + 10
    while servers_of(project):
        assert time.monotonic() < deadline, "the server lingers"
        time.sleep(0.1)


def servers_of(project):
    found = subprocess.run(["pgrep", "-f", str(project.store_dir)], capture_output=True, text=True).stdout.split()
    mine = []
    for pid in found:
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"keeper" in command or b"valkey" in command:
            mine.append(pid)
    return mine
