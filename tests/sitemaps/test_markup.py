import pytest

from sitemapcrawl.sitemaps.markup import plain


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<a>b</a>", "<a>b</a>"),
        ("<a><!-- <url> -->b</a>", "<a>b</a>"),
        ("a<!--\n\n-->b", "a\n\nb"),
        ("<![CDATA[a&b<c>]]>", "a&amp;b&lt;c&gt;"),
        ("<![CDATA[<!-- x -->]]>", "&lt;!-- x --&gt;"),
        ("<!-- <![CDATA[ -->a", "a"),
        ("a<!-- never closed </urlset>", "a"),
        ("a<![CDATA[never closed", "anever closed"),
        ("a<!-", "a<!-"),
        ("<!DOCTYPE x>", "<!DOCTYPE x>"),
    ],
)
def test_comments_go_and_cdata_becomes_text_wherever_it_is_cut(text, expected, size):
    pieces = (text[i : i + size] for i in range(0, len(text), size))

    assert expected == "".join(plain(pieces))
