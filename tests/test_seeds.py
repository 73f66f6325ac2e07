"""Seed lines, and what ``-a seeds=`` means, as tables; no text may break them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawl import seeds, urls
from sitemapcrawl.exceptions import SeedError
from sitemapcrawl.seeds import BadSeed, Seed, Source, SourceKind

WWW = "http://www.example.com/"
ONE_AND_TWO = (WWW + "sitemap1.xml", WWW + "sitemap2.xml")
NO_DOMAIN = "no known top-level domain: if it is a host, write http:// before it; if it is a file, a path that exists"


# Nutch's format


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("http://www.example.com/ sitemaps: sitemap1.xml sitemap2.xml", ONE_AND_TWO),
        ("http://www.example.com/\tsitemaps: sitemap1.xml sitemap2.xml", ONE_AND_TWO),
        ("http://www.example.com/\tsitemaps:\tsitemap1.xml\tsitemap2.xml", ONE_AND_TWO),
        ("http://www.example.com/  sitemaps:  sitemap1.xml   sitemap2.xml ", ONE_AND_TWO),
        ("http://www.example.com/ sitemaps:sitemap1.xml sitemap2.xml", ONE_AND_TWO),
        ("http://www.example.com/ sitemap: sitemap1.xml sitemaps: sitemap2.xml", ONE_AND_TWO),
        ("http://www.example.com/ SITEMAPS: sitemap1.xml, sitemap2.xml", ONE_AND_TWO),
        ("http://www.example.com/ sitemaps: sitemap1.xml sitemap2.xml sitemap1.xml", ONE_AND_TWO),
        ("http://www.example.com sitemaps: sitemap1.xml sitemap2.xml", ONE_AND_TWO),
        ("http://www.example.com/ score=2 sitemaps: sitemap1.xml sitemap2.xml interval=1d", ONE_AND_TWO),
        ("http://www.example.com/ sitemaps:", ()),
        ("http://www.example.com/", ()),
        ("http://www.example.com/dir sitemaps: a.xml", (WWW + "a.xml",)),
        ("http://www.example.com/dir/ sitemaps: a.xml", (WWW + "dir/a.xml",)),
        ("http://www.example.com/dir/ sitemaps: /a.xml", (WWW + "a.xml",)),
        ("http://www.example.com/ sitemaps: https://other.org/a.xml?x=1", ("https://other.org/a.xml?x=1",)),
        ("http://www.example.com/ sitemaps: //other.org/a.xml", ("http://other.org/a.xml",)),
        ("http://www.example.com/ sitemaps: ?page=1 a:b.xml", None),
        ("http://www.example.com/robots.txt sitemaps: a.xml", (WWW + "a.xml",)),
    ],
    ids=[
        *("as in the readme", "a tab", "tabs", "double blanks", "glued", "labelled twice", "commas", "named twice"),
        *("no final slash", "among fields", "none named", "no label", "in a folder", "below a folder", "absolute path"),
        *("absolute", "absolute without scheme", "another scheme", "beside robots.txt"),
    ],
)
def test_names_after_sitemaps_are_joined_to_the_seed_like_links(line, expected):
    if expected is None:
        with pytest.raises(SeedError, match=r"the sitemap a:b\.xml is no URL"):
            seeds.parse_line(line)
    else:
        assert expected == seeds.parse_line(line).sitemaps


@pytest.mark.parametrize(
    ("line", "score", "interval"),
    [
        ("e.com", 1.0, None),
        ("e.com score=2 interval=1d", 2.0, 86_400),
        ("e.com\tnutch.score=2.5\tnutch.fetchInterval=2592000", 2.5, 2_592_000),
        ("e.com nutch.fetchinterval=60 Score=.5", 0.5, 60),
        ("e.com interval=90s", 1.0, 90),
        ("e.com interval=30m", 1.0, 1_800),
        ("e.com interval=1.5h", 1.0, 5_400),
        ("e.com interval=2W", 1.0, 1_209_600),
    ],
    ids=["neither", "ours", "nutch's", "any case", "seconds", "minutes", "half hours", "weeks"],
)
def test_score_and_interval_are_read_in_both_spellings(line, score, interval):
    seed = seeds.parse_line(line)

    assert (score, interval) == (seed.score, seed.interval_seconds)


# What the line's own URL is


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("testfire.net", "https://testfire.net/"),
        ("www.gov.uk", "https://www.gov.uk/"),
        ("e.com.", "https://e.com/"),
        ("e.com/a.?b", "https://e.com/a.?b"),
        ("//e.com/a", "https://e.com/a"),
        ("exämple.de", "https://xn--exmple-cua.de/"),
        ("http://exämple.de/ä", "http://xn--exmple-cua.de/%C3%A4"),
        ("пример.рф", "https://xn--e1afmkfd.xn--p1ai/"),
        ("e.com:8000", "http://e.com:8000/"),
        ("e.com:443", "https://e.com/"),
        ("e.com:80", "http://e.com/"),
        ("localhost", "http://localhost/"),
        ("localhost:8000", "http://localhost:8000/"),
        ("localhost:8000/a", "http://localhost:8000/a"),
        ("intranet:8080", "http://intranet:8080/"),
        ("http://intranet", "http://intranet/"),
        ("127.0.0.1", "http://127.0.0.1/"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("[::1]", "http://[::1]/"),
        ("[::1]:8000", "http://[::1]:8000/"),
        ("HTTP://E.COM:80/a/../b", "http://e.com/b"),
        ("http:/e.com/", "http://e.com/"),
        ("https:e.com", "https://e.com/"),
        ("http://user:pw@e.com/", "http://user:pw@e.com/"),
        ("https://e.com/robots.txt", "https://e.com/"),
        ("e.com/robots.txt?x=1", "https://e.com/"),
    ],
    ids=[
        *(
            "bare host",
            "public suffix of its own",
            "full stop",
            "path",
            "without scheme",
            "IDN",
            "IDN URL",
            "IDN domain",
        ),
        *("port", "TLS port", "web port", "localhost", "its port", "its path", "intranet with port", "intranet by URL"),
        *("IPv4", "IPv4 port", "IPv6", "IPv6 port", "untidy", "one slash", "no slash", "login", "robots.txt"),
        "robots.txt without scheme",
    ],
)
def test_a_seed_is_a_url_or_a_bare_host(line, expected):
    assert Seed(expected) == seeds.parse_line(line)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("https://e.com/news -sitemap", True),
        ("https://e.com/news.xml -sitemap", True),
        ("https://e.com/ -Sitemaps", True),
        ("https://e.com/sitemap.xml", True),
        ("e.com/sitemap_index.xml.gz", True),
        ("https://e.com/sitemap.php?page=2", True),
        ("https://e.com/pages.txt", True),
        ("https://e.com/atom.xml", True),
        ("https://e.com/blog/feed", True),
        ("https://e.com/feed/", True),
        ("https://e.com/rss", True),
        ("https://e.com/feeders", False),
        ("https://e.com/sitemaps/page", False),
        ("https://e.com/?x=sitemap.xml", False),
        ("https://sitemap.com/", False),
        ("https://e.com/robots.txt", False),
        ("https://e.com/robots.txt -sitemap", False),
    ],
)
def test_a_seed_is_itself_a_sitemap_by_its_flag_or_its_path(line, expected):
    assert expected == seeds.parse_line(line).is_sitemap


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/data/sitemap.xml", "file:///data/sitemap.xml"),
        ("./sitemap.xml", Path.cwd().as_uri() + "/sitemap.xml"),
        ("~/sitemap.xml", Path.home().as_uri() + "/sitemap.xml"),
        ("file:///data/my%20sitemap.xml", "file:///data/my%20sitemap.xml"),
        ("FILE:/data/ü", "file:///data/%C3%BC"),
    ],
    ids=["absolute", "relative", "home", "URL", "untidy URL"],
)
def test_a_path_is_a_local_sitemap(line, expected):
    assert Seed(expected, is_sitemap=True, is_local=True) == seeds.parse_line(line)


# What is overlooked


@pytest.mark.parametrize(
    "line",
    [
        *("* http://e.com/", "*http://e.com/", "- http://e.com/", "+ http://e.com/", "• http://e.com/"),
        *("•http://e.com/", "\u2013 http://e.com/", "3. http://e.com/", "12) http://e.com/", "\ufeff* http://e.com/"),
        *('"http://e.com/"', "<http://e.com/>", "'http://e.com/',", "http://e.com/;", "\u200bhttp://e.com/\u200b"),
        *("  http://e.com/ ", "http://e.com/\r\n", "\xa0http://e.com/\xa0"),
        *("http://e.com/ # a comment", "http://e.com/\t#comment", "http://e.com/#fragment", "http://e.com/#a # b"),
    ],
)
def test_bullets_quotes_blanks_comments_and_fragments_are_overlooked(line):
    assert Seed("http://e.com/") == seeds.parse_line(line)


@pytest.mark.parametrize("line", ["", "  \t", "# comment", "  #comment", "#", "\ufeff", "\ufeff# comment", "\n"])
def test_a_blank_line_or_a_comment_is_no_seed(line):
    assert seeds.parse_line(line) is None


def test_a_hash_inside_a_sitemap_name_begins_no_comment():
    assert ("http://e.com/a.xml", "http://e.com/b.xml") == seeds.parse_line(
        "http://e.com/ sitemaps: a.xml#x b.xml"
    ).sitemaps


# What is wrong


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("word", NO_DOMAIN),
        ("news", NO_DOMAIN),
        ("seeds.txt", NO_DOMAIN),
        ("data/seeds.txt", NO_DOMAIN),
        ("123", NO_DOMAIN),
        ("1.2.3", NO_DOMAIN),
        ("999.1.1.1", "neither a URL nor a host name"),
        ("a.com,b.com", "neither a URL nor a host name"),
        ("\ud800", "neither a URL nor a host name"),
        ("*.e.com", "neither a URL nor a host name"),
        ("somebody@e.com", "neither a URL nor a host name"),
        ("mailto:somebody@e.com", "neither a URL nor a host name"),
        ("e.com:port", "neither a URL nor a host name"),
        ("e.com:99999", "neither a URL nor a host name"),
        ("::1", "neither a URL nor a host name"),
        ("http://a.com,http://b.com", "a.com,http is no host name"),
        ("http://", "not an http or https URL"),
        ("http:// e.com", "not an http or https URL"),
        ("http://[no-host/", "not an http or https URL"),
        ("ftp://e.com/", "not an http or https URL"),
        ("htp://e.com/", "not an http or https URL"),
        ("file:", "names no file"),
        ("file://[", "names no file"),
        ("/", "names no file"),
        ("./a\x00b", "names no file"),
        ("-sitemap http://e.com/a", "a line begins with its URL or host"),
        ("sitemaps: a.xml", "a line begins with its URL or host"),
        ("score=2 e.com", "a line begins with its URL or host"),
        ("http://e.com/ scor=2", "scor=2 is not known here: did you mean score?"),
        (
            "http://e.com/ nutch.fetchIntervall=2",
            "nutch.fetchIntervall=2 is not known here: did you mean nutch.fetchInterval?",
        ),
        ("http://e.com/ intervall=2", "intervall=2 is not known here: did you mean interval?"),
        ("http://e.com/ sitmaps: a.xml", "sitmaps: is not known here: did you mean sitemaps:?"),
        ("http://e.com/ sitemaps : a.xml", "sitemaps is not known here: did you mean sitemaps:?"),
        ("http://e.com/ --sitemap", "--sitemap is not known here: did you mean -sitemap?"),
        ("http://e.com/ a.xml", "a.xml is not known here: one seed a line; sitemap names need sitemaps: before them"),
        ("a.com b.com", "b.com is not known here: one seed a line; sitemap names need sitemaps: before them"),
        ("http://e.com/ sitemaps: ftp://e.com/a.xml", "the sitemap ftp://e.com/a.xml is no URL"),
        ("http://e.com/ score=high", "score=high is no number above 0"),
        ("http://e.com/ score=0", "score=0 is no number above 0"),
        ("http://e.com/ score=nan", "score=nan is no number above 0"),
        ("http://e.com/ score=1e999", "score=1e999 is no number above 0"),
        ("http://e.com/ interval=", "interval= is no time: write seconds, or 30m, 12h, 1d, 2w"),
        ("http://e.com/ interval=1x", "interval=1x is no time: write seconds, or 30m, 12h, 1d, 2w"),
        ("http://e.com/ interval=0", "interval=0 is not between a second and ten years"),
        ("http://e.com/ interval=9999w", "interval=9999w is not between a second and ten years"),
        ("http://e.com/ interval=" + "9" * 400, f"interval={'9' * 20} is no time: write seconds, or 30m, 12h, 1d, 2w"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_with_what_to_write(line, reason):
    with pytest.raises(SeedError) as error:
        seeds.parse_line(line)

    assert reason == str(error.value)


def test_lines_are_numbered_and_bad_ones_stop_nothing():
    text = "# sites\n\nhttp://a.com/\nword\n* b.com  scor=2\nc.com sitemaps: s.xml"

    found = list(seeds.parse(text.split("\n"), "seeds.txt"))

    assert [
        Seed("http://a.com/", line=3),
        BadSeed("seeds.txt", 4, "word", NO_DOMAIN),
        BadSeed("seeds.txt", 5, "* b.com  scor=2", "scor=2 is not known here: did you mean score?"),
        Seed("https://c.com/", ("https://c.com/s.xml",), line=6),
    ] == found


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (BadSeed("seeds.txt", 12, "ftp://e.com/", "why"), "seeds.txt:12: Invalid: ftp://e.com/ (why)"),
        (BadSeed("stdin", 1, "x" * 90, "why"), f"stdin:1: Invalid: {'x' * 79}… (why)"),
        (BadSeed("l", 1, "a\tb\x1b[2Jc", "d\ne"), "l:1: Invalid: a b [2Jc (d e)"),
    ],
    ids=["short", "long", "control characters"],
)
def test_a_bad_line_is_reported_in_one_printable_line(bad, expected):
    assert expected == str(bad)


# Files


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"a.com\nb.com\n", "a.com\nb.com\n"),
        (b"a.com\r\nb.com", "a.com\nb.com"),
        (b"a.com\rb.com\r\r\nc.com", "a.com\nb.com\n\nc.com"),
        (b"\xef\xbb\xbfa.com", "a.com"),
        ("\ufeffä.com\r\nb.com".encode("utf-16-le"), "ä.com\nb.com"),
        ("\ufeffä.com\rb.com".encode("utf-16-be"), "ä.com\nb.com"),
        ("\ufeffa.com".encode("utf-16-le") + b"\n", "a.com\ufffd"),
        ("ä.com".encode(), "ä.com"),
        ("ä.com".encode("latin-1"), "ä.com"),
        ("ä.com\n".encode() + b"\xe4.com\n\x81.com", "ä.com\nä.com\n\ufffd.com"),
        (b"a\x00.com", "a.com"),
        (b"", ""),
    ],
    ids=[
        *("LF", "CRLF", "CR", "BOM", "UTF-16LE", "UTF-16BE", "half a UTF-16 unit", "UTF-8", "Windows", "mixed", "NUL"),
        "empty",
    ],
)
def test_a_file_is_decoded_whatever_its_encoding_and_line_ends(body, expected):
    assert expected == seeds.decode(body)


# -a seeds=


@pytest.mark.parametrize(
    ("argument", "kind", "value"),
    [
        ("seeds.txt", SourceKind.FILE, "seeds.txt"),
        (" seeds.txt\n", SourceKind.FILE, "seeds.txt"),
        ("~/seeds.txt", SourceKind.FILE, str(Path.home() / "seeds.txt")),
        ("-", SourceKind.STDIN, ""),
        ("redis:my:seeds", SourceKind.REDIS, "my:seeds"),
        ("https://e.com/seeds.txt", SourceKind.URL, "https://e.com/seeds.txt"),
        ("HTTPS://e.com/seeds.txt", SourceKind.URL, "HTTPS://e.com/seeds.txt"),
        ("https://e.com/lists/7?format=text", SourceKind.URL, "https://e.com/lists/7?format=text"),
        ("https://e.com/sitemap.xml", SourceKind.LINES, "https://e.com/sitemap.xml"),
        ("https://e.com/sitemap.txt", SourceKind.LINES, "https://e.com/sitemap.txt"),
        ("https://e.com/news.rss", SourceKind.LINES, "https://e.com/news.rss"),
        ("https://e.com/feed/", SourceKind.LINES, "https://e.com/feed/"),
        ("https://e.com/robots.txt", SourceKind.LINES, "https://e.com/robots.txt"),
        ("https://e.com/", SourceKind.LINES, "https://e.com/"),
        ("https://e.com", SourceKind.LINES, "https://e.com"),
        ("https://e.com?a=/b.txt", SourceKind.LINES, "https://e.com?a=/b.txt"),
        ("https://[no-host/seeds.txt", SourceKind.LINES, "https://[no-host/seeds.txt"),
        ("https://e.com/ sitemaps: a.xml", SourceKind.LINES, "https://e.com/ sitemaps: a.xml"),
        ("testfire.net", SourceKind.LINES, "testfire.net"),
        ("a.com\\nb.com", SourceKind.LINES, "a.com\nb.com"),
        ("a.com\nb.com\n", SourceKind.LINES, "a.com\nb.com"),
        ("redis:", SourceKind.LINES, "redis:"),
        ("redis://localhost/0", SourceKind.LINES, "redis://localhost/0"),
        ("missing.txt", SourceKind.LINES, "missing.txt"),
        ("", SourceKind.LINES, ""),
    ],
)
def test_a_seeds_argument_is_a_file_a_list_on_the_web_stdin_a_redis_key_or_lines(argument, kind, value):
    files = ("seeds.txt", str(Path.home() / "seeds.txt"))

    assert Source(kind, value) == seeds.describe(argument, files.__contains__)


def test_lines_too_long_for_a_file_name_are_lines():
    lines = "\n".join(f"host{n}.com" for n in range(500))

    assert Source(SourceKind.LINES, lines) == seeds.describe(lines, lambda path: Path(path).is_file())


def test_a_file_called_as_a_seed_is_a_file():
    assert Source(SourceKind.FILE, "testfire.net") == seeds.describe("testfire.net", lambda _: True)


# Whatever comes

words = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["http://e.com/", "e.com", "file:", "sitemaps:", "-sitemap", "*", "#", "~/", "/", "//[", "\ud800"]),
    st.from_regex(r"(score|interval|nutch\.score)=[0-9a-z.]{0,8}", fullmatch=True),
)


@given(st.lists(words, max_size=6), st.sampled_from(["", " ", "\t"]))
def test_no_text_raises_anything_but_a_seed_error_and_what_is_read_can_be_asked(parts, joint):
    try:
        seed = seeds.parse_line(joint.join(parts), 7)
    except SeedError:
        return

    if seed is not None:
        asked = seed.sitemaps if seed.is_local else (seed.url, *seed.sitemaps)
        assert all(url == urls.repair(url) for url in asked)
        assert seed.score > 0
        assert seed.line == 7


@given(st.binary(max_size=60) | st.binary(max_size=30).map(b"\xff\xfe".__add__))
def test_decoding_never_raises_and_leaves_one_kind_of_line_end(body):
    assert not {"\r", "\x00"} & set(seeds.decode(body))


@given(st.lists(words, max_size=4).map(" ".join))
def test_describing_never_raises(argument):
    assert isinstance(seeds.describe(argument, lambda path: Path(path).is_file()), Source)
