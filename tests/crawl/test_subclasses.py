"""People's own spiders, items, pipelines and middlewares: Scrapy's documented ways work with only the import changed."""

import json
import time

import pytest

from sitemapcrawl.keeper import Hold

IMPORT = "from sitemapcrawl.spiders import SitemapSpider\n"


@pytest.fixture
def project(project, tmp_path):
    """The project with its embedded store kept up between commands, and a folder for a user's own modules."""
    project.environment |= {"PYTHONPATH": str(tmp_path)}
    hold = Hold(project.store_dir)
    yield project
    hold.release()
    while hold.socket.exists():  # the server leaves before its folder does
        time.sleep(0.01)


@pytest.fixture
def shop(web):
    shop = web.host("shop")
    shop.robots("Sitemap: /sitemap_index.xml")
    shop.index("/sitemap_index.xml", ["/sitemap_shops.xml", "/sitemap_other.xml"])
    shop.sitemap("/sitemap_shops.xml", ["/product/1", "/category/2", "/misc/3"])
    shop.sitemap("/sitemap_other.xml", ["/product/4", "/other/5"])
    for path in ("/about", "/misc", "/product/1"):
        shop.add(path, f"<html><title>{path}</title></html>")
    return shop


@pytest.fixture
def runspider(project, tmp_path):
    def run(source, *words, **options):
        (tmp_path / "mine.py").write_text(source)
        return project.run("runspider", tmp_path / "mine.py", "-o", "-:jsonl", *words, timeout=40, **options)

    return run


def rows(crawl):
    assert crawl.returncode == 0, crawl.stderr
    return [json.loads(line) for line in crawl.stdout.splitlines()]


def listed(crawl):
    return sorted("/" + row["url"].split("/", 3)[3] for row in rows(crawl))


def paths(host):
    return [fetch.path for fetch in host.log]


# The examples of https://docs.scrapy.org/en/latest/topics/spiders.html#sitemapspider-examples


def test_the_simplest_example_lists_all_urls_of_its_sitemap(shop, runspider):
    crawl = runspider(f"""{IMPORT}
class MySpider(SitemapSpider):
    name = "simplest"
    sitemap_urls = ["{shop.url}/sitemap_shops.xml"]

    def parse(self, response):
        pass
""")

    assert ["/category/2", "/misc/3", "/product/1"] == listed(crawl)


def test_sitemap_rules_choose_urls(shop, runspider):
    crawl = runspider(f"""{IMPORT}
class MySpider(SitemapSpider):
    name = "rules"
    sitemap_urls = ["{shop.url}/sitemap_index.xml"]
    sitemap_rules = [("/product/", "parse_product"), ("/category/", "parse_category")]

    def parse_product(self, response):
        pass

    def parse_category(self, response):
        pass
""")

    assert ["/category/2", "/product/1", "/product/4"] == listed(crawl)
    assert "2 sitemap_rules" in crawl.stderr


def test_robots_txt_in_sitemap_urls_is_asked_for_sitemaps_and_sitemap_follow_chooses_them(shop, runspider):
    crawl = runspider(f"""{IMPORT}
class MySpider(SitemapSpider):
    name = "follow"
    sitemap_urls = ["{shop.url}/robots.txt"]
    sitemap_rules = [("/product/", "parse_shop")]
    sitemap_follow = ["/sitemap_shops"]

    def parse_shop(self, response):
        pass
""")

    assert ["/product/1"] == listed(crawl)
    assert ["/robots.txt", "/sitemap_index.xml", "/sitemap_shops.xml"] == paths(shop)


def test_start_may_be_overridden_to_add_requests_with_callbacks_of_ones_own(shop, runspider):
    crawl = runspider(f"""from scrapy import Request
{IMPORT}
class MySpider(SitemapSpider):
    name = "combined"
    sitemap_urls = ["{shop.url}/robots.txt"]
    sitemap_rules = [("/product/", "parse_shop")]
    other_urls = ["{shop.url}/about"]
    broken_urls = ["{shop.url}/misc"]

    async def start(self):
        async for item_or_request in super().start():
            yield item_or_request
        for url in self.other_urls:
            yield Request(url, self.parse_other)
        for url in self.broken_urls:
            yield Request(url, self.parse_broken)

    def parse_broken(self, response):
        raise RuntimeError("my own mistake")

    def parse_shop(self, response):
        pass

    def parse_other(self, response):
        yield {{"url": response.url, "title": response.css("title::text").get()}}
        yield response.follow("/product/1", self.parse_more)

    def parse_more(self, response):
        yield {{"url": response.url + "#more", "title": response.css("title::text").get()}}
""")

    assert ["/about", "/product/1", "/product/1#more", "/product/4"] == listed(crawl)
    assert "RuntimeError: my own mistake" in crawl.stderr
    assert ["/about", "/product/1"] == sorted(row["title"] for row in rows(crawl) if "title" in row)


