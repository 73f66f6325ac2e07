"""Which entries and further sitemaps the filters keep, and the reason given for the others."""

from collections import Counter
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawl import urls
from sitemapcrawl.arguments import Arguments
from sitemapcrawl.entries import Entry, Lastmod, Link, Precision
from sitemapcrawl.exceptions import ArgumentError
from sitemapcrawl.filters import DateFilter, Filter, Filters, NotNeeded, PatternFilter, Patterns, SitemapPatternFilter

HOST = "https://e.com"
BEFORE, AFTER = "before-since", "after-until"
#: By the length of a date's text.
PRECISIONS = {
    4: Precision.YEAR,
    7: Precision.MONTH,
    10: Precision.DAY,
    16: Precision.MINUTE,
    19: Precision.SECOND,
}


def crawler(filters=None, **arguments):
    listed = SimpleNamespace(getdict=lambda name: {"SITEMAPCRAWL_FILTERS": filters}[name])
    return SimpleNamespace(settings=listed, spider=SimpleNamespace(arguments=Arguments(**arguments)))


def moment(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def lastmod(text):
    """Return a lastmod as precise as its text is long."""
    whole = text + "0001-01-01T00:00:00"[len(text) :]
    return Lastmod(int(moment(whole).timestamp()), PRECISIONS[len(text)])


# Patterns


@pytest.mark.parametrize(
    ("pattern", "fit", "others"),
    [
        ("/blog/*", ("/blog/", "/blog/a/b?c=d"), ("/blog", "/a/blog/", "/Blog/")),
        ("/blog", ("/blog",), ("/blog/", "/blog?a", "/blogs")),
        ("*.pdf", ("/a.pdf", "/a/b.pdf"), ("/a.pdf?b", "/apdf")),
        ("*/print/*", ("/print/", "/a/print/b"), ("/print",)),
        ("*com/a", ("/com/a", "/b.com/a"), ("/a",)),
        ("about", ("/about",), ("/a/about", "/about/")),
        ("blog/*", ("/blog/a",), ("/a/blog/b",)),
        ("/a?b=*", ("/a?b=", "/a?b=c&d=/e"), ("/ab=", "/a")),
        ("/(a)+[b]", ("/(a)+[b]",), ("/aab",)),
        ("/", ("/",), ("/a", "/?a")),
        ("*", ("/", "/a?b"), ()),
        ("/größe/*", ("/gr%C3%B6%C3%9Fe/1",), ("/gr/1",)),
        ("/gr%c3%b6ße", ("/gr%C3%B6%C3%9Fe", "/gr%c3%b6%c3%9fe"), ("/GR%C3%B6%C3%9Fe",)),
        ("/50%25", ("/50%25",), ("/50%",)),
        ("/a b?{c}='d'", ("/a%20b?{c}=%27d%27",), ("/ab?{c}=%27d%27",)),
        ("/{a}", ("/%7Ba%7D", "/%7ba%7d"), ("/a",)),
        ("/a**b*c", ("/abc", "/a-b-c", "/a/b/b/c/c"), ("/acb", "/abcd")),
        ("*ab*ab", ("/abab", "/a/ab-ab"), ("/ab", "/aab")),
        ("/*é", ("/%C3%A9", "/a%C3%A9"), ("/%C3%A9a",)),
        ("https://e.com/a/*", ("/a/b",), ("/b", "/?https://e.com/a/")),
        ("https://other.org/*", (), ("/", "/https://other.org/")),
        ("*://*/a/*", ("/a/b", "/c/a/"), ("/a",)),
        (r"re:/\d+$", ("/1", "/a/22"), ("/1a",)),
        ("re:^https://e\\.com", ("/", "/a"), ()),
        ("re:(?i)BLOG", ("/blog", "/a?b=Blog"), ("/log",)),
    ],
)
def test_a_glob_fits_the_whole_path_and_an_expression_is_found_in_the_whole_url(pattern, fit, others):
    patterns = Patterns([pattern])

    assert dict.fromkeys(fit, True) == {path: patterns.fits(HOST + path) for path in fit}
    assert dict.fromkeys(others, False) == {path: patterns.fits(HOST + path) for path in others}


@given(st.lists(st.text(max_size=8) | st.sampled_from(["*", "://", "/", "%", "%c3", "\ud800", "?"]), max_size=6))
def test_no_glob_raises_and_each_fits_the_url_it_is_written_from(parts):
    glob = "".join(parts).replace("re:", "")
    Patterns([glob]).fits(HOST + "/a")

    url = urls.repair(HOST + "/" + glob.replace("\ud800", ""))
    assert Patterns([url.removeprefix(HOST)]).fits(url)


@given(st.text("ab*", max_size=7), st.text("ab", max_size=8))
def test_stars_mean_what_a_shell_means_by_them(glob, path):
    assert fnmatchcase(path, glob) == Patterns(["/" + glob]).fits(f"{HOST}/{path}")


@given(st.from_regex(r"/[!-)+-~]{0,12}", fullmatch=True))
def test_a_path_without_a_star_fits_itself_alone(path):
    assert Patterns([path]).fits(HOST + path)
    assert not Patterns([path]).fits(f"{HOST}{path}x")


@pytest.mark.parametrize(
    ("include", "exclude", "path", "expected"),
    [
        (("/a/*",), (), "/a/b", None),
        (("/a/*",), (), "/b", "not-included"),
        (("/a/*", "/b"), (), "/b", None),
        (("/a/*", "re:c$"), (), "/c", None),
        (("/a/*",), ("*.pdf",), "/a/b.pdf", "excluded"),
        (("/a/*",), ("*.pdf",), "/b.pdf", "excluded"),
        ((), ("*.pdf",), "/a", None),
        ((), ("*.pdf", "re:private"), "/private", "excluded"),
    ],
)
def test_what_is_not_included_or_is_excluded_is_dropped(include, exclude, path, expected):
    pages = PatternFilter.from_crawler(crawler(include=include, exclude=exclude))
    files = SitemapPatternFilter.from_crawler(crawler(sitemap_include=include, sitemap_exclude=exclude))

    assert (expected, None) == (pages.drop_entry(Entry(HOST + path)), pages.drop_sitemap(Link(HOST + path)))
    assert (None, expected) == (files.drop_entry(Entry(HOST + path)), files.drop_sitemap(Link(HOST + path)))


# Dates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-09T23:59:59", BEFORE),
        ("2026-01-10T00:00:00", None),
        ("2026-01-20T23:59:59", None),
        ("2026-01-21T00:00:00", AFTER),
        ("2026-01-09", BEFORE),
        ("2026-01-10", None),
        ("2026-01-20", None),
        ("2026-01-21", AFTER),
        ("2026-01-09T23:59", BEFORE),
        ("2025-12", BEFORE),
        ("2026-01", None),
        ("2026-02", AFTER),
        ("2025", BEFORE),
        ("2026", None),
        ("2027", AFTER),
        ("9999", AFTER),
        ("9999-12", AFTER),
        ("1970-01-01", BEFORE),
    ],
)
def test_a_lastmod_is_kept_if_any_moment_it_may_mean_lies_within(text, expected):
    dates = DateFilter(moment("2026-01-10"), moment("2026-01-20T23:59:59"), drops_undated=False)

    assert expected == dates.drop_entry(Entry(HOST, lastmod(text)))


