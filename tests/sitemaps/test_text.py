import gzip

from sitemapcrawl.sitemaps import Code, Kind, Limits, Reading, Verdict


def read(body, **limits):
    reading = Reading([body], "https://example.com/sitemap.txt", Limits(**limits))
    return reading, [item.loc for item in reading]


def test_each_line_is_a_url_whatever_its_end():
    _, locs = read(
        b"\xef\xbb\xbfhttps://example.com/a\r\n https://example.com/b \rhttps://example.com/c\n\nhttp://example.com/d"
    )

    assert ["https://example.com/a", "https://example.com/b", "https://example.com/c", "http://example.com/d"] == locs


def test_lines_that_are_no_urls_are_counted_and_comments_are_not():
    reading, locs = read(
        b"https://example.com/a\n# comment\n/relative\nhello world\n" + b"https://example.com/" + b"x" * 9000
    )

    assert ["https://example.com/a"] == locs
    assert {Code.INVALID_URL: 2, Code.URL_TOO_LONG: 1} == {problem.code: problem.count for problem in reading.problems}
    assert "line 3" == reading.problems[0].place
    assert (Kind.TEXT, Verdict.PARTIAL) == (reading.kind, reading.verdict)


def test_a_last_line_that_was_cut_off_is_left_out():
    packed = gzip.compress(b"\n".join(b"https://example.com/%d" % i for i in range(2000)))

    reading, locs = read(packed[: len(packed) // 2])
    short, some = read(b"https://example.com/a\nhttps://example.com/b", max_bytes=30)

    assert [f"https://example.com/{i}" for i in range(len(locs))] == locs
    assert Verdict.TRUNCATED == reading.verdict
    assert ["https://example.com/a"] == some
    assert Verdict.TOO_BIG == short.verdict
