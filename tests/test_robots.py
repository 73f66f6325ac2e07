from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawl import robots
from sitemapcrawl.sitemaps import Code

CORPUS = Path("/work/shared/corpus/robots")
URL = "https://example.com/robots.txt"
AGENT = "sitemapcrawl"


def sitemaps(body):
    return robots.parse(body, URL).sitemaps


@pytest.mark.parametrize(
    "line",
    [
        *(
            b"Sitemap: https://example.com/a.xml",
            b"sitemap:https://example.com/a.xml",
            b"SITEMAP : https://example.com/a.xml",
        ),
        *(
            b"  Site-map:\thttps://example.com/a.xml  ",
            b"Sitemap: /a.xml",
            b"Sitemap: a.xml",
            b"Sitemap: //example.com/a.xml",
        ),
        *(
            b"sitemap https://example.com/a.xml",
            b"Sitemaps: https://example.com/a.xml",
            b"Sitemap: <https://example.com/a.xml>",
        ),
        *(
            b"Sitemap: https://example.com/a.xml # all",
            b"Sitemap: https://example.com/a.xml#all",
            b"Sitemap:\nhttps://example.com/a.xml",
        ),
        *(b"\xef\xbb\xbfSitemap: https://example.com/a.xml", "\ufeffSitemap: /a.xml".encode("utf-16-le")),
    ],
)
def test_a_sitemap_line_is_known_in_all_its_spellings(line):
    assert ["https://example.com/a.xml"] == sitemaps(line)


@pytest.mark.parametrize(
    "line", [b"# Sitemap: /a.xml", b"Disallow: /sitemap:x", b"Sitemap:", b"Sitemap: /robots.txt", b"Sitemap: ftp://x/a"]
)
def test_what_names_no_sitemap_yields_none(line):
    assert [] == sitemaps(line)


def test_sitemaps_come_in_order_and_once_whatever_group_they_stand_in():
    body = b"Sitemap: /c.xml\nUser-agent: x\nDisallow: /\nSitemap: /a.xml\n\nUser-agent: *\nSitemap: /b.xml /c.xml https://cdn.example.net/d"

    found = sitemaps(body + b" https://example.com/e.xml\nSitemap: /c.xml")

    assert "https://example.com/c.xml" == found[0]
    assert "https://example.com/a.xml" == found[1]
    assert "https://example.com/e.xml" == found[-1]
    assert len(found) == len(set(found))


@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n"])
def test_rules_and_delays_are_known_with_all_line_ends(end):
    body = end.join([b"User-agent: *", b"Disallow: /private", b"Allow: /private/open", b"Crawl-delay: 2.5"])

    found = robots.parse(body, URL)

    assert not found.allowed("https://example.com/private/x", AGENT)
    assert found.allowed("https://example.com/private/open", AGENT)
    assert 2.5 == found.crawl_delay(AGENT)


@pytest.mark.parametrize("delay", [b"", b"soon", b"-1", b"nan", b"inf"])
def test_a_delay_that_is_none_is_none(delay):
    found = robots.parse(b"User-agent: *\nCrawl-delay: " + delay, URL)

    assert found.crawl_delay(AGENT) is None


def test_an_empty_file_allows_everything_and_asks_nothing():
    found = robots.parse(b"", URL)

    assert found.allowed("https://example.com/", AGENT)
    assert ([], None, False, []) == (found.sitemaps, found.crawl_delay(AGENT), found.is_html, found.problems)


@pytest.mark.parametrize(
    "start",
    [b"<!DOCTYPE html>", b"\n<html lang=x>", b"<!-- x --> <!-- y --><head>", b"<?xml version='1.0'?><!doctype html>"],
)
def test_a_page_instead_of_a_text_gives_no_rules_and_no_sitemaps(start):
    found = robots.parse(start + b"\nUser-agent: *\nDisallow: /\nSitemap: /a.xml", URL)

    assert found.is_html
    assert [] == found.sitemaps
    assert found.allowed("https://example.com/x", AGENT)
    assert [Code.ROBOTS_HTML] == [problem.code for problem in found.problems]


def test_a_bad_byte_costs_its_line_nothing_and_other_lines_neither():
    body = b"# caf\xe9\nUser-agent: *\nDisallow: /priv\xe9\nSitemap: /caf\xe9.xml\nSitemap: /caf\xc3\xa9.xml\n"

    found = robots.parse(body, URL)

    assert ["https://example.com/caf%C3%A9.xml"] == found.sitemaps
    assert not found.allowed("https://example.com/priv%C3%A9", AGENT)
    assert {Code.BAD_BYTES: 3} == {problem.code: problem.count for problem in found.problems}


def test_at_least_500_kib_are_read_and_what_is_behind_is_said():
    line = b"Disallow: /x\n"
    body = b"User-agent: *\n" + line * (500 * 1024 // len(line)) + b"Sitemap: /a.xml\n"

    found = robots.parse(body, URL)
    cut = robots.parse(body + line * 2000 + b"Sitemap: /b.xml\n", URL)

    assert ["https://example.com/a.xml"] == found.sitemaps == cut.sitemaps
    assert [] == found.problems
    assert [Code.ROBOTS_TOO_BIG] == [problem.code for problem in cut.problems]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"User-agent: *\n", True),
        (b"\xef\xbb\xbf# a\r\n\r\n  sitemap : x", True),
        (b"# only a comment", False),
        (b"https://example.com/robots.txt", False),
        (b"<urlset>", False),
        (b" " * 100_000, False),
        (b"# \n" * 30_000 + b"x", False),
    ],
)
def test_a_robots_txt_is_known_by_its_first_directive(head, expected):
    assert expected == robots.looks_like(head)


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"{CORPUS} is not here")
def test_every_real_file_is_read():
    for path in sorted(CORPUS.iterdir()):
        found = robots.parse(path.read_bytes(), URL)

        assert all(url.startswith(("http://", "https://")) for url in found.sitemaps), path.name


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=30),
            st.sampled_from([b"Sitemap: ", b"User-agent: ", b"Disallow: ", b"\r", b"\n", b"<html", b"Crawl-delay: 1"]),
        )
    )
)
def test_no_bytes_make_it_raise(parts):
    body = b"".join(parts)

    found = robots.parse(body, URL)

    assert all(url.startswith(("http://", "https://")) for url in found.sitemaps)
    assert found.crawl_delay(AGENT) is None or found.crawl_delay(AGENT) >= 0
    robots.looks_like(body)
