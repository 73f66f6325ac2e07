"""Politeness by the web server's own clock: two workers, one delay."""

import json
from itertools import pairwise

import pytest
from web import outside, read_log

FILES = 130
DELAY = 0.2


@pytest.fixture
def site(tmp_path):
    """Four hosts with 130 small sitemaps each, served from a process of its own."""
    head = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    pages = {f"/sm-{n}.xml": f"{head}<url><loc>/p/{n}</loc></url></urlset>" for n in range(FILES)}
    lines = "\n".join(f"Sitemap: /sm-{n}.xml" for n in range(FILES))
    described = {f"host{k}": {"pages": {"/robots.txt": lines, **pages}} for k in range(4)}
    with outside(json.loads(json.dumps(described)), tmp_path) as urls:
        yield urls, tmp_path / "fetches.jsonl"


def test_no_gap_between_two_requests_to_a_host_is_shorter_than_the_delay(project, site):
    urls, log = site
    seeds = "\n".join(urls.values())
    options = {"SITEMAPCRAWL_HOST_DELAY_SECONDS": DELAY}

    workers = [project.start("crawl", "sitemap", "-a", f"seeds={seeds}", **options) for _ in range(2)]
    outputs = [worker.communicate(timeout=120)[1] for worker in workers]

    assert [0, 0] == [worker.returncode for worker in workers], outputs
    fetches = read_log(log)
    gaps = []
    for host in urls:
        times = [fetch.t for fetch in fetches if fetch.host == host]
        gaps += [later - earlier for earlier, later in pairwise(times)]
    assert 4 * FILES == len(gaps)
    assert min(gaps) >= DELAY - 0.01


def test_a_crawl_delay_is_obeyed_up_to_the_cap(project, web):
    slow, capped = web.host("slow"), web.host("capped")
    for host, delay in ((slow, 1), (capped, 100)):
        host.robots(f"User-agent: *\nCrawl-delay: {delay}\nSitemap: {host.url}/a.xml\nSitemap: {host.url}/b.xml")
        for name in "ab":
            host.sitemap(f"/{name}.xml", ["/p"])

    done = project.crawl(f"{slow.url}\n{capped.url}", SITEMAPCRAWL_CRAWL_DELAY_CAP_SECONDS=2)

    assert 0 == done.returncode, done.stderr
    for host, delay in ((slow, 1), (capped, 2)):
        times = [fetch.t for fetch in host.log]
        assert 3 == len(times)
        assert times[2] - times[1] >= delay - 0.01
    assert capped.log[-1].t - capped.log[0].t < 10
