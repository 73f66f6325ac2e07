"""URLs: repaired as a browser does, compared by one form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawl import urls

BASE = "https://www.example.com/dir/sitemap.xml"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://www.example.com/a", "https://www.example.com/a"),
        ("/a", "https://www.example.com/a"),
        ("a", "https://www.example.com/dir/a"),
        ("//other.org/a", "https://other.org/a"),
        ("?q=1", "https://www.example.com/dir/sitemap.xml?q=1"),
        ("\u200b\n https://e.com/a\t\ufeff", "https://e.com/a"),
        ("HTTPS://E.COM:443/a/../b#frag", "https://e.com/b"),
        ("https://e.com/a b/ü?c=d e", "https://e.com/a%20b/%C3%BC?c=d%20e"),
        ("https://exämple.de", "https://xn--exmple-cua.de/"),
        ("http://0x7f.1:8000/a", "http://127.0.0.1:8000/a"),
        ("https://e.com\\a", "https://e.com/a"),
        ("http://e.com/.well-known/./x", "http://e.com/.well-known/x"),
        ("https://e.com/\ud800", "https://e.com/?"),
        ("", None),
        ("   ", None),
        ("mailto:a@b.c", None),
        ("javascript:alert(1)", None),
        ("ftp://e.com/a", None),
        ("https://e .com/", None),
        ("https://e.com:99999/a", None),
        ("https://[::1/", None),
    ],
)
def test_a_url_is_repaired_as_a_browser_does(text, expected):
    assert expected == urls.repair(text, BASE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://e.com/a?b=1&c=2", "https://e.com/a?c=2&b=1"),
        ("https://e.com/%7Ea", "https://e.com/~a"),
        ("https://e.com/%e4", "https://e.com/%E4"),
        ("https://e.com/a?a-=0&a=1", "https://e.com/a?a=1&a-=0"),
    ],
)
def test_two_spellings_of_one_url_have_one_fingerprint(one, other):
    assert urls.fingerprint(one) == urls.fingerprint(other)


@pytest.mark.parametrize(
    ("url", "host", "base"),
    [
        ("https://www.example.com/a/b", "www.example.com", "https://www.example.com/"),
        ("http://user:pw@e.com:8080/a", "e.com:8080", "http://user:pw@e.com:8080/"),
        ("http://[::1]:8080/a", "[::1]:8080", "http://[::1]:8080/"),
    ],
)
def test_the_host_key_has_the_port_where_it_is_not_the_scheme_s(url, host, base):
    assert (host, base) == (urls.host_key(url), urls.base_of(url))


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("example.com:8080", "example.com:8080"),
        ("a.github.io", "a.github.io"),
        ("localhost:8000", "localhost:8000"),
        ("127.0.0.1:8000", "127.0.0.1:8000"),
        ("[::1]:8000", "[::1]:8000"),
        ("www.intranet", "intranet"),
    ],
)
def test_the_site_is_the_registrable_domain_or_the_host(host, expected):
    assert expected == urls.site(host)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost:8000", True),
        ("127.0.0.1", True),
        ("10.1.2.3:80", True),
        ("169.254.169.254", True),
        ("[::1]:8000", True),
        ("[::ffff:10.0.0.1]", True),
        ("8.8.8.8", False),
        ("www.example.com", False),
        ("[2606:4700::1111]", False),
    ],
)
def test_private_addresses_are_known(host, expected):
    assert expected == urls.is_private(host)


@given(st.text(max_size=80))
def test_repairing_never_raises_and_what_it_returns_needs_no_repair(text):
    url = urls.repair(text, BASE)

    if url is not None:
        assert url == urls.repair(url)
        assert urls.repair(url, "https://elsewhere.org/") == url
        assert 10**18 <= urls.fingerprint(url) < 2**63
        assert urls.host_key(url)


@given(st.from_regex(r"https?://[a-z0-9.:-]{1,20}(/[A-Za-z0-9._~-]{0,8}){0,4}", fullmatch=True))
def test_the_short_way_for_plain_urls_gives_what_the_long_way_gives(text):
    plain = urls._is_plain(text)

    if plain:
        assert text == str(urls.can_ada.parse(text).href)
        assert text == urls.canonicalize_url(text)


@given(st.from_regex(r"https://e\.com/a\?(a|a-|b)=[ab.~-]{0,2}(&(a|a-|a~)=[ab.~-]{0,2}){0,3}[&=]?", fullmatch=True))
def test_the_short_way_for_plain_queries_gives_what_the_long_way_gives(url):
    assert urls.canonicalize_url(url) == urls.canonical(url)
