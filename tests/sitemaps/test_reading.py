import gzip
import tracemalloc

import pytest

from sitemapcrawl.entries import Entry, Lastmod, Link, Precision
from sitemapcrawl.sitemaps import Code, Kind, Limits, Reading, Severity, Verdict

URL = "https://example.com/sitemap.xml"
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def urlset(*entries, root=f'<urlset xmlns="{NAMESPACE}">'):
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n' + "\n".join(entries) + "\n</urlset>\n"


def url(loc, more=""):
    return f"<url><loc>{loc}</loc>{more}</url>"


def read(body, **limits):
    data = body.encode() if isinstance(body, str) else body
    reading = Reading([data], URL, Limits(**limits))
    return reading, [item.loc for item in reading]


def codes(reading):
    return {problem.code: problem.count for problem in reading.problems}


def test_a_regular_sitemap_yields_its_entries_and_no_problems():
    fields = "<lastmod>2024-03-05T10:20:30Z</lastmod><changefreq>daily</changefreq><priority>0.8</priority>"
    reading = Reading([urlset(url("https://example.com/a", fields)).encode()], URL)

    items = list(reading)

    lastmod = Lastmod(1709634030, Precision.SECOND)
    assert [Entry("https://example.com/a", lastmod, "daily", 0.8)] == items
    assert (Kind.URLSET, Verdict.OK, []) == (reading.kind, reading.verdict, reading.problems)
    assert (1, 0) == (reading.entries, reading.links)


def test_an_index_yields_links():
    body = "<sitemapindex><sitemap><loc>/a.xml</loc><lastmod>2024-03</lastmod></sitemap></sitemapindex>"
    reading = Reading([body.encode()], URL)

    items = list(reading)

    assert [Link("https://example.com/a.xml", Lastmod(1709251200, Precision.MONTH))] == items
    assert (0, 1) == (reading.entries, reading.links)


def test_reading_twice_yields_nothing_more():
    reading = Reading([urlset(url("https://example.com/a")).encode()], URL)

    assert 1 == len(list(reading))
    assert [] == list(reading)


def test_entries_come_out_while_bytes_still_come_in():
    body = urlset(*(url(f"https://example.com/{i}") for i in range(5000))).encode()
    taken = []

    def chunks():
        for start in range(0, len(body), 10_000):
            taken.append(start)
            yield body[start : start + 10_000]

    next(iter(Reading(chunks(), URL)))

    assert len(taken) < 5


@pytest.mark.parametrize(
    ("loc", "expected"),
    [
        ("https://example.com/?a=1&b=2", "https://example.com/?a=1&b=2"),
        ("https://example.com/?a=1&amp;b=2", "https://example.com/?a=1&b=2"),
        ("https://example.com/?a=1&copy=2&lt=3", "https://example.com/?a=1&copy=2&lt=3"),
        ("https://example.com/caf&eacute;", "https://example.com/caf%C3%A9"),
        ("https://example.com/a&#55296;b", "https://example.com/ab"),
        ("https://example.com/a&#38;b", "https://example.com/a&b"),
        ("https://example.com/a&#x26;b", "https://example.com/a&b"),
        ("https://example.com/a&#99999999999999;b", "https://example.com/ab"),
        ("https://example.com/a<b", "https://example.com/a%3Cb"),
        ("https://example.com/a<b c", "https://example.com/a%3Cb%20c"),
        ("https://example.com/a]]>b", "https://example.com/a]]%3Eb"),
        ("https://example.com/a\x0bb", "https://example.com/ab"),
        ("<![CDATA[https://example.com/?a&b;]]>", "https://example.com/?a&b;"),
        ("<![CDATA[https://example.com/]]><!-- x -->a<![CDATA[&b]]>", "https://example.com/a&b"),
    ],
)
def test_broken_text_in_a_loc_is_repaired_and_its_neighbours_are_untouched(loc, expected):
    body = urlset(url("https://example.com/before"), url(loc), url("https://example.com/after"))

    _, locs = read(body)

    assert ["https://example.com/before", expected, "https://example.com/after"] == locs


@pytest.mark.parametrize(
    "entry",
    [
        "<url><loc>https://example.com/x</loc></url></url></url>",
        "<url><loc>https://example.com/x</loc></loc></url>",
        "<url><loc>https://example.com/x</loc>",
        "<url><loc id=1>https://example.com/x</loc></url>",
        "<url><loc>https://example.com/x</url>",
        "<url><loc>https://example.com/x</loc></URL>",
        "<URL><LOC>https://example.com/x</LOC></URL>",
        "<url foo><loc>https://example.com/x</loc></url>",
        "<url><loc>https://example.com/x</loc><lastmod></url>",
        "<url><loc>https://example.com/x</loc></urlset><urlset>",
    ],
)
def test_broken_tags_of_one_entry_cost_no_other(entry):
    body = urlset(url("https://example.com/before"), entry, url("https://example.com/after"))

    reading, locs = read(body)

    assert ["https://example.com/before", "https://example.com/x", "https://example.com/after"] == locs
    assert Verdict.OK == reading.verdict