def test_sitemap_filter_gets_entries_as_dicts_of_urlsets_and_of_indexes(shop, runspider):
    shop.index(
        "/dated_index.xml",
        [{"loc": "/dated.xml", "lastmod": "2026-05-01"}, {"loc": "/sitemap_other.xml", "lastmod": "2004-05-01"}],
    )
    shop.sitemap(
        "/dated.xml", [{"loc": f"/{year}", "lastmod": f"{year}-10-01T18:23:17+00:00"} for year in (2004, 2005)]
    )

    crawl = runspider(f"""from datetime import datetime
{IMPORT}
class FilteredSitemapSpider(SitemapSpider):
    name = "filtered_sitemap_spider"
    allowed_domains = ["127.0.0.1"]
    sitemap_urls = ["{shop.url}/dated_index.xml"]

    def sitemap_filter(self, entries):
        for entry in entries:
            date_time = datetime.strptime(entry["lastmod"][:10], "%Y-%m-%d")
            if date_time.year >= 2005:
                yield entry
""")

    assert ["/2005"] == listed(crawl)
    assert "/sitemap_other.xml" not in paths(shop)
    assert "1 sitemap_filter" in crawl.stderr


# Scrapy's own features


def test_custom_settings_arguments_and_stats_of_a_subclass_work(shop, runspider):
    crawl = runspider(
        f"""{IMPORT}
class MySpider(SitemapSpider):
    name = "custom"
    extra_arguments = ("section",)
    custom_settings = {{"SITEMAPCRAWL_CRAWL": "mine", "SITEMAPCRAWL_MAX_DEPTH": 0, "USER_AGENT": "Custom/1.0"}}

    def __init__(self, *args, section="", **kwargs):
        super().__init__(*args, **kwargs)
        self.sitemap_urls = ["{shop.url}/" + section + ".xml", "{shop.url}/sitemap_index.xml"]

    def closed(self, reason):
        self.logger.info("read %d, %s", self.crawler.stats.get_value("sitemapcrawl/run/read"), reason)
""",
        "-a",
        "section=sitemap_other",
    )

    assert ["/other/5", "/product/4"] == listed(crawl)
    assert {"Custom/1.0"} == {fetch.headers["user-agent"] for fetch in shop.log}
    assert "of the crawl mine" in crawl.stderr
    assert "read 2, finished" in crawl.stderr
    assert "2 depth" in crawl.stderr


def test_httpcache_serves_sitemaps_the_second_time(shop, project, tmp_path):
    options = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": tmp_path / "cache"}
    first = project.crawl(shop.url, "-o", "-:jsonl", **options)
    asked = len(shop.log)

    second = project.crawl(shop.url, "-o", "-:jsonl", **options)

    assert ["/category/2", "/misc/3", "/other/5", "/product/1", "/product/4"] == listed(first) == listed(second)
    assert (4, 4) == (asked, len(shop.log))
    assert "'httpcache/hit': 3" in second.stderr


def test_a_proxy_on_a_private_address_gets_robots_txt_and_sitemap_requests(web, project):
    proxy = web.host("proxy")
    proxy.add("http://far.example/robots.txt", "Sitemap: /s.xml")
    proxy.add("http://far.example/s.xml", "<urlset><url><loc>http://far.example/page</loc></url></urlset>")
    project.environment |= {"http_proxy": proxy.url}
    through = project.crawl("http://far.example", "-o", "-:jsonl")

    assert ["/page"] == listed(through)
    assert ["http://far.example/robots.txt", "http://far.example/s.xml"] == paths(proxy)


