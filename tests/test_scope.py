"""Whose pages a sitemap may list."""

import pytest

from sitemapcrawl.entries import Entry
from sitemapcrawl.scope import CrossSubmit, Scope


@pytest.mark.parametrize(
    ("policy", "voucher", "host", "expected"),
    [
        ("off", "www.example.com", "evil.org", True),
        ("site", "www.example.com", "example.com", True),
        ("site", "example.com", "www.example.com", True),
        ("site", "www.example.com", "blog.example.com", True),
        ("site", "www.example.com", "example.org", False),
        ("site", "www.example.com", "example.com.evil.org", False),
        ("site", "a.github.io", "b.github.io", False),
        ("site", "127.0.0.1:8000", "127.0.0.1:8001", False),
        ("site", "", "anything.org", True),
        ("strict", "www.example.com", "www.example.com", True),
        ("strict", "www.example.com", "example.com", False),
    ],
)
def test_the_policy_decides_by_the_host_that_vouches(policy, voucher, host, expected):
    assert expected == Scope(CrossSubmit(policy), voucher).allows(host)


def test_entries_are_grouped_by_host_and_foreign_ones_counted():
    scope = Scope(CrossSubmit.SITE, "www.example.com")
    locs = ["https://www.example.com/1", "http://www.example.com/2", "https://evil.org/1", "https://example.com/3",
            "https://evil.org/2", "https://www.example.com/4"]  # fmt: skip

    groups = scope.by_host([Entry(loc) for loc in locs])

    assert {
        "www.example.com": [locs[0], locs[1], locs[5]],
        "example.com": [locs[3]],
    } == {host: [entry.loc for entry in found] for host, found in groups.items()}
    assert {"evil.org": 2} == scope.foreign


def test_a_host_that_begins_like_another_is_another():
    groups = Scope(CrossSubmit.OFF, "").by_host([Entry("https://a.com/1"), Entry("https://a.com.org/2")])

    assert ["a.com", "a.com.org"] == sorted(groups)
