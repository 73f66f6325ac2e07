"""A small real web on loopback, to see the whole crawl at work without a network: ``scrapy demo``."""
