"""All settings, in the order of Scrapy's template; defaults stand beside each value, docs/settings.md explains them."""

import os

BOT_NAME = "sitemapcrawl"
SPIDER_MODULES = ["sitemapcrawl.spiders"]
NEWSPIDER_MODULE = "sitemapcrawl.spiders"
COMMANDS_MODULE = "sitemapcrawl.commands"

# Say who you are: put a page about your crawler, or a mail address, where the URL stands.
USER_AGENT = os.environ.get("SITEMAPCRAWL_USER_AGENT", "sitemapcrawl (+https://github.com/scrapy/scrapy)")

# Obeyed through the frontier, by our own middleware: one robots.txt request for the whole fleet.
ROBOTSTXT_OBEY = True

# The frontier keeps the delays, for all workers at once: Scrapy's own, one a process, are out of its way.
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS = 64  # default 16; hosts that do not answer hold their places for DOWNLOAD_TIMEOUT
CONCURRENT_REQUESTS_PER_DOMAIN = 64  # default 8
DOWNLOAD_TIMEOUT = 30  # default 180; also bounds how long a stop takes
RETRY_ENABLED = False  # a retry is a request of the frontier that is due later
REDIRECT_MAX_TIMES = 5  # default 20; RFC 9309 asks for five hops
METAREFRESH_ENABLED = False  # sitemaps are no pages
COOKIES_ENABLED = False
REFERRER_POLICY = "no-referrer"

# Nothing but the web is fetched, and nobody may run code in a worker.
DOWNLOAD_HANDLERS = {"data": None, "file": None, "ftp": None, "s3": None}
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False

TWISTED_DNS_RESOLVER = "sitemapcrawl.resolver.GuardingResolver"  # no private addresses that no seed names

SCHEDULER = "sitemapcrawl.scheduler.FrontierScheduler"

SPIDER_MIDDLEWARES = {
    # Outermost, nearest to the engine: sees what every other middleware lets through or breaks.
    "sitemapcrawl.middlewares.errors.ErrorsMiddleware": 10,
    "sitemapcrawl.middlewares.blacklist.BlacklistMiddleware": 500,
}

DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,  # a 503 would allow everything there
    "sitemapcrawl.middlewares.blacklist.BlacklistMiddleware": 90,  # before robots.txt is looked at
    "sitemapcrawl.middlewares.robots.RobotsMiddleware": 100,  # the place of Scrapy's own
}

ITEM_PIPELINES = {
    "sitemapcrawl.pipelines.ranking.RankingPipeline": 300,
    "sitemapcrawl.pipelines.limits.LimitsPipeline": 400,  # keeps the best, so after the ranking
    "sitemapcrawl.pipelines.store.StorePipeline": 900,  # last: what it finishes is done
}

EXTENSIONS = {
    "scrapy.extensions.feedexport.FeedExporter": None,
    "sitemapcrawl.extensions.feeds.RowFeedExporter": 0,  # one line a URL instead of one a file
    "sitemapcrawl.extensions.summary.Summary": 500,
}
FEED_EXPORTERS = {
    "txt": "sitemapcrawl.extensions.feeds.TextItemExporter",
    "xml": "sitemapcrawl.extensions.feeds.XmlRowExporter",
}
FEED_EXPORT_ENCODING = "utf-8"

LOG_LEVEL = "INFO"  # default DEBUG

# Redis, as scrapy-redis reads it. Without an address the embedded store serves.
REDIS_URL = os.environ.get("REDIS_URL")

# Project configuration

# Used by the frontier.
SITEMAPCRAWL_CRAWL = "sitemap"
SITEMAPCRAWL_PARTITIONS = 64
SITEMAPCRAWL_LEASE_SECONDS = 60
SITEMAPCRAWL_HOST_DELAY_SECONDS = 1.0
SITEMAPCRAWL_HOST_CONCURRENCY = 1
SITEMAPCRAWL_CRAWL_DELAY_CAP_SECONDS = 60
SITEMAPCRAWL_ROBOTS_TTL_SECONDS = 86_400  # RFC 9309: not to be used longer than 24 hours
SITEMAPCRAWL_DISCOVERY_TTL_SECONDS = 86_400
SITEMAPCRAWL_MAX_ATTEMPTS = 5
SITEMAPCRAWL_BACKOFF_SECONDS = 60
SITEMAPCRAWL_PATIENCE_SECONDS = 120
SITEMAPCRAWL_QUEUE_SIZE = 10_000

# Used by the embedded store; None: .scrapy/store in the project.
SITEMAPCRAWL_STORE_DIR = os.environ.get("SITEMAPCRAWL_STORE_DIR")

# Used by the sitemap spider.
SITEMAPCRAWL_ROBOTS_TIMEOUT_SECONDS = 10
SITEMAPCRAWL_ROBOTS_MAXSIZE_BYTES = 2 * 1024 * 1024  # RFC 9309 asks for 500 KiB at least
SITEMAPCRAWL_SITEMAP_MAXSIZE_BYTES = 50 * 1024 * 1024  # sitemaps.org, before and after decompression
SITEMAPCRAWL_PARSED_AT_ONCE = 2
SITEMAPCRAWL_CROSS_SUBMIT = "site"
SITEMAPCRAWL_FILTERS = {
    "sitemapcrawl.filters.PatternFilter": 100,
    "sitemapcrawl.filters.SitemapPatternFilter": 200,
    "sitemapcrawl.filters.DateFilter": 300,
}

# Used by the store pipeline.
SITEMAPCRAWL_WELL_KNOWN_PATHS = [
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/wp-sitemap.xml",
    "/sitemap.xml.gz",
    "/sitemap-index.xml",
    "/sitemap.txt",
]
SITEMAPCRAWL_MAX_DEPTH = 5

# Used by the ranking pipeline.
SITEMAPCRAWL_RANK_WEIGHTS = {"priority": 0.35, "freshness": 0.35, "changefreq": 0.1, "depth": 0.2}

# Used by the blacklist middleware.
SITEMAPCRAWL_BLACKLIST_FILE = None
