"""Spider arguments as tables: what each may be, and the sentence for what it may not."""

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawl import arguments
from sitemapcrawl.arguments import HELP, Arguments
from sitemapcrawl.exceptions import ArgumentError

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
DAY_END = {"hour": 23, "minute": 59, "second": 59, "microsecond": 999_999}
PATTERNS = ("include", "exclude", "sitemap_include", "sitemap_exclude")
COUNTS = ("max_urls", "max_per_host", "max_sitemaps")


def parse(**raw):
    return arguments.parse(raw, NOW)


def refusal(**raw):
    with pytest.raises(ArgumentError) as error:
        parse(**raw)
    return str(error.value)


def test_without_arguments_all_is_kept_and_an_unfinished_run_resumed():
    assert Arguments(seeds="", undated="keep", run="resume", max_urls=0) == parse()


def test_arguments_do_not_change():
    with pytest.raises(FrozenInstanceError):
        parse().run = "new"


# Names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("inlcude", "Unknown spider argument 'inlcude': did you mean 'include'?"),
        ("max_url", "Unknown spider argument 'max_url': did you mean 'max_urls'?"),
        ("sitemap-include", "Unknown spider argument 'sitemap-include': did you mean 'sitemap_include'?"),
        ("color", "Unknown spider argument 'color': did you mean 'colour'?"),
        ("q", f"Unknown spider argument 'q': known are {', '.join(sorted([*HELP, 'colour']))}."),
        ("spelt", f"Unknown spider argument 'spelt': known are {', '.join(sorted([*HELP, 'colour']))}."),
    ],
)
def test_an_unknown_name_is_named_with_a_suggestion(name, expected):
    with pytest.raises(ArgumentError) as error:
        arguments.parse({name: "x"}, NOW, known_extra=("colour",))

    assert expected == str(error.value)


def test_scrapyds_job_and_what_a_subclass_reads_itself_are_left_alone():
    assert parse() == arguments.parse({"_job": "6487", "_version": "1", "colour": "red"}, NOW, ("colour",))


def test_every_argument_has_a_help_text():
    assert all(HELP[name] for name in (*PATTERNS, *COUNTS, "seeds", "since", "until", "undated", "run"))


