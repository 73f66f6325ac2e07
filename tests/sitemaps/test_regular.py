"""The reader for regular batches and the XML reader: one meaning, or the first one declines."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawl.entries import Entry, Lastmod, Precision
from sitemapcrawl.sitemaps import Reading, regular
from sitemapcrawl.urls import repairer

BASE = "https://www.example.com/sitemap.xml"
CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "sitemaps"


def document(body):
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{body}</urlset>'.encode()


def both(monkeypatch, data):
    """What is read with and without the reader for regular batches."""
    with_it = Reading([data], BASE)
    items = list(with_it)
    monkeypatch.setattr(regular, "read", lambda text, repair: None)
    without = Reading([data], BASE)
    return (items, with_it.verdict, with_it.problems), (list(without), without.verdict, without.problems)


def test_a_regular_batch_is_read():
    text = """
      <url><loc>https://e.com/a?b=1&amp;c=2</loc><lastmod>2024-01-02T03:04:05+01:00</lastmod>
        <changefreq>daily</changefreq><priority>0.8</priority></url>
      <url>
        <loc> https://e.com/b </loc>
      </url>"""

    assert [
        Entry("https://e.com/a?b=1&c=2", Lastmod(1704161045, Precision.SECOND), "daily", 0.8),
        Entry("https://e.com/b"),
    ] == regular.read(text, repairer(BASE))


@pytest.mark.parametrize(
    "text",
    [
        "<url><loc>https://e.com/a</loc></url> x",
        "<url><loc>https://e.com/a</loc><lastmod>2024-13-01</lastmod></url>",
        "<url><loc>https://e.com/a</loc><changefreq>often</changefreq></url>",
        "<url><loc>https://e.com/a</loc><priority>7</priority></url>",
        "<url><loc>https://e.com/a</loc><priority>0.5</priority><lastmod>2024-01-01</lastmod></url>",
        "<url><loc>https://e.com/&lt;a</loc></url>",
        "<url><loc>https://e.com/a&b</loc></url>",
        "<url><loc>https://e.com/é</loc></url>",
        "<url><loc>/relative</loc></url>",
        "<url><loc><![CDATA[https://e.com/a]]></loc></url>",
        "<url><!-- x --><loc>https://e.com/a</loc></url>",
        '<url><loc x="1">https://e.com/a</loc></url>',
        "<url><loc>https://e.com/a</loc><loc>https://e.com/b</loc></url>",
        "<sitemap><loc>https://e.com/a</loc></sitemap>",
        "<url><loc>https://e.com:99999/a</loc></url>",
        "<url></url>",
    ],
)
def test_whatever_deviates_is_declined_as_a_whole(text):
    assert regular.read("<url><loc>https://e.com/first</loc></url>" + text, repairer(BASE)) is None


words = st.sampled_from(
    ["<url>", "</url>", "<loc>", "</loc>", "<lastmod>", "</lastmod>", "<changefreq>", "</changefreq>", "<priority>",
     "</priority>", "https://e.com/a", "http://e.com:80/./b", "?q=1&amp;r=2", "&amp;amp;", "&", "]]>", " ", "\n", "\t",
     "2024-01-02", "2024-01-02T03:04Z", "20240102", "2024", "daily", "0.5", "1.0", ".", "é", "\x0b", "<image:loc>"]
)  # fmt: skip
entry = st.builds(
    "<url>{0}<loc>{1}{2}</loc>{3}{4}{5}</url>".format,
    st.sampled_from(["", "\n  "]),
    st.sampled_from(
        ["https://e.com/a", "http://E.com:80/./b", "https://user@e.com", "https://e.com/%7e", "http://1.2"]
    ),
    st.text("ab/?=&;.#~|^{}[]\"'>", max_size=6).map(lambda text: re.sub("&(?!amp;)", "&amp;", text)),
    st.sampled_from(
        ["", "<lastmod>2024-01-02</lastmod>", "<lastmod>2024-1-2</lastmod>", "<lastmod>0001-01-01</lastmod>"]
    ),
    st.sampled_from(["", "<changefreq>daily</changefreq>", "\n<changefreq>nevers</changefreq>"]),
    st.sampled_from(["", "<priority>0.5</priority>", "<priority>.5</priority>", "<priority>1.5</priority>"]),
)


@given(st.lists(entry, max_size=4).map("\n".join))
def test_both_readers_agree_on_regular_documents(body):
    with pytest.MonkeyPatch.context() as monkeypatch:
        fast, slow = both(monkeypatch, document(body))

    assert slow == fast


@given(st.lists(words, max_size=30).map("".join))
def test_both_readers_agree_on_documents_in_disorder(body):
    with pytest.MonkeyPatch.context() as monkeypatch:
        fast, slow = both(monkeypatch, document(body))

    assert slow == fast


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real sitemaps is not beside this checkout")
def test_both_readers_agree_on_real_sitemaps(monkeypatch):
    differing = []
    for path in sorted(CORPUS.iterdir()):
        with pytest.MonkeyPatch.context() as patch:
            fast, slow = both(patch, path.read_bytes())
        if fast != slow:
            differing.append(path.name)

    assert [] == differing
