"""Reading sitemaps: bytes -> entries, links to further sitemaps, and problems; a stream with bounded memory.

    bytes -> decompress -> decode -> detect -> xml (markup -> batches -> lxml) or text -> Entry, Link

Content decides what a file is, never its name or content type. Every oddity becomes a problem with a
stable code; what is damaged is repaired or left out, never guessed. No scrapy, no redis, no clock, no network.
"""

from sitemapcrawl.sitemaps.detect import Kind
from sitemapcrawl.sitemaps.limits import Limits
from sitemapcrawl.sitemaps.problems import Code, Problem, Severity
from sitemapcrawl.sitemaps.reading import Reading, Verdict

__all__ = ["Code", "Kind", "Limits", "Problem", "Reading", "Severity", "Verdict"]
