"""No bytes make a reading raise: real files, random ones, and sitemaps with random damage."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawl.sitemaps import Reading, Verdict

CORPUS = Path("/work/shared/corpus/sitemaps")
URL = "https://example.com/sitemap.xml"
PIECES = [
    *("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>", "</urlset>", "<sitemapindex>", "</sitemapindex>"),
    *("<url>", "</url>", "<sitemap>", "</sitemap>", "<loc>", "</loc>", "<loc/>", "<lastmod>2024-01-01</lastmod>"),
    *(
        "https://example.com/",
        "/a",
        "?b=1&c=2",
        "&amp;",
        "&eacute;",
        "&#55296;",
        "&#0;",
        "<",
        ">",
        "&",
        "]]>",
        '"',
        "'",
    ),
    *("<![CDATA[", "<!--", "-->", "<?xml version='1.0'?>", "<?", "<!DOCTYPE x [<!ENTITY a 'b'>]>", "&a;", "\0", "\x0b"),
    *("\ufeff", "\ufffe", "\n", "\r", " ", "é", "<image:image>", "</image:image>", "<url xmlns='urn:x'>", "<x y=z>"),
]


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"{CORPUS} is not here")
def test_every_real_file_is_read_alike_wherever_its_bytes_are_cut():
    for path in sorted(CORPUS.iterdir()):
        body = path.read_bytes()
        whole = Reading([body], URL)
        cut = Reading((body[i : i + 1000] for i in range(0, len(body), 1000)), URL)

        assert list(whole) == list(cut), path.name

        assert whole.verdict == cut.verdict, path.name
        assert whole.verdict in Verdict


@given(st.lists(st.binary(max_size=50), max_size=10))
def test_random_bytes_are_read(chunks):
    reading = Reading(chunks, URL)

    items = list(reading)

    assert len(items) == reading.entries + reading.links


@given(st.lists(st.sampled_from(PIECES), max_size=40), st.sampled_from(["utf-8", "utf-16", "utf-16-le"]), st.booleans())
def test_random_markup_is_read_and_yields_urls_only(pieces, charset, packed):
    body = "".join(pieces).encode(charset)
    reading = Reading([gzip.compress(body) if packed else body], URL)

    items = list(reading)

    assert len(items) == reading.entries + reading.links
    assert all(item.loc.startswith(("http://", "https://")) for item in items)
    assert all(problem.message and problem.count > 0 for problem in reading.problems)


@given(st.lists(st.sampled_from(PIECES), max_size=40), st.integers(1, 20))
def test_random_markup_is_read_alike_wherever_it_is_cut(pieces, size):
    body = ("<urlset><url><loc>https://example.com/x</loc></url>" + "".join(pieces)).encode()

    whole = list(Reading([body], URL))
    cut = list(Reading((body[i : i + size] for i in range(0, len(body), size)), URL))

    assert whole == cut
