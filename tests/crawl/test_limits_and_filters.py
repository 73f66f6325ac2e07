"""What spider arguments, filter classes and the blacklist leave out: counted by reason, with samples, never in silence."""

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from scrapy.settings import Settings

from sitemapcrawl.commands.sitemaps import row_of
from sitemapcrawl.frontier import Frontier, listing
from sitemapcrawl.frontier.policy import Policy
from sitemapcrawl.keeper import Hold
from sitemapcrawl.store import connect

JSONL = ("-o", "-:jsonl")


@pytest.fixture
def project(project):
    """The project with its embedded store kept up between commands, which spares each of them a start and a stop."""
    hold = Hold(project.store_dir)
    yield project
    hold.release()
    while hold.socket.exists():  # the server leaves before its folder does
        time.sleep(0.01)


def listed(crawl):
    """Return the paths of a crawl with ``-o -:jsonl``, sorted, as often as they came."""
    assert crawl.returncode == 0, crawl.stderr
    urls = [json.loads(line)["url"] for line in crawl.stdout.splitlines()]
    return sorted("/" + url.split("/", 3)[3] for url in urls)


def files(project):
    """Return what ``scrapy sitemaps`` shows, by URL; read in this process, which spares a start of Scrapy."""

    async def read():
        store = await connect(Settings({"SITEMAPCRAWL_STORE_DIR": str(project.store_dir)}))
        frontier = Frontier(store, Policy())
        records = [record for host in await listing.hosts(frontier) for record in await listing.records(frontier, host)]
        await store.close()
        return {record["url"]: row_of(record, plain=False) for record in records}

    with ThreadPoolExecutor(1) as pool:  # this thread's loop is the reactor's
        return pool.submit(asyncio.run, read()).result()


def paths(host):
    return [fetch.path for fetch in host.log]


def arguments(**given):
    return [word for name, value in given.items() for word in ("-a", f"{name}={value}")]


# Patterns


def test_include_and_exclude_choose_pages_by_path_and_other_filters_read_an_unchanged_file_again(web, project):
    shop = web.host("shop")
    shop.robots("Sitemap: /maps/index.xml")
    shop.index("/maps/index.xml", ["/maps/pages.xml"])
    pages = shop.sitemap(
        "/maps/pages.xml", ["/shop/a", "/shop/b.pdf", "/shop/sub/c?x=1", "/blog/d", "/", "/shops"], etag='"1"'
    )

    crawl = project.crawl(shop.url, *JSONL, *arguments(include="/shop/*,/blog/*", exclude="*.pdf"))

    assert ["/blog/d", "/shop/a", "/shop/sub/c?x=1"] == listed(crawl)
    assert "1 excluded" in crawl.stderr
    assert "2 not-included" in crawl.stderr
    row = files(project)[pages]
    assert {"excluded": 1, "not-included": 2} == row["dropped"]
    assert {"excluded": [shop.at("/shop/b.pdf")], "not-included": [shop.at("/"), shop.at("/shops")]} == row["samples"]

    other = project.crawl(shop.url, *JSONL, *arguments(include=r"re:[?&]x=\d+$"))

    assert ["/shop/sub/c?x=1"] == listed(other)
    assert [200, 200] == [fetch.status for fetch in shop.log if fetch.path == "/maps/pages.xml"]


def test_sitemap_include_and_exclude_choose_files_alone_and_what_is_left_out_is_never_asked(web, project):
    shop = web.host("shop")
    shop.robots("Sitemap: /index.xml")
    shop.index("/index.xml", ["/shop-1.xml", "/shop-2.xml", "/shop-old.xml", "/news.xml"])
    for name in ("shop-1", "shop-2", "shop-old", "news"):
        shop.sitemap(f"/{name}.xml", [f"/news/{name}"])

    crawl = project.crawl(shop.url, *JSONL, *arguments(sitemap_include="/shop-*", sitemap_exclude="re:old"))

    assert ["/news/shop-1", "/news/shop-2"] == listed(crawl)
    assert {"/robots.txt", "/index.xml", "/shop-1.xml", "/shop-2.xml"} == set(paths(shop))
    row = files(project)[shop.at("/index.xml")]
    assert {"excluded": 1, "not-included": 1} == row["dropped"]
    assert {"excluded": [shop.at("/shop-old.xml")], "not-included": [shop.at("/news.xml")]} == row["samples"]


