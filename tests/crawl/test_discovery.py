"""From a seed to every sitemap of its site: who is asked what, in which order, how often, and what is read as what."""

import asyncio
import gzip
import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from scrapy.settings import Settings
from web import Page

from sitemapcrawl.commands.sitemaps import row_of
from sitemapcrawl.frontier import Frontier, listing
from sitemapcrawl.frontier.policy import Policy
from sitemapcrawl.keeper import Hold
from sitemapcrawl.store import connect

WELL_KNOWN = [
    "/sitemap.xml", "/sitemap_index.xml", "/wp-sitemap.xml", "/sitemap.xml.gz", "/sitemap-index.xml", "/sitemap.txt",
]  # fmt: skip
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
    """Return the URLs of a crawl with ``-o -:jsonl``, sorted, as often as they came."""
    assert crawl.returncode in (0, 3), crawl.stderr
    return sorted(json.loads(line)["url"] for line in crawl.stdout.splitlines())


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


def gaps(host):
    return [later.t - earlier.t for earlier, later in pairwise(host.log)]


# What leads to sitemaps


def test_sitemaps_are_found_by_seeds_robots_txt_and_nested_indexes_each_with_its_chain(web, project):
    shop = web.host("shop")
    robots = shop.robots("User-agent: *\nAllow: /\nSITEMAP: index.xml\n")
    seeded = shop.sitemap("/own/seeded.xml", ["/seeded"])
    index = shop.index("/index.xml", ["/inner.xml", "/leaf.xml.gz"])
    inner = shop.index("/inner.xml", ["/deep.xml"])
    leaf = shop.sitemap("/leaf.xml.gz", ["/leaf"], gz=True)
    deep = shop.sitemap("/deep.xml", ["/deep", "/looks-like-a-sitemap.xml"])

    crawl = project.crawl(f"{shop.url}/ sitemaps: own/seeded.xml", *JSONL)

    assert [shop.at(path) for path in ("/deep", "/leaf", "/looks-like-a-sitemap.xml", "/seeded")] == listed(crawl)
    found = {url: (row["found_by"], row["chain"]) for url, row in files(project).items() if row["kind"] != "robots"}
    assert {
        seeded: ("seed", []),
        index: ("robots", [robots]),
        inner: ("index", [robots, index]),
        leaf: ("index", [robots, index]),
        deep: ("index", [robots, index, inner]),
    } == found
    assert sorted(["/robots.txt", *(url.removeprefix(shop.url) for url in found)]) == sorted(paths(shop))


def test_loops_and_what_lies_too_deep_are_reported_and_never_fetched_again(web, project):
    maze = web.host("maze")
    itself = maze.index("/itself.xml", ["/itself.xml", "/back.xml", "/shared.xml"])
    back = maze.index("/back.xml", ["/itself.xml", "/shared.xml"])
    maze.sitemap("/shared.xml", ["/page"])
    for depth in range(5):
        maze.index(f"/depth-{depth}.xml", [f"/depth-{depth + 1}.xml"])
    maze.robots("Sitemap: /itself.xml\nSitemap: /depth-0.xml")

    crawl = project.crawl(maze.url, *JSONL, SITEMAPCRAWL_MAX_DEPTH=2)

    assert [maze.at("/page")] == listed(crawl)
    assert {
        "/robots.txt", "/itself.xml", "/back.xml", "/shared.xml", "/depth-0.xml", "/depth-1.xml", "/depth-2.xml",
    } == set(paths(maze))  # fmt: skip
    assert 1 == max(Counter(paths(maze)).values())
    found = files(project)
    assert ({"loop": 1}, {"loop": 1}) == (found[itself]["dropped"], found[back]["dropped"])
    assert {"depth": 1} == found[maze.at("/depth-2.xml")]["dropped"]
    assert {"depth": [maze.at("/depth-3.xml")]} == found[maze.at("/depth-2.xml")]["samples"]
    assert "2 loop" in crawl.stderr
    assert "1 depth" in crawl.stderr