def test_a_loc_that_is_cut_by_other_markup_is_left_out_rather_than_cut():
    body = urlset(url("https://example.com/<b>x</b>"), url("https://example.com/a"))

    reading, locs = read(body)

    assert ["https://example.com/a"] == locs
    assert {Code.INVALID_URL: 1} == codes(reading)
    assert Verdict.PARTIAL == reading.verdict


def test_entries_nested_by_mistake_are_all_read():
    inner = "<image:image>" + url("https://example.com/b") + "</image:image>"
    body = urlset(url("https://example.com/a", inner), root='<urlset xmlns:image="http://example.com/image">')

    _, locs = read(body)

    assert ["https://example.com/a", "https://example.com/b"] == locs


def test_locs_of_extensions_are_no_pages_even_directly_in_an_entry():
    image = "http://www.google.com/schemas/sitemap-image/1.1"
    body = urlset(
        url("https://example.com/a", "<image:loc>https://example.com/a.jpg</image:loc>"),
        url("https://example.com/b", f'<image xmlns="{image}"><loc>https://example.com/b.jpg</loc></image>'),
        url("https://example.com/c", "<video:loc>https://example.com/c.mp4</video:loc>"),
        root=f'<urlset xmlns="{NAMESPACE}" xmlns:image="{image}">',
    )

    reading, locs = read(body)

    assert ["https://example.com/a", "https://example.com/b", "https://example.com/c"] == locs
    assert {} == codes(reading)


def test_two_documents_in_one_file_are_both_read():
    body = urlset(url("https://example.com/a")) + urlset(url("https://example.com/b"))

    reading, locs = read(body)

    assert ["https://example.com/a", "https://example.com/b"] == locs
    assert Verdict.OK == reading.verdict


def test_entries_without_a_root_are_read_and_it_is_said():
    reading, locs = read(url("https://example.com/a") + url("https://example.com/b"))

    assert ["https://example.com/a", "https://example.com/b"] == locs
    assert {Code.MISSING_ROOT: 1} == codes(reading)


def test_each_bad_value_is_counted_with_its_first_place_and_sample():
    more = "<lastmod>soon</lastmod><changefreq>mothly</changefreq><priority>high</priority>"
    body = urlset(
        url("https://example.com/a"), *[url("https://example.com/b", more)] * 2, url("mailto:x@example.com"), "<url/>"
    )

    reading, locs = read(body)

    assert 3 == len(locs)
    assert {
        Code.INVALID_LASTMOD: 2,
        Code.INVALID_CHANGEFREQ: 2,
        Code.INVALID_PRIORITY: 2,
        Code.INVALID_URL: 1,
        Code.MISSING_LOC: 1,
    } == codes(reading)
    first = next(problem for problem in reading.problems if problem.code is Code.INVALID_LASTMOD)
    assert (Severity.WARNING, "line 4", "soon") == (first.severity, first.place, first.sample)


def test_empty_values_are_absent_and_no_problem():
    reading, _ = read(urlset(url("https://example.com/a", "<lastmod/><changefreq> </changefreq><priority></priority>")))

    assert {} == codes(reading)


def test_what_is_wrong_comes_worst_first():
    body = urlset(url("https://example.com/?a&b", "<lastmod>x</lastmod>"), url("nope:"))

    reading, _ = read(body)

    assert Severity.ERROR == reading.problems[0].severity
    assert sorted(reading.problems, key=lambda p: list(Severity).index(p.severity)) == reading.problems