def test_items_of_every_kind_from_an_overridden_callback_reach_pipelines_and_feeds(shop, runspider):
    crawl = runspider(f"""from dataclasses import dataclass
import attrs
import scrapy
from itemadapter import ItemAdapter
{IMPORT}
@dataclass
class Data:
    url: str
    kind: str = "dataclass"

@attrs.define
class Attrs:
    url: str
    kind: str = "attrs"

class Item(scrapy.Item):
    url = scrapy.Field()
    kind = scrapy.Field()

class Mark:
    def process_item(self, item):
        adapter = ItemAdapter(item)
        if "kind" in adapter:
            adapter["kind"] += "!"
        return item

class MySpider(SitemapSpider):
    name = "items"
    sitemap_urls = ["{shop.url}/sitemap_other.xml"]
    custom_settings = {{"ITEM_PIPELINES": {{
        Mark: 100,
        "sitemapcrawl.pipelines.ranking.RankingPipeline": 300,
        "sitemapcrawl.pipelines.store.StorePipeline": 900,
    }}}}

    async def parse_sitemap(self, response, claim):
        async for item in super().parse_sitemap(response, claim):
            yield item
        yield {{"url": response.url, "kind": "dict"}}
        yield Data(response.url)
        yield Attrs(response.url)
        yield Item(url=response.url, kind="Item")
""")

    kinds = sorted(row["kind"] for row in rows(crawl) if "kind" in row)
    assert ["Item!", "attrs!", "dataclass!", "dict!"] == kinds
    assert ["/other/5", "/product/4"] == sorted(path for path in listed(crawl) if "xml" not in path)


def test_pipelines_and_middlewares_in_custom_settings_come_beside_the_projects_own(shop, runspider, tmp_path, project):
    shop.robots("User-agent: *\nDisallow: /sitemap_other.xml\nSitemap: /sitemap_index.xml")
    (tmp_path / "blacklist.txt").write_text("/misc/*\n")

    crawl = runspider(
        f"""{IMPORT}
class Count:
    def process_item(self, item):
        return item

class Stamp:
    def process_request(self, request):
        request.headers["X-Stamp"] = "seen"

    def process_response(self, request, response):
        return response.replace(body=response.body.replace(b"/product/1", b"/product/changed"))

class MySpider(SitemapSpider):
    name = "beside"
    sitemap_urls = ["{shop.url}/robots.txt"]
    custom_settings = {{
        "ITEM_PIPELINES": {{Count: 300}},
        "DOWNLOADER_MIDDLEWARES": {{Stamp: 543}},
        "SPIDER_MIDDLEWARES": {{}},
        "EXTENSIONS": {{}},
    }}
""",
        SITEMAPCRAWL_BLACKLIST_FILE=tmp_path / "blacklist.txt",
    )

    assert ["/category/2", "/product/changed"] == listed(crawl)
    assert ["/robots.txt", "/sitemap_index.xml", "/sitemap_shops.xml"] == paths(shop)
    assert {"seen"} == {fetch.headers.get("x-stamp") for fetch in shop.log}
    assert "2 listed: 2 new" in crawl.stderr
    assert 2 == len(project.urls())


# What goes wrong in a user's code


def test_an_exception_in_a_callback_or_pipeline_costs_its_own_file_alone_and_is_named(shop, runspider):
    for name in ("raises", "drops", "fails", "fails_late"):
        shop.sitemap(f"/{name}.xml", [f"/{name}"])
    shop.index("/all.xml", ["/raises.xml", "/drops.xml", "/fails.xml", "/fails_late.xml", "/sitemap_other.xml"])

    crawl = runspider(
        f"""from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem
{IMPORT}
class Fragile:
    def process_item(self, item):
        item_url = ItemAdapter(item).get("url") or ""
        if "raises" in item_url:
            raise ValueError("the pipeline's own mistake")
        if "drops" in item_url:
            raise DropItem("not wanted")
        return item

class MySpider(SitemapSpider):
    name = "fragile"
    sitemap_urls = ["{shop.url}/all.xml"]
    custom_settings = {{"ITEM_PIPELINES": {{
        Fragile: 100,
        "sitemapcrawl.pipelines.ranking.RankingPipeline": 300,
        "sitemapcrawl.pipelines.store.StorePipeline": 900,
    }}}}

    async def parse_sitemap(self, response, claim):
        if "fails.xml" in response.url:
            raise KeyError("the callback's own mistake")
        async for item in super().parse_sitemap(response, claim):
            yield item
        if "late" in response.url:
            raise KeyError("a mistake behind the item")
""",
        SITEMAPCRAWL_MAX_ATTEMPTS=2,
    )

    assert ["/fails_late", "/other/5", "/product/4"] == listed(crawl)
    for words in ("error in the spider (1)", "error in a pipeline (1)", "dropped by a pipeline (1)"):
        assert words in crawl.stderr, words
    for name, times in (("raises", 2), ("drops", 1), ("fails", 2), ("fails_late", 1)):
        assert times == paths(shop).count(f"/{name}.xml"), name
