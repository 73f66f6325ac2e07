"""Feeds with one line a URL, although a spider yields one item a sitemap.

Knows which items hold rows. Refuses to know formats: those are Scrapy's exporters, and ``txt``, one URL a line.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

from itemadapter import ItemAdapter
from scrapy import Spider
from scrapy.exporters import BaseItemExporter, XmlItemExporter
from scrapy.extensions.feedexport import FeedExporter

from sitemapcrawl import urls
from sitemapcrawl.frontier.catalogue import Row

logger = logging.getLogger(__name__)


class RowFeedExporter(FeedExporter):
    """Exports the rows of a sitemap one by one, a user's own items as they are, and nothing else of ours."""

    def item_scraped(self, item: Any, spider: Spider) -> None:
        try:
            self._export(item, spider)
        except BrokenPipeError:
            logger.warning("Standard output was closed: the crawl goes on, its feed does not")
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _export(self, item: Any, spider: Spider) -> None:
        fields = ItemAdapter(item)
        if fields.get("claim") is None:
            super().item_scraped(item, spider)
            return
        for host, rows in (fields.get("rows") or {}).items():
            site = urls.site(host)
            for row in rows:
                if isinstance(row, Row):
                    super().item_scraped(row.as_dict(fields["claim"].url, site), spider)


class XmlRowExporter(XmlItemExporter):
    """Scrapy's XML, where a field of which nothing is known is left out."""

    def export_item(self, item: Any) -> None:
        super().export_item({name: value for name, value in ItemAdapter(item).items() if value is not None})


class TextItemExporter(BaseItemExporter):
    """Writes one URL a line; an item without a ``url`` writes nothing."""

    def __init__(self, file: Any, **kwargs: Any) -> None:
        super().__init__(dont_fail=True, **kwargs)
        self._file = file

    def export_item(self, item: Any) -> None:
        if url := ItemAdapter(item).get("url"):
            self._file.write(f"{url}\n".encode())
