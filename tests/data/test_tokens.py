"""Words are cut alike whichever way they are found."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankae.data.tokens import WORD, tokenizer
from rankae.errors import DataError


@pytest.mark.parametrize("pattern", [WORD, r"\b\w[\w+.-]*\b"])
@given(text=st.text(alphabet=st.sampled_from("ab_1 +.-,\n\té\x1c'€"), max_size=40) | st.text(max_size=40))
def test_the_quick_way_finds_what_the_pattern_finds(pattern, text):
    assert tokenizer(pattern)(text) == re.findall(pattern, text)


def test_any_other_pattern_is_used_as_it_is():
    assert tokenizer(r"[a-c]+")("abc-d cab") == ["abc", "cab"]
    with pytest.raises(DataError, match="regular expression"):
        tokenizer("(")
