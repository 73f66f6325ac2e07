import pytest

from sitemapcrawl.sitemaps import fields


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("daily", "daily"),
        (" Weekly\n", "weekly"),
        ("HOURLY", "hourly"),
        ("mothly", None),
        ("", None),
        ("x" * 200, None),
    ],
)
def test_a_changefreq_is_one_of_the_protocols_or_none(text, expected):
    assert expected == fields.changefreq(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            ("0.5", 0.5),
            ("1", 1.0),
            ("1.0", 1.0),
            ("0", 0.0),
            (".5", 0.5),
            ("0,7", 0.7),
            (" 0.30 ", 0.3),
            ("+0.5", 0.5),
        ),
        *(("1.1", None), ("-1", None), ("NaN", None), ("inf", None), ("high", None), ("", None), ("0.5.5", None)),
        *(("1_0", None), ("\u0660", None), ("1e-1", None), ("0." + "3" * 200, None)),
    ],
)
def test_a_priority_is_a_number_from_0_to_1_or_none(text, expected):
    assert expected == fields.priority(text)