def test_well_known_paths_are_tried_in_order_only_where_robots_names_none_and_remembered(web, project):
    naming, hit, none, soft = (web.host(name) for name in ("naming", "hit", "none", "soft"))
    naming.robots("Sitemap: /named.xml")
    naming.sitemap("/named.xml", ["/named"])
    naming.sitemap("/sitemap.xml", ["/must-not-be-asked"])
    hit.sitemap("/wp-sitemap.xml", ["/hit"])
    hit.sitemap("/sitemap.txt", ["/must-not-be-asked"])
    soft.add("*", "<!DOCTYPE html><html><body>Not found, but with status 200</body></html>")
    seeds = "\n".join(host.url for host in (naming, hit, none, soft))

    first = project.crawl(seeds, *JSONL)

    assert [hit.at("/hit"), naming.at("/named")] == sorted(listed(first), key=lambda url: url[-3:])
    assert ["/robots.txt", "/named.xml"] == paths(naming)
    assert ["/robots.txt", *WELL_KNOWN[:3]] == paths(hit)
    assert ["/robots.txt", *WELL_KNOWN] == paths(none)
    assert ["/robots.txt", *WELL_KNOWN] == paths(soft)
    assert "failed" not in first.stderr, "a probe that nobody named is no failure"

    second = project.crawl(seeds, *JSONL)

    assert listed(first) == listed(second)
    assert ["/robots.txt", "/named.xml", "/named.xml"] == paths(naming)
    assert ["/robots.txt", *WELL_KNOWN[:3], "/wp-sitemap.xml"] == paths(hit)
    assert ["/robots.txt", *WELL_KNOWN] == paths(none), "negative answers are kept"
    assert ["/robots.txt", *WELL_KNOWN] == paths(soft)


def test_well_known_paths_are_a_setting_and_absence_is_asked_again_after_its_time(web, project):
    shop = web.host("shop")
    options = {"SITEMAPCRAWL_WELL_KNOWN_PATHS": "/here.xml,/there.xml", "SITEMAPCRAWL_DISCOVERY_TTL_SECONDS": 0}

    first = project.crawl(shop.url, **options)
    shop.sitemap("/there.xml", ["/page"])
    second = project.crawl(shop.url, *JSONL, **options)

    assert (3, [shop.at("/page")]) == (first.returncode, listed(second))
    assert ["/robots.txt", "/here.xml", "/there.xml", "/here.xml", "/there.xml"] == paths(shop)


# robots.txt


def test_a_4xx_robots_txt_allows_everything_and_a_page_in_its_place_says_nothing(web, project):
    hosts = [web.host(str(status)) for status in (401, 403, 404, 410)]
    for host in hosts:
        host.add("/robots.txt", Page("Disallow: /", status=int(host.name)))
        host.sitemap("/sitemap.xml", ["/page"])
    html = web.host("html")
    html.robots("<html><body>User-agent: *\nDisallow: /\nSitemap: /elsewhere.xml</body></html>")
    html.sitemap("/sitemap.xml", ["/page"])

    crawl = project.crawl("\n".join(host.url for host in (*hosts, html)), *JSONL)

    assert sorted(host.at("/page") for host in (*hosts, html)) == listed(crawl)
    assert ["/robots.txt", "/sitemap.xml"] == paths(html)


