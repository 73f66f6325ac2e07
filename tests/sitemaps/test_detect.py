import pytest

from sitemapcrawl.sitemaps.detect import Kind, sniff
from sitemapcrawl.sitemaps.limits import Limits


@pytest.mark.parametrize("size", [1, 5, 10**6])
@pytest.mark.parametrize(
    ("text", "kind", "root", "junk"),
    [
        ("<urlset>", Kind.URLSET, "urlset", ""),
        ("\n \ufeff<?xml version='1.0'?>\n<!-- <html> --><sm:urlset a='b'>", Kind.URLSET, "sm:urlset", ""),
        ("<!DOCTYPE urlset [<!ELEMENT x ANY> <!ENTITY a ']>'>]><urlset>", Kind.URLSET, "urlset", ""),
        ("<!DOCTYPE urlset [ broken <urlset>", Kind.URLSET, "urlset", "<!DOCTYPE urlset [ broken"),
        ("Error: x\n<?xml version='1.0'?><urlset>", Kind.URLSET, "urlset", "Error: x\n<?xml version='1.0'?>"),
        ("<head/><sitemapindex>", Kind.INDEX, "sitemapindex", "<head/>"),
        ("<url><loc>", Kind.URLSET, "url", ""),
        ("<SITEMAPINDEX>", Kind.INDEX, "SITEMAPINDEX", ""),
        ("<rdf:RDF>", Kind.RSS, "rdf:RDF", ""),
        ("<!doctype HTML><urlset>", Kind.HTML, "", ""),
        ("<p>Not found <a href='/sitemap.xml'>urlset</a>", Kind.HTML, "p", ""),
        ("https://example.com/\nError", Kind.TEXT, "", ""),
        ("Error\nhttps://example.com/", Kind.TEXT, "", ""),
        ("<foo>", Kind.UNKNOWN, "foo", ""),
    ],
)
def test_a_document_is_known_by_its_start_wherever_it_is_cut(text, kind, root, junk, size):
    head, _ = sniff((text[i : i + size] for i in range(0, len(text), size)), Limits())

    assert (kind, root, junk) == (head.kind, head.root, head.junk)


def test_the_head_and_the_rest_are_the_whole_text_from_the_root_on():
    pieces = ["<?xml?>\n", "\n<urlset>", "<url>", "</url>"]

    head, rest = sniff(pieces, Limits())

    assert "<urlset><url></url>" == head.body + "".join(rest)
    assert 3 == head.line


def test_a_long_prolog_is_not_searched_beyond_the_limit():
    taken = []

    def pieces():
        while True:
            taken.append(1)
            yield "junk " * 1000

    head, _ = sniff(pieces(), Limits(max_head=50_000))

    assert Kind.UNKNOWN == head.kind
    assert 11 == len(taken)