@pytest.mark.parametrize(
    ("text", "since", "expected"),
    [
        ("2026-01-10", "2026-01-10T23:59:59", None),
        ("2026-01-10", "2026-01-11T00:00:00", BEFORE),
        ("2026-02", "2026-02-28T23:59:59", None),
        ("2026-02", "2026-03-01T00:00:00", BEFORE),
        ("2024-02", "2024-02-29T12:00:00", None),
        ("2026-12", "2026-12-31T23:59:59", None),
        ("2026-12", "2027-01-01T00:00:00", BEFORE),
        ("2026", "2026-12-31T23:59:59", None),
        ("2026", "2027-01-01T00:00:00", BEFORE),
        ("9999", "9999-12-31T23:59:59", None),
        ("9999-12", "9999-12-31T23:59:59", None),
        ("2026-01-10T12:30", "2026-01-10T12:30:59", None),
        ("2026-01-10T12:30", "2026-01-10T12:31:00", BEFORE),
    ],
)
def test_a_year_month_day_or_minute_lasts_to_its_last_second(text, since, expected):
    assert expected == DateFilter(moment(since), None, drops_undated=False).drop_entry(Entry(HOST, lastmod(text)))


@pytest.mark.parametrize(("drops", "expected"), [(False, None), (True, "undated")])
def test_undated_pages_are_kept_or_dropped_as_asked_and_undated_sitemaps_always_kept(drops, expected):
    dates = DateFilter(moment("2026-01-10"), None, drops_undated=drops)

    assert (expected, None) == (dates.drop_entry(Entry(HOST)), dates.drop_sitemap(Link(HOST)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2026-01-09", BEFORE), ("2026-01-10", None), ("2026-01", None), ("2027-01-01", None), ("2025", BEFORE)],
)
def test_a_child_older_than_since_is_not_read_and_until_spares_none(text, expected):
    dates = DateFilter(moment("2026-01-10"), moment("2026-01-20"), drops_undated=True)

    assert expected == dates.drop_sitemap(Link(HOST, lastmod(text)))


@given(st.integers(0, 253_402_300_799), st.sampled_from([*PRECISIONS.values()]))
def test_no_lastmod_raises_and_one_that_begins_within_is_kept(at, precision):
    dates = DateFilter(datetime.fromtimestamp(at, UTC), datetime.fromtimestamp(at, UTC), drops_undated=True)

    assert dates.drop_entry(Entry(HOST, Lastmod(at, precision))) is None


# What has nothing to do


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (PatternFilter, {"sitemap_include": ("/a",), "since": moment("2026-01-10")}),
        (SitemapPatternFilter, {"include": ("/a",), "exclude": ("/b",)}),
        (DateFilter, {"include": ("/a",), "undated": "keep"}),
    ],
)
def test_a_filter_without_its_arguments_is_not_needed(kind, arguments):
    with pytest.raises(NotNeeded):
        kind.from_crawler(crawler(**arguments))