def test_sitemap_exclude_leaves_out_what_robots_txt_names_as_well(web, project):
    shop = web.host("shop")
    shop.robots("Sitemap: /news.xml\nSitemap: /shop.xml")
    for name in ("shop", "news"):
        shop.sitemap(f"/{name}.xml", [f"/{name}"])

    crawl = project.crawl(shop.url, *JSONL, *arguments(sitemap_exclude="/news*"))

    assert ["/shop"] == listed(crawl)
    assert ["/robots.txt", "/shop.xml"] == paths(shop)


# Dates


def test_since_until_and_undated_go_by_lastmod_and_an_old_child_of_an_index_is_not_read(web, project):
    shop = web.host("shop")
    shop.robots("Sitemap: /index.xml")
    shop.index(
        "/index.xml",
        [
            {"loc": "/old.xml", "lastmod": "2025-12-31"},
            {"loc": "/new.xml", "lastmod": "2026-03-01T00:00:00Z"},
            "/undated.xml",
        ],
    )
    shop.sitemap("/old.xml", [{"loc": "/never-read", "lastmod": "2026-01-15"}])
    shop.sitemap(
        "/new.xml",
        [
            {"loc": "/before", "lastmod": "2026-01-09T23:59:59Z"},
            {"loc": "/first", "lastmod": "2026-01-10"},
            {"loc": "/last", "lastmod": "2026-01-20T23:00:00+00:00"},
            {"loc": "/after", "lastmod": "2026-01-21"},
            {"loc": "/month", "lastmod": "2026-01"},
            {"loc": "/bad-date", "lastmod": "soon"},
        ],
    )
    shop.sitemap("/undated.xml", ["/undated"])
    span = {"since": "2026-01-10", "until": "2026-01-20"}

    kept = project.crawl(shop.url, *JSONL, *arguments(**span))
    dropped = project.crawl(shop.url, *JSONL, *arguments(**span, undated="drop"))

    assert ["/bad-date", "/first", "/last", "/month", "/undated"] == listed(kept)
    assert ["/first", "/last", "/month"] == listed(dropped)
    assert "/old.xml" not in paths(shop)
    for reason in ("2 before-since", "1 after-until", "2 undated"):
        assert reason in dropped.stderr


def test_since_also_counts_back_from_now(web, project):
    shop, now = web.host("shop"), datetime.now(UTC)
    shop.robots("Sitemap: /sitemap.xml")
    ages = {"/today": 1, "/this-week": 6 * 24, "/last-week": 8 * 24}
    rows = [{"loc": loc, "lastmod": (now - timedelta(hours=age)).isoformat()} for loc, age in ages.items()]
    shop.sitemap("/sitemap.xml", rows)

    assert ["/this-week", "/today"] == listed(project.crawl(shop.url, *JSONL, *arguments(since="7d")))


# Limits


def test_max_urls_and_max_per_host_keep_the_best_and_are_said_when_they_are_hit(web, project):
    hosts = [web.host(name) for name in ("one", "two")]
    for host in hosts:
        host.robots("Sitemap: /1.xml\nSitemap: /2.xml")
        for n in (1, 2):
            rows = [{"loc": f"/{n}-{k}", "priority": f"0.{k}"} for k in range(1, 7)]
            host.sitemap(f"/{n}.xml", rows)
    seeds = "\n".join(host.url for host in hosts)

    crawl = project.crawl(seeds, *JSONL, *arguments(max_per_host=4))

    assert ["3", "3", "4", "4", "5", "5", "6", "6"] == sorted(path[-1] for path in listed(crawl))
    assert "The limit max_per_host is reached" in crawl.stderr
    assert "16 max_per_host" in crawl.stderr

    both = project.crawl(seeds, *JSONL, *arguments(max_per_host=4, max_urls=5))

    assert len(listed(both)) == 5
    assert "The limit max_urls is reached" in both.stderr


