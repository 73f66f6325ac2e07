"""What a crawl leaves behind and how people get at it: feeds, the summary, the listing commands, the sorted sets."""

import csv
import io
import json
import time
from xml.etree import ElementTree

import pytest
import redis
from web import Page

from sitemapcrawl.keeper import Hold

FIELDS = ["url", "lastmod", "changefreq", "priority", "rank", "sitemap", "site"]


@pytest.fixture
def hold(store_dir):
    """The embedded store kept up between commands, which spares each of them a start and a stop."""
    hold = Hold(store_dir)
    yield hold
    hold.release()
    while hold.socket.exists():  # the server leaves before its folder does
        time.sleep(0.01)


@pytest.fixture
def shop(web):
    """A host whose pages are listed by two files; /both by each of them."""
    shop = web.host("shop")
    shop.robots("Sitemap: /tagged.xml\nSitemap: /plain.xml.gz")
    full = {"loc": "/full", "lastmod": "2026-11-30T10:00:00Z", "changefreq": "daily", "priority": "0.9"}
    shop.sitemap("/tagged.xml", [full, {"loc": "/low", "priority": "0.1"}, "/both"], etag='"v1"')
    shop.sitemap("/plain.xml.gz", [{"loc": "/dir/deep/er", "lastmod": "2020-01-01"}, "/both"], gz=True)
    return shop


def jsonl(text):
    return [json.loads(line) for line in text.splitlines()]


def by_url(rows):
    return sorted(rows, key=lambda row: (row["url"], row["sitemap"]))


# Feeds


@pytest.mark.usefixtures("hold")
def test_every_feed_has_a_line_for_each_url_and_an_unchanged_site_writes_the_same_again(project, shop, tmp_path):
    names = ("urls.jsonl", "urls.csv", "urls.xml", "urls.txt")
    outputs = [word for name in names for word in ("-O", str(tmp_path / name))]
    project.crawl(shop.url, *outputs)

    first = {name: (tmp_path / name).read_text() for name in names}
    rows = jsonl(first["urls.jsonl"])
    assert sorted(map(shop.at, ("/full", "/low", "/both", "/both", "/dir/deep/er"))) == [r["url"] for r in by_url(rows)]
    assert [FIELDS] * 5 == [list(row) for row in rows]
    full = next(row for row in rows if row["url"] == shop.at("/full"))
    assert {
        "url": shop.at("/full"), "lastmod": "2026-11-30T10:00:00Z", "changefreq": "daily", "priority": 0.9,
        "rank": full["rank"], "sitemap": shop.at("/tagged.xml"), "site": f"127.0.0.1:{shop.port}",
    } == full  # fmt: skip
    texts = [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows]
    assert texts == list(csv.DictReader(io.StringIO(first["urls.csv"])))
    elements = ElementTree.fromstring(first["urls.xml"])
    assert [row["url"] for row in rows] == [element.findtext("url") for element in elements]
    assert [row["url"] for row in rows] == first["urls.txt"].splitlines()

    second = project.crawl(shop.url, *outputs)

    assert 304 in [fetch.status for fetch in shop.log if fetch.path == "/tagged.xml"]
    assert 0 == second.returncode
    assert by_url(rows) == by_url(jsonl((tmp_path / "urls.jsonl").read_text()))
    for name in names:
        assert sorted(first[name].splitlines()) == sorted((tmp_path / name).read_text().splitlines())
    assert "2 unchanged" in second.stderr
    assert "5 listed: 0 new, 5 known (5 in unchanged sitemaps)" in second.stderr


@pytest.mark.usefixtures("hold")
def test_standard_output_carries_data_only_and_the_summary_tells_the_rest_on_standard_error(project, web, shop):
    busy, dead = web.host("busy"), web.host("dead")
    shop.robots("Sitemap: /tagged.xml\nSitemap: /plain.xml.gz\nSitemap: /gone.xml\nSitemap: /x.xml")
    shop.sitemap("/x.xml", ["http://example.org/", "/x"])
    busy.robots("Sitemap: /later.xml")
    busy.add("/later.xml", Page(status=503, headers={"Retry-After": "600"}))
    dead.dead()

    crawl = project.crawl(
        f"{shop.url}\nnot a seed\n{busy.url}\n{dead.url}", "-o", "-:txt", SITEMAPCRAWL_BACKOFF_SECONDS=100
    )

    pages = ("/full", "/low", "/both", "/both", "/dir/deep/er", "/x")
    assert sorted(map(shop.at, pages)) == sorted(crawl.stdout.splitlines())
    for words in (
        "is done for now after", "seeds      3 valid, 1 invalid", "hosts      3", "3 read (3 ok)", "failed: 1 status 404",
        "6 listed: 5 new, 1 known", "dropped    1 other-site", "status 404 (1):", shop.at("/gone.xml"),
        "status 503 (1):", busy.at("/later.xml"), "connection refused (1):", f"127.0.0.1:{dead.port} (robots.txt)",
        "waiting    2 requests on 2 hosts, the next in 1",
    ):  # fmt: skip
        assert words in crawl.stderr, words