# Patterns


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/blog/*", ("/blog/*",)),
        ("/a/* /b/*", ("/a/*", "/b/*")),
        ("/a/*,/b/*, *.pdf", ("/a/*", "/b/*", "*.pdf")),
        ("/a/*\n/b/*\n", ("/a/*", "/b/*")),
        ("/a/*\\n/b/*", ("/a/*", "/b/*")),
        (r"re:^https://x\.com/\d{1,3} ?$", (r"re:^https://x\.com/\d{1,3} ?$",)),
        ("/a/*\nre:b, c\n*.pdf", ("/a/*", "re:b, c", "*.pdf")),
        (["/a/*", "re:b,c"], ("/a/*", "re:b,c")),
        (("/a/*",), ("/a/*",)),
        ("", ()),
        (" , ", ()),
        (None, ()),
        ([], ()),
    ],
    ids=[
        *("one", "blanks", "commas", "lines", "backslash n", "expression", "mixed", "list", "tuple"),
        *("empty", "only separators", "None", "empty list"),
    ],
)
def test_patterns_are_parted_by_lines_and_globs_by_blanks_and_commas_too(name, text, expected):
    assert expected == getattr(parse(**{name: text}), name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("re:(", "include=re:( is no regular expression: missing ), unterminated subpattern at position 0."),
        ("/a\nre:*", "include=re:* is no regular expression: nothing to repeat at position 0."),
        ("re:", "include=re: is empty and fits every URL: write re: and a regular expression."),
    ],
)
def test_a_bad_regular_expression_is_named_with_its_argument(text, expected):
    assert expected == refusal(include=text)


@pytest.mark.parametrize("text", ["re:a{99999999999999999999}", "re:" + "(" * 5_000 + ")" * 5_000])
def test_a_regular_expression_beyond_all_bounds_is_refused_too(text):
    assert f"include={text} is no regular expression: " in refusal(include=text)


# Dates


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 5, 1, **DAY_END, tzinfo=UTC)),
        ("20240501", datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 5, 1, **DAY_END, tzinfo=UTC)),
        ("2024-05-01T10:30", datetime(2024, 5, 1, 10, 30, tzinfo=UTC), None),
        ("2024-05-01 10:30:15", datetime(2024, 5, 1, 10, 30, 15, tzinfo=UTC), None),
        ("2024-05-01T10:30Z", datetime(2024, 5, 1, 10, 30, tzinfo=UTC), None),
        ("2024-05-01T10:30+02:00", datetime(2024, 5, 1, 8, 30, tzinfo=UTC), None),
        (datetime(2024, 5, 1, 10, tzinfo=UTC), datetime(2024, 5, 1, 10, tzinfo=UTC), None),
        (" 7d ", NOW - timedelta(days=7), None),
        ("24h", NOW - timedelta(hours=24), None),
        ("30m", NOW - timedelta(minutes=30), None),
        ("2w", NOW - timedelta(weeks=2), None),
        ("0d", NOW, None),
        ("9999-12-31", datetime(9999, 12, 31, tzinfo=UTC), datetime(9999, 12, 31, **DAY_END, tzinfo=UTC)),
    ],
    ids=[
        *("day", "compact day", "minute", "second", "UTC", "zone", "a datetime", "days", "hours", "minutes", "weeks"),
        *("now", "last day"),
    ],
)
def test_since_and_until_are_moments_in_utc_and_until_takes_its_whole_day_in(text, since, until):
    found = parse(since=text).since, parse(until=text).until

    assert (since, until or since) == found
    assert [UTC, UTC] == [moment.tzinfo for moment in found]


@pytest.mark.parametrize(
    "text",
    ["soon", "2024", "2024-05", "2024-13-01", "01.05.2024", "2024-W05", "7", "-7d", "7y", "7D", "1e3", "\u0667d"],
)
@pytest.mark.parametrize("name", ["since", "until"])
def test_what_is_no_date_is_answered_with_what_to_write(name, text):
    assert f"{name}={text} is no date: write 2026-01-31, 2026-01-31T12:00Z, 7d or 24h." == refusal(**{name: text})


def test_more_time_than_there_was_is_refused():
    assert "since=999999999d lies before all time: write 7d or 2026-01-31." == refusal(since="999999999d")
    assert "is no date" in refusal(since="0001-01-01T00:00+14:00")


def test_a_span_that_nothing_fits_is_refused():
    assert "since=1d lies after until=2w: no URL can fit both." == refusal(since="1d", until="2w")
    assert parse(since="2024-05-01", until="2024-05-01").since


# Numbers and choices


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize(
    ("text", "expected"),
    [("10", 10), (10, 10), (" 10 ", 10), ("0", 0), ("", 0), (None, 0), ("1000000", 10**6), ("1_000_000", 10**6)],
)
def test_limits_are_whole_numbers_and_none_is_zero(name, text, expected):
    assert expected == getattr(parse(**{name: text}), name)


@pytest.mark.parametrize("text", ["many", "-1", "1.5", "1e6", "1__0", "1,0", "10k", "\u0663", "9" * 5_000])
def test_what_is_no_whole_number_is_answered_with_what_to_write(text):
    assert f"max_urls={text} is no whole number: write 1000, or 0 for no limit." == refusal(max_urls=text)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"undated": "Drop"}, "undated=Drop is not possible: write keep or drop."),
        ({"run": "again"}, "run=again is not possible: write resume or new."),
    ],
)
def test_a_choice_that_is_not_offered_is_answered_with_those_that_are(raw, expected):
    assert expected == refusal(**raw)


# The recipe


def test_the_recipe_is_what_decides_which_rows_are_kept_as_it_was_spelt():
    found = parse(
        seeds="e.com", run="new", include="/a/*  /b/*", since="7d", undated="drop", max_urls="1_000", _job="1"
    )

    assert {"include": "/a/*  /b/*", "since": "7d", "undated": "drop", "max_urls": "1_000"} == found.recipe()


def test_two_workers_of_a_run_have_the_same_recipe_though_they_start_at_different_times():
    first, later = (arguments.parse({"since": "7d"}, now) for now in (NOW, NOW + timedelta(minutes=1)))

    assert first.recipe() == later.recipe()
    assert first.since != later.since


@pytest.mark.parametrize(
    "raw", [{"undated": "keep"}, {"max_urls": "0"}, {"include": ""}, {"since": None}, {"seeds": "x"}]
)
def test_what_is_as_by_default_is_not_in_the_recipe(raw):
    assert {} == parse(**raw).recipe()


# Whatever comes

texts = st.text() | st.from_regex(r"\d{1,20}[dhmw]|re:.*|\d{1,5}-\d\d-\d\d(T\d\d:\d\d)?", fullmatch=True)


@given(st.dictionaries(st.sampled_from(list(HELP)), texts | st.integers() | st.none(), max_size=4))
def test_no_value_raises_anything_but_an_argument_error_and_a_recipe_reads_as_itself(raw):
    try:
        found = parse(**raw)
    except ArgumentError:
        return

    again = parse(**found.recipe())
    assert found.recipe() == again.recipe()
    assert (found.since, found.until, found.include) == (again.since, again.until, again.include)
