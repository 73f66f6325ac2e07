"""Two hundred hosts, half of them dead, slow or lying: they hold up nobody, and each is named."""

import time

from web import Page


def faulty(web, number):
    """A host that is dead, hangs, drops connections, answers 500, or answers a page to everything."""
    host = web.host(f"bad{number}")
    match number % 5:
        case 0:
            host.dead()
        case 1:
            host.add("*", Page(hang=True))
        case 2:
            host.add("*", Page(close=True))
        case 3:
            host.add("*", Page("no", status=500))
        case 4:
            host.robots(f"Sitemap: {host.url}/sitemap.xml")
            host.add("*", Page("<!doctype html><html><body>Welcome</body></html>"))
    return host


def test_the_live_hosts_are_done_soon_and_the_summary_names_each_failure(project, web):
    live = [web.host(f"live{n}") for n in range(100)]
    for host in live:
        host.robots("User-agent: *\nAllow: /")
        host.index("/sitemap.xml", ["/pages.xml"])
        host.sitemap("/pages.xml", ["/a", "/b"])
    bad = [faulty(web, n) for n in range(100)]
    seeds = "\n".join(host.url for pair in zip(bad, live, strict=True) for host in pair)

    started = time.monotonic()
    done = project.crawl(
        "-", input=seeds, SITEMAPCRAWL_HOST_DELAY_SECONDS=0.1, SITEMAPCRAWL_BACKOFF_SECONDS=60,
        SITEMAPCRAWL_PATIENCE_SECONDS=5, SITEMAPCRAWL_ROBOTS_TIMEOUT_SECONDS=10,
    )  # fmt: skip

    assert 0 == done.returncode, done.stderr[-3000:]
    finished = max(fetch.t for host in live for fetch in host.log if fetch.path == "/pages.xml")
    assert finished - started < 15
    assert sorted(host.at(path) for host in live for path in ("/a", "/b")) == sorted(project.urls())
    missing = [host.name for host in bad if str(host.port) not in done.stderr.partition("\nRun ")[2]]
    assert [] == missing