# Ranks


@pytest.mark.usefixtures("hold")
def test_a_seeds_score_multiplies_the_ranks_of_all_pages_it_leads_to(project, shop):
    crawl = project.crawl(f"{shop.url} score=0.5", "-o", "-:jsonl")

    ranks = [row["rank"] for row in jsonl(crawl.stdout)]
    assert 5 == len(ranks)
    assert 0 < min(ranks) < max(ranks) <= 0.5


# The listing commands


@pytest.mark.usefixtures("hold")
def test_urls_lists_each_url_once_best_first_as_the_sorted_set_that_any_redis_client_reads(
    project, web, shop, store_dir
):
    other = web.host("other")
    other.sitemap("/sitemap.xml", ["/a"])
    project.crawl(f"{shop.url}\n{other.url}")
    site = ("--site", f"127.0.0.1:{shop.port}")

    rows = jsonl(project.run("urls", *site, "--format", "jsonl").stdout)

    assert sorted(map(shop.at, ("/both", "/dir/deep/er", "/full", "/low"))) == sorted(row["url"] for row in rows)
    assert sorted((-row["rank"], row["url"]) for row in rows) == [(-row["rank"], row["url"]) for row in rows]
    both = next(row for row in rows if row["url"] == shop.at("/both"))
    assert sorted(map(shop.at, ("/plain.xml.gz", "/tagged.xml"))) == sorted(both["sitemaps"])
    assert FIELDS == list(rows[0])[:7]

    with redis.Redis(unix_socket_path=str(store_dir / "valkey.sock"), decode_responses=True) as client:
        (key,) = client.scan_iter(match=f"{{sitemap:*}}:ranked:127.0.0.1:{shop.port}")
        ranked = client.zrevrange(key, 0, -1, withscores=True)
    assert [(row["url"], row["rank"]) for row in rows] == [(url, round(score, 4)) for url, score in ranked]
    assert [shop.at(path) for path in ("/full", "/both", "/low", "/dir/deep/er")] == [url for url, _ in ranked]
    assert all(0 <= score <= 1 for _, score in ranked)

    top = project.run("urls", *site, "--top", "2", "--format", "csv").stdout
    assert [row["url"] for row in rows[:2]] == [row["url"] for row in csv.DictReader(io.StringIO(top))]
    assert ",".join(FIELDS) == top.splitlines()[0]
    table = project.run("urls", *site, "--top", "1").stdout.splitlines()
    assert table[0].startswith("url ")
    assert rows[0]["url"] == table[1].split()[0]
    nowhere = project.run("urls", "--site", "nowhere.example")
    assert (3, "") == (nowhere.returncode, nowhere.stdout)


@pytest.mark.usefixtures("hold")
def test_sitemaps_lists_files_with_state_and_problems_and_reset_forgets_one_site_or_all(project, web, shop):
    other = web.host("other")
    other.robots("Sitemap: /bad.xml")
    other.sitemap("/bad.xml", [{"loc": "/a", "lastmod": "never ever"}, "mailto:x@y.z"])
    project.crawl(f"{shop.url}\n{other.url}")

    rows = {row["url"]: row for row in jsonl(project.run("sitemaps", "--format", "jsonl").stdout)}

    assert {
        *map(shop.at, ("/robots.txt", "/tagged.xml", "/plain.xml.gz")), *map(other.at, ("/robots.txt", "/bad.xml")),
    } == set(rows)  # fmt: skip
    tagged = rows[shop.at("/tagged.xml")]
    assert ("ok", "urlset", 3, "robots") == tuple(tagged[name] for name in ("state", "kind", "urls", "found_by"))
    bad = rows[other.at("/bad.xml")]
    assert {"invalid-url", "invalid-lastmod"} == {problem["code"] for problem in bad["problems"]}
    assert ("partial", 1) == (bad["state"], bad["urls"])

    refused = project.run("reset")
    assert (2, True) == (refused.returncode, "--yes" in refused.stderr)
    assert 0 == project.run("reset", "--site", f"127.0.0.1:{shop.port}", "--yes").returncode
    assert [other.at("/a")] == project.urls()
    again = project.crawl(shop.url)
    assert "5 listed: 4 new" in again.stderr, "a site that was forgotten is new"
    assert 0 == project.run("reset", "--yes").returncode
    assert 3 == project.run("sitemaps").returncode