def test_max_sitemaps_bounds_the_children_of_indexes_that_are_read(web, project):
    shop = web.host("shop")
    shop.robots("Sitemap: /index.xml")
    shop.index("/index.xml", [f"/{n}.xml" for n in range(5)])
    for n in range(5):
        shop.sitemap(f"/{n}.xml", [f"/page-{n}"])

    crawl = project.crawl(shop.url, *JSONL, *arguments(max_sitemaps=2))

    assert len(listed(crawl)) == 2
    assert len(paths(shop)) == len(["/robots.txt", "/index.xml"]) + 2
    assert "The limit max_sitemaps is reached" in crawl.stderr
    assert "3 max_sitemaps" in crawl.stderr


def test_max_sitemaps_bounds_what_robots_txt_names_as_well(web, project):
    plain = web.host("plain")
    plain.robots("\n".join(f"Sitemap: /{n}.xml" for n in range(5)))
    for n in range(5):
        plain.sitemap(f"/{n}.xml", [f"/page-{n}"])
    assert len(listed(project.crawl(plain.url, *JSONL, *arguments(max_sitemaps=2)))) == 2


# Filters and lists of one's own

MINE = '''
from sitemapcrawl.filters import Filter

class NoOdd(Filter):
    """Leaves out pages that end in an odd digit, and sitemaps by a setting."""

    def __init__(self, word):
        self.word = word

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings["MY_WORD"])

    def drop_entry(self, entry):
        return "odd" if int(entry.loc[-1]) % 2 else None

    def drop_sitemap(self, link):
        return "my-word" if self.word in link.loc else None
'''


def test_a_filter_of_ones_own_is_listed_in_the_settings_and_none_disables_one(web, project, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    project.environment |= {"PYTHONPATH": str(tmp_path)}
    shop = web.host("shop")
    shop.robots("Sitemap: /index.xml")
    shop.index("/index.xml", ["/pages.xml", "/draft.xml"])
    shop.sitemap("/pages.xml", [f"/page-{n}" for n in range(4)])
    filters = {"mine.NoOdd": 50, "sitemapcrawl.filters.PatternFilter": None}

    crawl = project.crawl(
        shop.url,
        *JSONL,
        *arguments(include="/nothing-like-it"),
        SITEMAPCRAWL_FILTERS=json.dumps(filters),
        MY_WORD="draft",
    )

    assert ["/page-0", "/page-2"] == listed(crawl)
    assert "/draft.xml" not in paths(shop)
    assert "2 odd" in crawl.stderr
    assert "1 my-word" in crawl.stderr


def test_the_blacklist_file_leaves_alone_hosts_url_patterns_and_sitemaps_and_tells_why(web, project, tmp_path):
    shop, shut = web.host("shop"), web.host("shut")
    shop.robots("Sitemap: /index.xml\nSitemap: /secret.xml")
    shop.index("/index.xml", ["/pages.xml", "/old-1.xml"])
    shop.sitemap("/pages.xml", ["/a", "/private/b", "/c?sessionid=1"])
    shop.sitemap("/secret.xml", ["/secret"])
    shop.sitemap("/old-1.xml", ["/old"])
    shut.sitemap("/sitemap.xml", ["/shut"])
    blacklist = tmp_path / "blacklist.txt"
    blacklist.write_text(
        "# what we leave alone\n"
        f"127.0.0.1:{shut.port}   # they asked us to\n"
        f"{shop.url}/private/*\n"
        "re:[?&]sessionid=\n"
        f"sitemap {shop.url}/old-*\n"
        f"sitemap {shop.url}/secret.xml  # not ours\n"
        "what is this\n"
    )

    crawl = project.crawl(f"{shop.url}\n{shut.url}", *JSONL, SITEMAPCRAWL_BLACKLIST_FILE=blacklist)

    assert ["/a"] == listed(crawl)
    assert ["/robots.txt", "/index.xml", "/pages.xml"] == paths(shop)
    assert [] == paths(shut), "not even its robots.txt is asked"
    assert "blacklist.txt:7: Invalid: what is this" in crawl.stderr
    assert "3 blacklisted" in crawl.stderr
    assert "blocked: blacklisted: not ours" == files(project)[shop.at("/secret.xml")]["state"]
    assert "blacklisted: not ours (1)" in crawl.stderr
    assert "blacklisted: they asked us to (1)" in crawl.stderr