@pytest.mark.parametrize(
    "arguments", [{"since": moment("2026-01-10")}, {"until": moment("2026-01-10")}, {"undated": "drop"}]
)
def test_since_until_or_undated_alone_need_the_date_filter(arguments):
    assert isinstance(DateFilter.from_crawler(crawler(**arguments)), DateFilter)


# Together


class Drops(Filter):
    """Drops pages and sitemaps that have a word in them."""

    def __init__(self, word, reason):
        self.word, self.reason = word, reason

    def drop_entry(self, entry):
        return self.reason if self.word in entry.loc else None

    def drop_sitemap(self, link):
        return self.drop_entry(link)


class First(Drops):
    @classmethod
    def from_crawler(cls, crawler):
        return cls("a", "first")


class Second(Drops):
    @classmethod
    def from_crawler(cls, crawler):
        return cls("b", "second")


def entries(*names):
    return [Entry(f"{HOST}/{name}") for name in names]


def test_the_first_filter_that_drops_gives_the_reason_and_drops_are_counted_with_three_samples():
    filters = Filters([Drops("a", "first"), Drops("b", "second")])

    kept = list(filters.keep_entries(entries("c", "a1", "ab", "b1", "a2", "a3")))

    assert entries("c") == kept
    assert Counter(first=4, second=1) == filters.take_dropped()
    assert {
        "first": [f"{HOST}/a1", f"{HOST}/ab", f"{HOST}/a2"],
        "second": [f"{HOST}/b1"],
    } == filters.take_samples()


def test_links_are_counted_likewise():
    filters = Filters([Drops("a", "first")])

    assert [Link(f"{HOST}/c")] == list(filters.keep_links([Link(f"{HOST}/a"), Link(f"{HOST}/c")]))
    assert Counter(first=1) == filters.dropped


def test_a_sitemap_that_robots_txt_names_is_dropped_when_excluded_but_not_when_merely_not_included():
    filters = Filters([SitemapPatternFilter(("/a*",), ("*old*",))])
    links = [Link(f"{HOST}/{name}") for name in ("a", "index", "old")]

    assert links[:2] == list(filters.keep_links(links, are_roots=True))
    assert links[:1] == list(filters.keep_links(links))
    assert Counter({"excluded": 2, "not-included": 1}) == filters.dropped


def test_what_was_taken_is_not_told_again():
    filters = Filters([Drops("a", "first")])
    list(filters.keep_entries(entries("a")))

    assert (Counter(first=1), {"first": [f"{HOST}/a"]}) == (filters.take_dropped(), filters.take_samples())
    assert (Counter(), {}) == (filters.take_dropped(), filters.take_samples())


@pytest.mark.parametrize(
    ("filters", "touches_entries", "touches_links"),
    [
        ([], False, False),
        ([Filter()], False, False),
        ([PatternFilter(("/a",), ())], True, False),
        ([SitemapPatternFilter(("/a",), ())], False, True),
    ],
    ids=["none", "one that drops nothing", "of pages", "of sitemaps"],
)
def test_what_no_filter_judges_is_handed_on_as_it_is(filters, touches_entries, touches_links):
    built, pages, links = Filters(filters), entries("c"), [Link(f"{HOST}/c")]

    assert touches_entries == (built.keep_entries(pages) is not pages)
    assert touches_links == (built.keep_links(links) is not links)


@pytest.mark.parametrize(
    ("orders", "expected"),
    [((1, 2), "first"), ((2, 1), "second"), ((None, 1), "second"), ((1, None), "first"), ((None, None), None)],
)
def test_filters_are_listed_with_their_order_and_none_disables_one(orders, expected):
    listed = dict(zip((f"{__name__}.First", Second), orders, strict=True))

    filters = Filters.from_crawler(crawler(listed))

    list(filters.keep_entries(entries("ab")))
    assert ([expected] if expected else []) == list(filters.dropped)


def test_filters_that_have_nothing_to_do_are_left_out():
    listed = {"sitemapcrawl.filters.PatternFilter": 1, "sitemapcrawl.filters.DateFilter": 2}
    filters, pages = Filters.from_crawler(crawler(listed)), entries("a")

    assert filters.keep_entries(pages) is pages


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("no_such_module.Filter", "No module named 'no_such_module'"),
        ("sitemapcrawl.filters.NoSuchFilter", "module 'sitemapcrawl.filters' has no attribute 'NoSuchFilter'"),
        ("word", "Empty module name"),
    ],
)
def test_a_listed_path_that_leads_nowhere_is_named(path, why):
    with pytest.raises(ArgumentError) as error:
        Filters.from_crawler(crawler({path: 1}))

    assert f"SITEMAPCRAWL_FILTERS lists {path}, which can't be loaded: {why}." == str(error.value)


def test_a_glob_of_many_stars_is_judged_at_once():
    assert not Patterns(["*a*a*a*a*a*a*b"]).fits("https://e.com/" + "a" * 2_000)
    assert Patterns(["*a*a*a*a*a*a*b"]).fits("https://e.com/" + "a" * 2_000 + "b")