def test_a_robots_txt_that_fails_closes_its_host_is_retried_and_holds_up_nobody(web, project):
    flaky, broken, silent, refused, fine = (web.host(n) for n in ("flaky", "broken", "silent", "refused", "fine"))
    flaky.add("/robots.txt", Page(times=[Page(status=503), Page(status=500), Page("Sitemap: /sitemap.xml")]))
    broken.add("/robots.txt", Page(status=500))
    silent.add("/robots.txt", Page(hang=True))
    for host in web.hosts.values():
        host.sitemap("/sitemap.xml", [f"/{host.name}"])
    refused.dead()
    seeds = "\n".join(f"{host.url} sitemaps: /sitemap.xml" for host in web.hosts.values())

    crawl = project.crawl(
        seeds, *JSONL, SITEMAPCRAWL_MAX_ATTEMPTS=3, SITEMAPCRAWL_ROBOTS_TIMEOUT_SECONDS=0.4,
        SITEMAPCRAWL_PATIENCE_SECONDS=1.5,
    )  # fmt: skip

    assert sorted([flaky.at("/flaky"), fine.at("/fine")]) == listed(crawl)
    assert [*["/robots.txt"] * 3, "/sitemap.xml"] == paths(flaky)
    assert ["/robots.txt"] * 3 == paths(broken)
    assert ["/robots.txt"] * 3 == paths(silent)
    for host, reason in ((broken, "status 500"), (silent, "timed out"), (refused, "connection refused")):
        assert reason in crawl.stderr
        assert f"127.0.0.1:{host.port} (robots.txt)" in crawl.stderr
    assert "waiting    3 requests on 3 hosts" in crawl.stderr


def test_robots_txt_is_asked_once_by_all_workers_and_is_believed_in_the_next_run(web, project):
    shop = web.host("shop")
    shop.robots("\n".join(f"Sitemap: /{n}.xml" for n in range(10)))
    for n in range(10):
        shop.sitemap(f"/{n}.xml", [f"/page-{n}"], delay=0.05)
    seeds = f"{shop.url}\n{shop.url}/ sitemaps: /3.xml\n{shop.url}/4.xml\n{shop.url}/robots.txt"
    workers = [project.start("crawl", "sitemap", "-a", f"seeds={seeds}") for _ in range(2)]
    for worker in workers:
        _, errors = worker.communicate(timeout=60)
        assert 0 == worker.returncode, errors
    assert {"/robots.txt": 1, **{f"/{n}.xml": 1 for n in range(10)}} == Counter(paths(shop))

    again = project.crawl(seeds, *JSONL)

    assert [shop.at(f"/page-{n}") for n in range(10)] == listed(again)
    assert {"/robots.txt": 1, **{f"/{n}.xml": 2 for n in range(10)}} == Counter(paths(shop))


def test_what_robots_txt_declares_and_disallows_is_read_and_what_it_only_disallows_is_not(web, project):
    shop = web.host("shop")
    shop.robots("User-agent: *\nDisallow: /closed/\nSitemap: /closed/index.xml\nSitemap: /closed/declared-too.xml")
    declared = shop.index("/closed/index.xml", ["/closed/child.xml", "/open.xml", "/moved.xml"])
    child = shop.sitemap("/closed/child.xml", ["/must-not-be-read"])
    shop.sitemap("/open.xml", ["/closed/page"])
    moved = shop.add("/moved.xml", Page(status=301, headers={"Location": "/closed/target.xml"}))
    shop.sitemap("/closed/target.xml", ["/must-not-be-read"])
    shop.sitemap("/closed/declared-too.xml", ["/declared-too"])
    seeded = shop.sitemap("/closed/seeded.xml", ["/must-not-be-read"])

    crawl = project.crawl(f"{shop.url} sitemaps: /closed/seeded.xml", *JSONL)

    assert sorted([shop.at("/closed/page"), shop.at("/declared-too")]) == listed(crawl)
    assert not {"/closed/child.xml", "/closed/seeded.xml", "/closed/target.xml"} & set(paths(shop))
    found = files(project)
    assert ["declared-and-disallowed"] == [problem["code"] for problem in found[declared]["problems"]]
    assert {"blocked: disallowed by robots.txt"} == {found[url]["state"] for url in (child, seeded, moved)}
    assert "disallowed by robots.txt (3)" in crawl.stderr


def test_a_declared_and_disallowed_sitemap_is_read_also_when_a_seed_named_it_first(web, project):
    shop = web.host("shop")
    shop.robots("User-agent: *\nDisallow: /closed/\nSitemap: /closed/sitemap.xml")
    shop.sitemap("/closed/sitemap.xml", ["/page"])

    crawl = project.crawl(f"{shop.url} sitemaps: /closed/sitemap.xml", *JSONL)

    assert [shop.at("/page")] == listed(crawl)


