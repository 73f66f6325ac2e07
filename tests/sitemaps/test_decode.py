import codecs

import pytest

from sitemapcrawl.sitemaps.decode import texts
from sitemapcrawl.sitemaps.problems import Code, Problems

WORDS = "naïve 日本 😀 café " * 300


def decode(*chunks):
    problems = Problems()
    text = "".join(texts(chunks, problems))
    return text, {problem.code: problem.count for problem in problems.as_list()}


def by(size, data):
    return [data[i : i + size] for i in range(0, len(data), size)]


def declared(charset):
    return f'<?xml version="1.0" encoding="{charset}"?>\n<x>'


@pytest.mark.parametrize("size", [1, 3, 1000, 10**6])
@pytest.mark.parametrize(
    "data",
    [
        WORDS.encode(),
        codecs.BOM_UTF8 + WORDS.encode(),
        codecs.BOM_UTF16_LE + WORDS.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + WORDS.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + WORDS.encode("utf-32-le"),
        WORDS.encode("utf-16-le"),
        WORDS.encode("utf-16-be"),
    ],
)
def test_unicode_is_known_by_its_bytes_wherever_they_are_cut(data, size):
    text, problems = decode(*by(size, data))

    assert WORDS == text
    assert {} == problems


@pytest.mark.parametrize("size", [1, 1000, 10**6])
@pytest.mark.parametrize(
    ("charset", "words"),
    [
        ("gb2312", "网站地图"),
        ("windows-1251", "карта сайта"),
        ("iso-8859-1", "café"),
        ("shift_jis", "サイト"),
        ("euc-kr", "사이트"),
    ],
)
def test_a_declared_charset_is_believed_if_the_bytes_are_not_utf_8(charset, words, size):
    document = declared(charset) + "a" * 2000 + words * 50

    text, problems = decode(*by(size, document.encode(charset)))

    assert document == text
    assert {} == problems


@pytest.mark.parametrize("charset", ["iso-8859-1", "gb2312", "utf-16", "utf-7", "no-such-charset", "rot13", "hex"])
def test_utf_8_bytes_are_utf_8_whatever_is_declared(charset):
    document = declared(charset) + WORDS

    text, problems = decode(document.encode())

    assert document == text
    assert {Code.CHARSET_MISMATCH: 1} == problems


def test_each_bad_byte_alone_is_read_as_windows_1252():
    text, problems = decode(b"caf\xe9 \x93x\x94 \x81 ", "caf\u00e9".encode())

    assert "café \u201cx\u201d \x81 café" == text
    assert {Code.BAD_BYTES: 4} == problems