@pytest.mark.parametrize(
    ("body", "kind", "verdict"),
    [
        ("", Kind.UNKNOWN, Verdict.EMPTY),
        (" \n\ufeff", Kind.UNKNOWN, Verdict.EMPTY),
        ("<urlset></urlset>", Kind.URLSET, Verdict.EMPTY),
        ("<urlset/>", Kind.URLSET, Verdict.EMPTY),
        ("<!DOCTYPE html><title>x</title><a href='https://example.com/'>", Kind.HTML, Verdict.HTML),
        ("<html><body><urlset><url><loc>https://example.com/</loc></url></urlset>", Kind.HTML, Verdict.HTML),
        ('{"error": "not found"}', Kind.ERROR, Verdict.ERROR_DOCUMENT),
        ("<Error><Code>AccessDenied</Code></Error>", Kind.ERROR, Verdict.ERROR_DOCUMENT),
        ("Fatal error: out of memory", Kind.ERROR, Verdict.ERROR_DOCUMENT),
        ("<rss><channel/></rss>", Kind.RSS, Verdict.UNKNOWN_ROOT),
        ("<feed xmlns='http://www.w3.org/2005/Atom'/>", Kind.ATOM, Verdict.UNKNOWN_ROOT),
        ("<siteMap><siteMapNode/></siteMap>", Kind.UNKNOWN, Verdict.UNKNOWN_ROOT),
        ("\x89PNG\r\n", Kind.UNKNOWN, Verdict.UNKNOWN_ROOT),
    ],
)
def test_what_lists_nothing_gets_a_verdict_and_a_problem(body, kind, verdict):
    reading, locs = read(body)

    assert [] == locs
    assert (kind, verdict) == (reading.kind, reading.verdict)
    assert reading.problems


def test_a_sitemap_cut_anywhere_emits_only_whole_entries_and_says_so():
    body = urlset(*(url(f"https://example.com/{i}?a=1&amp;b=2", "<lastmod>2024-01-01</lastmod>") for i in range(3)))
    _, whole = read(body)

    for end in range(len(body)):
        reading, locs = read(body[:end])

        assert whole[: len(locs)] == locs
        assert Verdict.OK != reading.verdict or body[end:].isspace()


def test_a_gzip_file_cut_anywhere_emits_only_whole_entries_and_says_so():
    body = urlset(*(url(f"https://example.com/{i}") for i in range(20)))
    _, whole = read(body)
    packed = gzip.compress(body.encode())

    for end in range(3, len(packed)):
        reading, locs = read(packed[:end])

        assert whole[: len(locs)] == locs
        assert Verdict.TRUNCATED == reading.verdict


def test_entities_of_the_document_are_never_expanded():
    levels = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    body = f'<!DOCTYPE urlset [<!ENTITY l0 "lol"><!ENTITY x SYSTEM "file:///etc/passwd">{levels}]>' + urlset(
        url("https://example.com/&l11;"), url("https://example.com/&x;"), url("https://example.com/a")
    )
    tracemalloc.start()

    reading, locs = read(body)

    assert ["https://example.com/a"] == locs
    assert 2 == codes(reading)[Code.DOCUMENT_ENTITY]
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


def test_memory_does_not_grow_with_the_file():
    def chunks():
        yield f'<urlset xmlns="{NAMESPACE}">'.encode()
        for i in range(60_000):
            yield url(f"https://example.com/{i}").encode()

    tracemalloc.start()

    count = sum(1 for _ in Reading(chunks(), URL))

    assert 60_000 == count
    assert tracemalloc.get_traced_memory()[1] < 4_000_000
    tracemalloc.stop()


def test_the_limits_stop_a_reading_and_keep_what_came_before():
    body = urlset(*(url(f"https://example.com/{i}") for i in range(100)))

    few, first = read(body, max_entries=10)
    short, some = read(body, max_bytes=2000)

    assert (10, Verdict.TOO_BIG) == (len(first), few.verdict)
    assert (2000, Verdict.TOO_BIG) == (short.bytes, short.verdict)
    assert 0 < len(some) < 100


def test_an_entry_longer_than_the_limit_is_left_out_and_the_next_is_read():
    long = url("https://example.com/long", "<image><loc>x</loc></image>" * 20_000)
    body = urlset(url("https://example.com/a"), long, url("https://example.com/b"))

    reading, locs = read(body, max_entry=200_000)

    assert ["https://example.com/a", "https://example.com/b"] == locs
    assert {Code.ENTRY_TOO_LONG: 1} == codes(reading)


def test_a_url_longer_than_servers_take_is_left_out():
    reading, locs = read(urlset(url("https://example.com/" + "a" * 200_000), url("https://example.com/b")))

    assert ["https://example.com/b"] == locs
    assert {Code.URL_TOO_LONG: 1} == codes(reading)


def test_more_than_the_protocol_allows_is_read_and_said():
    body = "\n".join(f"https://example.com/{i}" for i in range(50_001))

    reading, locs = read(body)

    assert 50_001 == len(locs)
    assert {Code.OVER_PROTOCOL_ENTRIES: 1} == codes(reading)
    assert Verdict.OK == reading.verdict


def test_a_limit_that_would_make_urls_of_shortened_texts_is_refused():
    with pytest.raises(ValueError, match="max_text is 10: it must be more than 8190"):
        Limits(max_text=10)
