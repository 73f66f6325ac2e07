"""What a blacklist's lines mean, and what they leave alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawl import urls
from sitemapcrawl.blacklist import Blacklist, Kind, Rule

LISTED = "blacklisted"
NEITHER = "neither a host nor a URL pattern: write example.com, https://example.com/x/* or re:..."
NOTHING_BEHIND = "nothing stands behind it: write a host, a URL or a pattern"


def blacklist(*lines):
    found, bad = Blacklist.parse(lines, "blacklist.txt")
    assert [] == bad
    return found


# Lines


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("e.com", Rule(Kind.HOST, "e.com")),
        ("e.com # why", Rule(Kind.HOST, "e.com", "why")),
        ("\ufeff  e.com\t#why  \r\n", Rule(Kind.HOST, "e.com", "why")),
        ("host e.com", Rule(Kind.HOST, "e.com")),
        ("host: e.com", Rule(Kind.HOST, "e.com")),
        ("https://e.com", Rule(Kind.HOST, "e.com")),
        ("https://e.com:443", Rule(Kind.HOST, "e.com")),
        ("E.COM", Rule(Kind.HOST, "e.com")),
        ("exämple.de", Rule(Kind.HOST, "xn--exmple-cua.de")),
        ("*.exämple.de", Rule(Kind.HOST, "*.xn--exmple-cua.de")),
        ("e.com:8000", Rule(Kind.HOST, "e.com:8000")),
        ("127.0.0.1:8000", Rule(Kind.HOST, "127.0.0.1:8000")),
        ("[::1]", Rule(Kind.HOST, "[::1]")),
        ("localhost", Rule(Kind.HOST, "localhost")),
        ("https://E.com/Private/* # ours", Rule(Kind.URL, "https://e.com/Private/*", "ours")),
        ("e.com/private/*", Rule(Kind.URL, "*://e.com/private/*")),
        ("*.e.com/private/*", Rule(Kind.URL, "*://*.e.com/private/*")),
        ("*://*/calendar/*", Rule(Kind.URL, "*://*/calendar/*")),
        ("/calendar/*", Rule(Kind.URL, "/calendar/*")),
        ("shop*.e.com", Rule(Kind.URL, "*://shop*.e.com/*")),
        ("re:[?&]s=#x", Rule(Kind.URL, "re:[?&]s=#x")),
        ("sitemap https://e.com/old-*", Rule(Kind.SITEMAP, "https://e.com/old-*")),
        ("Sitemap: https://e.com/a.xml # r", Rule(Kind.SITEMAP, "https://e.com/a.xml", "r")),
        ("sitemap e.com", Rule(Kind.SITEMAP, "*://e.com/*")),
        ("sitemap re:old", Rule(Kind.SITEMAP, "re:old")),
        ("", None),
        ("  # comment", None),
        ("#comment", None),
        ("\ufeff# comment", None),
    ],
)
def test_a_line_is_a_rule_for_a_host_for_urls_or_for_sitemaps(line, expected):
    assert expected == Rule.parse(line)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("what is this", NEITHER),
        ("*.", NEITHER),
        ("http://", NEITHER),
        ("user@e.com", NEITHER),
        ("e.com:99999", "not a host name"),
        ("https://a b.com/*", NEITHER),
        ("sitemap", NOTHING_BEHIND),
        ("host", NEITHER),
        ("re:", "re: is empty and fits every URL"),
        ("sitemap re:", "re: is empty and fits every URL"),
        ("re:(", "missing ), unterminated subpattern at position 0"),
        ("re:a{99999999999999999999}", "the repetition number is too large"),
    ],
)
def test_a_bad_line_is_reported_with_its_number_and_stops_nothing(line, reason):
    found, bad = Blacklist.parse(["a.com", line, "b.com"], "blacklist.txt")

    assert [f"blacklist.txt:2: Invalid: {line} ({reason})"] == bad
    assert [LISTED, LISTED] == [found.reason_for_host(host) for host in ("a.com", "b.com")]


# Hosts


@pytest.mark.parametrize(
    ("line", "listed", "others"),
    [
        ("e.com", ("e.com", "e.com:8000"), ("www.e.com", "ee.com", "com", "e.com.org", "")),
        ("*.e.com", ("e.com", "www.e.com", "a.b.e.com", "a.e.com:8000"), ("ee.com", "e.com.org", "com")),
        ("e.com:8000", ("e.com:8000",), ("e.com", "e.com:8001")),
        ("*.e.com:8000", ("a.e.com:8000", "e.com:8000"), ("a.e.com", "a.e.com:8001")),
        ("127.0.0.1", ("127.0.0.1", "127.0.0.1:8000"), ("127.0.0.2",)),
        ("[::1]", ("[::1]", "[::1]:8000"), ("[::2]",)),
    ],
)
def test_a_host_rule_covers_its_ports_and_with_a_star_its_subdomains(line, listed, others):
    found = blacklist(line)

    assert dict.fromkeys(listed, LISTED) == {host: found.reason_for_host(host) for host in listed}
    assert dict.fromkeys(others) == {host: found.reason_for_host(host) for host in others}


def test_the_narrowest_host_rule_gives_the_reason():
    found = blacklist("*.e.com # all", "*.b.e.com # some", "a.b.e.com # one")

    assert ["one", "some", "all"] == [found.reason_for_host(host) for host in ("a.b.e.com", "c.b.e.com", "c.e.com")]


# URLs


@pytest.mark.parametrize(
    ("line", "listed", "others"),
    [
        (
            "https://e.com/private/*",
            ("https://e.com/private/", "https://e.com/private/a?b=/c"),
            (
                "http://e.com/private/a",
                "https://e.com/private",
                "https://www.e.com/private/a",
                "https://e.com/Private/",
            ),
        ),
        ("https://e.com/a", ("https://e.com/a",), ("https://e.com/a/", "https://e.com/a?b", "https://e.com/ab")),
        ("e.com/a*", ("http://e.com/a", "https://e.com/ab"), ("https://w.e.com/a", "https://x.org/?u=http://e.com/a")),
        ("*.e.com/a", ("http://e.com/a", "https://w.e.com/a"), ("https://ee.com/a", "https://x.org/.e.com/a")),
        ("*://*/calendar/*", ("http://e.com/calendar/1", "https://x.org/a/calendar/"), ("https://e.com/calendar",)),
        ("/calendar/*", ("http://e.com/calendar/1", "https://x.org:8000/calendar/"), ("https://e.com/a/calendar/1",)),
        ("https://e.com/größe/*", ("https://e.com/gr%C3%B6%C3%9Fe/1",), ("https://e.com/gr/1",)),
        ("https://e.com/gr%c3%b6ße/*", ("https://e.com/gr%C3%B6%C3%9Fe/1",), ("https://e.com/gr/1",)),
        ("*.e.com/*a*b", ("https://e.com/ab", "http://w.e.com/a-b"), ("https://e.com/b/a",)),
        ("shop*.e.com/*a", ("https://shop1.e.com/a", "https://shop.e.com/b/a"), ("https://e.com/shop.e.com/a",)),
        ("https://exämple.de/*", ("https://xn--exmple-cua.de/a",), ("https://e.com/",)),
        ("https://e.com/a.b?c=(1)*", ("https://e.com/a.b?c=(1)2",), ("https://e.com/axb?c=(1)",)),
        ("re:[?&]s=", ("https://e.com/?s=1", "https://x.org/a?b=1&s="), ("https://e.com/s=",)),
        ("re:(?i)/PRINT$", ("https://e.com/print",), ("https://e.com/print/1",)),
        ("e.com", (), ("https://e.com/",)),
        ("sitemap https://e.com/*", (), ("https://e.com/",)),
    ],
)
def test_a_url_rule_speaks_of_whole_urls_and_a_star_stands_for_anything(line, listed, others):
    found = blacklist(line)

    assert dict.fromkeys(listed, LISTED) == {url: found.reason_for_url(url) for url in listed}
    assert dict.fromkeys(others) == {url: found.reason_for_url(url) for url in others}


def test_many_patterns_are_tried_together_and_each_keeps_its_reason():
    found = blacklist(*(f"https://e.com/{n}/* # the {n}th" for n in range(200)), r"re:(x)\1 # twice", "re:(y)|(z) # y")

    assert ["the 0th", "the 77th", "the 199th", "twice", "y", None] == [
        found.reason_for_url(f"https://e.com/{path}") for path in ("0/", "77/a", "199/0/", "xx", "z", "200/")
    ]


# Sitemaps


@pytest.mark.parametrize(
    ("line", "listed", "others"),
    [
        ("sitemap https://e.com/old-*", ("https://e.com/old-1.xml",), ("https://e.com/new.xml",)),
        ("sitemap /old-*", ("http://e.com/old-1.xml", "https://x.org/old-"), ("https://e.com/a/old-1.xml",)),
        ("sitemap e.com", ("https://e.com/a.xml", "http://e.com/"), ("https://www.e.com/a.xml",)),
        ("sitemap *", ("https://e.com/a.xml",), ()),
        ("sitemap re:old", ("https://old.com/",), ("https://e.com/",)),
        ("*.e.com", ("https://www.e.com/a.xml",), ("https://x.org/a.xml",)),
        ("https://e.com/*", (), ("https://e.com/a.xml",)),
    ],
    ids=["URL", "path", "host", "all", "expression", "a host rule", "a rule for pages"],
)
def test_a_sitemap_is_left_alone_by_its_own_rules_and_its_hosts_but_not_by_those_of_pages(line, listed, others):
    found = blacklist(line)

    assert dict.fromkeys(listed, LISTED) == {url: found.reason_for_sitemap(url) for url in listed}
    assert dict.fromkeys(others) == {url: found.reason_for_sitemap(url) for url in others}


def test_an_empty_blacklist_lists_nothing():
    found = blacklist()

    assert [None] * 3 == [
        found.reason_for_host("e.com"),
        found.reason_for_url("https://e.com/"),
        found.reason_for_sitemap("https://e.com/"),
    ]


# Whatever comes

words = st.text(max_size=8) | st.sampled_from(
    ["sitemap ", "host ", "re:", "*", "://", "/", "#", "e.com", "*.", "[::1]"]
)


@given(st.lists(words, max_size=5).map("".join))
def test_no_line_raises(line):
    found, bad = Blacklist.parse([line], "b")

    assert len(bad) <= 1
    found.reason_for_url("https://e.com/a")
    found.reason_for_sitemap("https://e.com/a")
    found.reason_for_host("e.com")


@given(st.from_regex(r"https?://[a-z]{1,9}\.com/[ -~äß]{0,20}", fullmatch=True).filter(lambda url: "*" not in url))
def test_a_repaired_url_lists_itself(url):
    repaired = urls.repair(url)

    assert LISTED == blacklist(repaired).reason_for_url(repaired)
