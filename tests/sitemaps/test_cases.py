"""The fault cases: small files, each after a fault people reported of some reader, with the right answer."""

import json
from pathlib import Path

import pytest

from sitemapcrawl import robots
from sitemapcrawl.sitemaps import Kind, Reading, Verdict
from sitemapcrawl.urls import repair

CASES = Path(__file__).parents[1] / "data" / "cases"
EXPECTED = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))
SITEMAPS = [key for key, case in EXPECTED.items() if case["kind"] != "robots"]
ROBOTS = [key for key, case in EXPECTED.items() if case["kind"] == "robots"]
KINDS = {"urlset": Kind.URLSET, "index": Kind.INDEX, "text": Kind.TEXT}
#: Lastmods our entries can't hold (fractions of a second), or hold as given (minutes without seconds).
HELD_OTHERWISE = {"2024-03-05T10:20:30.123456Z": "2024-03-05T10:20:30Z", "2024-03-05T10:20:00Z": "2024-03-05T10:20Z"}


def answers(case):
    """Return the sets of URLs that are right for a case."""
    if "urls_rule" in case:
        return [{f"https://www.example.com/p/n{i}" for i in range(case["urls_count"])}]
    given = [case["urls"] + case.get("children", []), case.get("alt_urls"), case.get("parse_urls")]
    return [{repair(url) for url in urls} for urls in given if urls is not None]


def read(case):
    body = (CASES / case["file"]).read_bytes()
    reading = Reading([body], case["base_url"])
    return reading, list(reading)


@pytest.mark.parametrize("key", SITEMAPS)
def test_each_case_lists_exactly_the_right_urls(key):
    case = EXPECTED[key]

    _, items = read(case)

    assert {item.loc for item in items} in answers(case)


@pytest.mark.parametrize("key", [key for key in SITEMAPS if EXPECTED[key]["kind"] in KINDS])
def test_each_case_is_of_the_right_kind(key):
    case = EXPECTED[key]

    reading, _ = read(case)

    assert KINDS[case["kind"]] == reading.kind


@pytest.mark.parametrize("key", [key for key in SITEMAPS if "entries" in EXPECTED[key] and key != "S65"])
def test_each_case_has_the_right_fields(key):
    case = EXPECTED[key]

    _, items = read(case)

    by_loc = {item.loc: item for item in items}
    for want in case["entries"]:
        got = by_loc[want["loc"]]
        for name in {"priority", "changefreq"} & want.keys():
            assert want[name] == getattr(got, name)
        if "lastmod" in want:
            lastmod = None if got.lastmod is None else str(got.lastmod)
            assert HELD_OTHERWISE.get(want["lastmod"], want["lastmod"]) == lastmod


@pytest.mark.parametrize("key", SITEMAPS)
def test_no_case_depends_on_where_the_bytes_are_cut(key):
    case = EXPECTED[key]
    body = (CASES / case["file"]).read_bytes()
    whole = Reading([body], case["base_url"])
    cut = Reading((body[i : i + 7] for i in range(0, len(body), 7)), case["base_url"])

    assert list(whole) == list(cut)

    assert (whole.kind, whole.verdict, whole.bytes) == (cut.kind, cut.verdict, cut.bytes)


@pytest.mark.parametrize("key", ROBOTS)
def test_each_robots_txt_names_exactly_the_right_sitemaps_in_order(key):
    case = EXPECTED[key]

    found = robots.parse((CASES / case["file"]).read_bytes(), case["base_url"])

    assert case["urls"] == found.sitemaps


def test_a_gzip_bomb_is_read_up_to_the_limit_and_what_came_before_is_kept():
    reading, items = read(EXPECTED["S36"])

    assert ["https://www.example.com/p/b1", "https://www.example.com/p/b2"] == [item.loc for item in items]
    assert Verdict.TOO_BIG == reading.verdict
    assert reading.bytes == 52_428_800
