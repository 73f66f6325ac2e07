import gzip

import pytest

from sitemapcrawl.sitemaps.decompress import PIECE_BYTES, unpacked
from sitemapcrawl.sitemaps.limits import Limits
from sitemapcrawl.sitemaps.problems import Code, Problems

TEXT = b"The quick brown fox jumps over the lazy dog. " * 5000


def unpack(*chunks, **limits):
    problems = Problems()
    data = b"".join(unpacked(chunks, Limits(**limits), problems))
    return data, {problem.code for problem in problems.as_list()}


def by(size, data):
    return [data[i : i + size] for i in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 7, 1000, 10**6])
@pytest.mark.parametrize(
    ("data", "expected", "codes"),
    [
        (TEXT, TEXT, set()),
        (b"", b"", set()),
        (gzip.compress(TEXT), TEXT, set()),
        (gzip.compress(TEXT) + gzip.compress(b"more"), TEXT + b"more", set()),
        (gzip.compress(TEXT) + b"\0" * 100, TEXT, set()),
        (gzip.compress(TEXT) + b"<!-- cached -->", TEXT, {Code.GZIP_TRAILING_DATA}),
        (gzip.compress(gzip.compress(TEXT)), TEXT, {Code.GZIP_NESTED}),
        (gzip.compress(TEXT)[:-12] + b"", TEXT, {Code.GZIP_TRUNCATED}),
    ],
)
def test_gzip_is_known_by_its_magic_wherever_the_bytes_are_cut(data, expected, codes, size):
    found, problems = unpack(*by(size, data))

    assert codes == problems
    assert expected[: len(found)] == found
    assert codes & {Code.GZIP_TRUNCATED} or expected == found


def test_a_wrong_checksum_costs_nothing_that_was_read():
    packed = bytearray(gzip.compress(TEXT))
    packed[-5] ^= 0xFF

    found, problems = unpack(bytes(packed))

    assert TEXT == found
    assert {Code.GZIP_CORRUPT} == problems


def test_no_more_layers_are_opened_than_allowed():
    packed = gzip.compress(gzip.compress(TEXT, mtime=0), mtime=0)

    found, _ = unpack(packed, gzip_layers=1)

    assert gzip.compress(TEXT, mtime=0) == found


def test_a_bomb_meets_the_limit_before_it_is_inflated():
    packed = gzip.compress(gzip.compress(bytes(50_000_000)))

    found, problems = unpack(packed, max_bytes=1_000_000)

    assert 1_000_000 == len(found)
    assert Code.TOO_BIG in problems


def test_output_comes_in_small_pieces():
    pieces = list(unpacked([gzip.compress(bytes(1_000_000))], Limits(), Problems()))

    assert max(map(len, pieces)) <= PIECE_BYTES


def test_a_hundred_thousand_members_are_no_deep_recursion():
    found, problems = unpack(gzip.compress(b"x", mtime=0) * 100_000)

    assert 100_000 == len(found)
    assert set() == problems
