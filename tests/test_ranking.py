"""The rank of a page, as a table and as properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawl import ranking
from sitemapcrawl.entries import CHANGEFREQS, Entry, Lastmod, Precision

NOW = 1_800_000_000.0
DAY = 86_400
WEIGHTS = {"priority": 0.35, "freshness": 0.35, "changefreq": 0.1, "depth": 0.2}


def entry(loc="https://e.com/a", days=None, changefreq=None, priority=None):
    return Entry(
        loc, Lastmod(int(NOW - days * DAY), Precision.SECOND) if days is not None else None, changefreq, priority
    )


def context(**fields):
    return ranking.Context(NOW, WEIGHTS, **fields)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (entry("https://e.com/"), (None, None, None, 1.0)),
        (entry("https://e.com/a/b/c"), (None, None, None, 1 / 3)),
        (entry("https://e.com/a/b/c/"), (None, None, None, 1 / 3)),
        (entry(days=0), (None, 1.0, None, 1.0)),
        (entry(days=30), (None, 0.5, None, 1.0)),
        (entry(days=60), (None, 0.25, None, 1.0)),
        (entry(days=-0.5), (None, 1.0, None, 1.0)),
        (entry(days=-3), (None, None, None, 1.0)),
        (entry(changefreq="never"), (None, None, 0.0, 1.0)),
    ],
    ids=[
        "home",
        "deep",
        "deep with slash",
        "now",
        "one half-life",
        "two",
        "ahead by a time zone",
        "ahead",
        "changefreq",
    ],
)
def test_each_part_says_what_the_site_said_or_nothing(found, expected):
    assert expected == pytest.approx(ranking.rank(found, context()).parts)


@pytest.mark.parametrize(
    ("priority", "histogram", "expected"),
    [
        (1.0, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9], None),
        (1.0, [0, 0, 0, 0, 0, 90, 0, 0, 0, 0, 10], 0.95),
        (0.5, [0, 0, 0, 0, 0, 90, 0, 0, 0, 0, 10], 0.45),
        (0.0, [50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50], 0.25),
        (None, [50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50], None),
        (0.5, [], None),
    ],
    ids=["all equal", "best tenth", "the rest", "lower half", "none given", "nothing known"],
)
def test_priority_counts_as_a_percentile_within_its_site(priority, histogram, expected):
    parts = ranking.rank(entry(priority=priority), context(priorities=histogram)).parts

    assert expected == parts.priority


def test_the_rank_is_the_weighted_mean_and_what_is_not_known_counts_half():
    found = ranking.rank(entry(days=0, changefreq="daily"), context())

    assert 0.35 * 0.5 + 0.35 * 1.0 + 0.1 * 0.85 + 0.2 * 1.0 == pytest.approx(found.value)


def test_a_page_of_which_nothing_is_known_stands_below_a_fresh_one():
    unknown, fresh = (ranking.rank(entry(days=days), context()).value for days in (None, 0))

    assert unknown < fresh


def test_a_seed_s_score_multiplies_and_the_rank_stays_below_one():
    half, double = (ranking.rank(entry(days=30), context(score=score)).value for score in (0.5, 10))

    assert ranking.rank(entry(days=30), context()).value / 2 == pytest.approx(half)
    assert 1.0 == double


def test_a_lastmod_that_is_not_trusted_says_nothing():
    assert ranking.rank(entry(days=0), context(trusts_lastmod=False)).parts.freshness is None


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ([5] * 20, False),
        ([5] * 18 + [6, 7], True),
        ([5] * 9, True),
        (list(range(20)), True),
        ([-9 - n for n in range(11)] + list(range(9)), False),
        ([], True),
    ],
    ids=["stamped", "just not stamped", "too few to tell", "honest", "mostly ahead", "undated"],
)
def test_stamped_lastmods_are_not_trusted(days, expected):
    assert expected == ranking.trusts_lastmod([entry(days=n) for n in days], NOW)


def test_sitemaps_are_read_by_who_named_them_and_the_newest_first():
    ranks = [
        ranking.rank_sitemap("seed", None, NOW),
        ranking.rank_sitemap("robots", None, NOW),
        ranking.rank_sitemap("index", NOW - DAY, NOW),
        ranking.rank_sitemap("index", NOW - 900 * DAY, NOW),
        ranking.rank_sitemap("path", None, NOW),
    ]

    assert sorted(ranks, reverse=True) == ranks


entries = st.builds(
    entry,
    st.sampled_from(["https://e.com/", "https://e.com/a/b", "https://e.com/a/b/c/d/e?x=1"]),
    st.none() | st.floats(-1000, 10_000),
    st.none() | st.sampled_from(CHANGEFREQS),
    st.none() | st.floats(0, 1),
)


@given(entries, st.lists(st.integers(0, 1000), min_size=11, max_size=11), st.floats(0, 5))
def test_a_rank_is_between_zero_and_one_and_the_fast_way_agrees(found, histogram, score):
    here = context(priorities=histogram, score=score)

    slow, fast = ranking.rank(found, here).value, ranking.rank_all([found, found], here)[1]

    assert 0 <= slow <= 1
    assert slow == pytest.approx(fast)