def test_without_obedience_everything_is_read_and_robots_txt_still_names_sitemaps(web, project):
    shop = web.host("shop")
    shop.robots("User-agent: *\nDisallow: /\nSitemap: /index.xml")
    shop.index("/index.xml", ["/child.xml"])
    shop.sitemap("/child.xml", ["/page"])

    crawl = project.crawl(shop.url, *JSONL, ROBOTSTXT_OBEY=False)

    assert [shop.at("/page")] == listed(crawl)
    assert ["/robots.txt", "/index.xml", "/child.xml"] == paths(shop)


def test_crawl_delay_is_obeyed_up_to_the_cap(web, project):
    slow, capped = web.host("slow"), web.host("capped")
    for host, asked in ((slow, "0.4"), (capped, "3600")):
        host.robots(f"User-agent: *\nCrawl-delay: {asked}\nSitemap: /index.xml")
        host.index("/index.xml", [f"/{n}.xml" for n in range(3)])
        for n in range(3):
            host.sitemap(f"/{n}.xml", [f"/page-{n}"])

    crawl = project.crawl(f"{slow.url}\n{capped.url}", *JSONL, SITEMAPCRAWL_CRAWL_DELAY_CAP_SECONDS=0.6)

    assert 6 == len(listed(crawl))
    assert (5, 5) == (len(slow.log), len(capped.log))
    assert min(gaps(slow)[1:]) >= 0.39
    assert 0.59 <= min(gaps(capped)[1:])
    assert max(gaps(capped)[1:]) < 3
    assert min(gaps(slow)[0], gaps(capped)[0]) >= 0.39, "the delay also stands between robots.txt and what follows it"


# Other hosts


def test_a_sitemap_elsewhere_that_robots_txt_names_may_list_the_pages_of_the_robots_host_only(web, project):
    shop, store = web.host("shop"), web.host("store")
    shop.robots(f"Sitemap: {store.url}/for-shop.xml")
    store.sitemap("/for-shop.xml", [shop.at("/a"), shop.at("/b"), store.at("/not-vouched-for")])
    store.sitemap("/sitemap.xml", ["/nobody-asked"])

    crawl = project.crawl(shop.url, *JSONL)

    assert [shop.at("/a"), shop.at("/b")] == listed(crawl)
    assert ["/robots.txt"] == paths(shop)
    assert ["/robots.txt", "/for-shop.xml"] == paths(store), "asked for permission, not for sitemaps"
    row = files(project)[store.at("/for-shop.xml")]
    assert ({"other-site": 1}, [f"127.0.0.1:{store.port} (1)"]) == (row["dropped"], row["samples"]["other-site"])


def test_a_robots_txt_can_not_open_what_another_hosts_robots_txt_closes(web, project):
    shop, store = web.host("shop"), web.host("store")
    shop.robots(f"Sitemap: {store.url}/for-shop.xml")
    store.robots("User-agent: *\nDisallow: /")
    store.sitemap("/for-shop.xml", [shop.at("/a")])

    crawl = project.crawl(shop.url, *JSONL)

    assert [] == listed(crawl)
    assert ["/robots.txt"] == paths(store)
    assert "blocked: disallowed by robots.txt" == files(project)[store.at("/for-shop.xml")]["state"]


def test_entries_of_other_sites_are_dropped_and_counted_by_host_and_www_and_https_are_no_other_site(web, project):
    shop = web.host("shop")
    origin = f"localhost:{shop.port}"
    same = [f"http://{origin}/a", f"http://www.{origin}/b", f"https://{origin}/c"]
    other = [
        "http://example.org/1",
        "http://example.org/2",
        "https://example.com/",
        f"http://localhost:{shop.port + 1}/",
    ]
    shop.robots("Sitemap: /sitemap.xml")
    shop.sitemap("/sitemap.xml", same + other)

    crawl = project.crawl(f"http://{origin}/", *JSONL)

    assert sorted(same) == listed(crawl)
    assert "dropped    4 other-site" in crawl.stderr
    assert "example.org (2)" in files(project)[f"http://{origin}/sitemap.xml"]["samples"]["other-site"]


