"""Pages of the web become what their reader sees."""

from __future__ import annotations

import pytest

from rankae.data import TextFeatures
from rankae.data.html import strip_html


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a < b and c > d", "a < b and c > d"),
        ("<p>one</p><p>two</p>", "one\ntwo"),
        ("H<sub>2</sub>O &amp; <b>sal</b>t", "H2O & salt"),
        ("x<script>if (a<b) {}</script>y<!-- no\n-->z", "x\ny\nz"),
        ("<STYLE>p {}", ""),
        ("<td class='a'>1</td><td>2</td>", "1\n2"),
        ("an unclosed <b", "an unclosed <b"),
    ],
)
def test_what_is_left_of_a_page(page, text):
    assert strip_html(page) == text


def test_unclosed_tags_and_comments_take_no_time():
    assert strip_html("<a " * 100_000).count("<a") == 100_000
    assert strip_html("<!--" * 100_000) == ""


def test_tags_are_stripped_where_many_texts_have_them_and_are_words_elsewhere():
    pages = ["<p>red <b>apple</b></p>", "<div>red wine</div>"] * 3
    text = TextFeatures(min_df=1).fit(pages)
    assert text.html == "strip"
    assert sorted(text.words) == ["apple", "red", "wine"]
    again = TextFeatures.from_state(*text.state())
    assert (again.transform(pages) != text.transform(pages)).nnz == 0
    assert "b" in TextFeatures(min_df=1, html="keep").fit(pages).words
    assert TextFeatures(min_df=1).fit(["the <p> tag", *["no tags here"] * 9]).html == "keep"
