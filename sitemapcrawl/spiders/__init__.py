"""The project's spiders; subclass ``SitemapSpider`` as you would Scrapy's."""

from sitemapcrawl.spiders.sitemap import SitemapSpider

__all__ = ["SitemapSpider"]