# Redirects


def moved(to, status=301):
    return Page(status=status, headers={"Location": to})


def test_redirects_of_sitemaps_are_followed_on_the_same_and_to_another_host(web, project):
    shop, cdn = web.host("shop"), web.host("cdn")
    shop.robots("Sitemap: /old.xml\nSitemap: /away.xml\nSitemap: /round.xml")
    shop.add("/old.xml", moved("/older.xml"))
    shop.add("/older.xml", moved("/new.xml", 302))
    shop.sitemap("/new.xml", ["/new"])
    away = shop.add("/away.xml", moved(cdn.at("/files/shop.xml"), 307))
    target = cdn.sitemap("/files/shop.xml", [shop.at("/away"), cdn.at("/own")])
    turning = shop.add("/round.xml", moved("/round.xml"))

    crawl = project.crawl(shop.url, *JSONL)

    assert sorted([shop.at("/new"), shop.at("/away")]) == listed(crawl)
    assert ["/robots.txt", "/files/shop.xml"] == paths(cdn)
    found = files(project)
    assert (target, "redirect") == (found[away]["target"], found[away]["state"])
    assert ("redirect", [shop.at("/robots.txt"), away]) == (found[target]["found_by"], found[target]["chain"])
    assert "dead: too many redirects" == found[turning]["state"]
    assert "too many redirects (1)" in crawl.stderr


def test_redirects_of_robots_txt_are_followed_and_speak_for_the_host_that_was_asked(web, project):
    near, far, other = web.host("near"), web.host("far"), web.host("other")
    near.add("/robots.txt", moved("/rules/robots.txt"))
    near.add("/rules/robots.txt", "User-agent: *\nDisallow: /closed\nSitemap: /named.xml")
    near.index("/named.xml", ["/closed.xml", "/open.xml"])
    near.sitemap("/open.xml", ["/near"])
    far.add("/robots.txt", moved(other.at("/robots.txt")))
    other.robots(f"User-agent: *\nDisallow: /closed\nSitemap: {far.at('/far.xml')}")
    far.index("/far.xml", ["/closed.xml", "/open.xml"])
    far.sitemap("/open.xml", ["/far"])

    crawl = project.crawl(f"{near.url}\n{far.url}", *JSONL)

    assert sorted([near.at("/near"), far.at("/far")]) == listed(crawl)
    assert ["/robots.txt", "/rules/robots.txt", "/named.xml", "/open.xml"] == paths(near)
    assert (["/robots.txt", "/far.xml", "/open.xml"], ["/robots.txt"]) == (paths(far), paths(other))


def test_a_well_known_path_that_redirects_to_a_page_is_no_sitemap_and_the_next_path_is_tried(web, project):
    shop, home = web.host("shop"), web.host("home")
    shop.add("/sitemap.xml", moved("/"))
    shop.add("/", "<html><body>home</body></html>")
    shop.add("/sitemap_index.xml", moved(home.at("/")))
    home.add("/", "<html><body>elsewhere</body></html>")
    shop.sitemap("/wp-sitemap.xml", ["/page"])

    crawl = project.crawl(shop.url, *JSONL)

    assert [shop.at("/page")] == listed(crawl)
    assert ["/robots.txt", "/sitemap.xml", "/", "/sitemap_index.xml", "/wp-sitemap.xml"] == paths(shop)
    assert "failed" not in crawl.stderr


# Files in every state


def test_each_file_is_read_as_far_as_it_goes_and_the_summary_says_what_was_wrong(web, project):
    shop, text = web.host("shop"), "\n".join(f"http://127.0.0.1/{n}" for n in range(2))
    names = "packed.xml", "plain.txt", "packed-twice.gz", "page.xml", "cut.xml", "cut.gz", "gone.xml", "empty.xml"
    names += "nothing.xml", "bad-entries.xml", "forbidden.xml", "never.xml"
    shop.robots("\n".join(f"Sitemap: /{name}" for name in names))
    shop.sitemap("/packed.xml", ["/packed"], gz=True)
    shop.add("/plain.txt", text.replace("127.0.0.1", f"127.0.0.1:{shop.port}"))
    shop.sitemap("/packed-twice.gz", ["/twice"], gz=True)
    shop.add("/packed-twice.gz", gzip.compress(shop._pages["/packed-twice.gz"][0].data))
    shop.add("/page.xml", "<!DOCTYPE html><html><a href='/x'>x</a></html>")
    shop.sitemap("/cut.xml", [f"/cut-{n}" for n in range(10)])
    shop.add("/cut.xml", shop._pages["/cut.xml"][0].data[:300])
    shop.sitemap("/cut.gz", [f"/cut-gz-{n}" for n in range(5000)], gz=True)
    shop.add("/cut.gz", shop._pages["/cut.gz"][0].data[:-2000])
    shop.add("/empty.xml", "")
    shop.sitemap("/nothing.xml", [])
    shop.sitemap(
        "/bad-entries.xml", [{"loc": "/good", "lastmod": "yesterday", "priority": "9"}, "mailto:a@b.c", "ftp://x/"]
    )
    shop.add("/forbidden.xml", Page("no", status=403))
    shop.add("/never.xml", Page(status=500))

    crawl = project.crawl(shop.url, *JSONL, SITEMAPCRAWL_MAX_ATTEMPTS=2)

    urls = listed(crawl)
    assert {"/0", "/1", "/good", "/packed", "/twice", "/cut-0"} <= {url.removeprefix(shop.url) for url in urls}
    assert any("/cut-gz-" in url for url in urls), "what came before the cut is kept"
    states = {url.rpartition("/")[2]: row["state"] for url, row in files(project).items() if row["kind"] != "robots"}
    assert {
        "packed.xml": "ok", "plain.txt": "ok", "packed-twice.gz": "ok", "page.xml": "dead: html",
        "cut.xml": "truncated", "cut.gz": "truncated", "gone.xml": "gone: status 404", "empty.xml": "dead: empty",
        "nothing.xml": "dead: empty", "bad-entries.xml": "partial", "forbidden.xml": "blocked: status 403",
        "never.xml": "dead: status 500",
    } == states  # fmt: skip
    for reason in ("html (1)", "status 404 (1)", "empty (2)", "status 403 (1)", "status 500 (1)"):
        assert reason in crawl.stderr
    assert 2 == paths(shop).count("/never.xml")
    assert 1 == paths(shop).count("/gone.xml")


def test_a_503_waits_as_long_as_its_retry_after_says_and_the_whole_host_with_it(web, project):
    shop, busy, dropping = web.host("shop"), web.host("busy"), web.host("dropping")
    for host in web.hosts.values():
        host.robots("Sitemap: /first.xml\nSitemap: /second.xml")
        host.sitemap("/first.xml", ["/first"])
        host.sitemap("/second.xml", ["/second"])
    for host, path, fault in (
        (shop, "/first.xml", Page(status=503, headers={"Retry-After": "1"})),
        (busy, "/second.xml", Page(status=429, headers={"Retry-After": "1"})),
        (dropping, "/first.xml", Page("<urlset>" + " " * 1000, close=True)),
    ):
        host.add(path, Page(times=[fault, host._pages[path][0]]))

    crawl = project.crawl("\n".join(host.url for host in web.hosts.values()), *JSONL)

    assert sorted(host.at(path) for host in web.hosts.values() for path in ("/first", "/second")) == listed(crawl)
    for host, status in ((shop, 503), (busy, 429)):
        refused = next(fetch for fetch in host.log if fetch.status == status)
        assert all(fetch.t >= refused.t + 0.99 for fetch in host.log if fetch.t > refused.t)
    assert ["/first.xml", "/first.xml", "/robots.txt", "/second.xml"] == sorted(paths(dropping))
    for reason in ("1 status 503", "1 status 429", "1 connection lost"):
        assert reason in crawl.stderr, crawl.stderr
