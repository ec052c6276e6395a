"""Words are cut alike whichever way they are found, in every script, and no pattern can make that slow."""

from __future__ import annotations

import copy
import pickle
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankae.data.scripts import careful_word
from rankae.data.tokens import WORD, Tokenizer
from rankae.errors import DataError


@pytest.mark.parametrize("pattern", [WORD, r"\b\w[\w+.-]*\b"])
@given(text=st.text(alphabet=st.sampled_from("ab_1 +.-,\n\té\x1c'€"), max_size=40) | st.text(max_size=40))
def test_words_of_older_models_are_what_the_pattern_finds(pattern, text):
    assert Tokenizer(pattern, version=1)(text) == re.findall(pattern, text.lower())


@given(text=st.text(alphabet=st.sampled_from("ab_1 +.-,\n\téÄЖα\x1c'€"), max_size=40) | st.text(max_size=40))
def test_scripts_with_blanks_are_cut_as_they_ever_were(text):
    if careful_word(text) is None:
        assert Tokenizer()(text) == re.findall(WORD, text.casefold())


_SYLLABLES = [*"aB1 +.-日本ßé", "ภา", "น้ำ", "e\u0301", "हि", "co\u00adop", "ＡＢ", "\U00020000"]


@given(syllables=st.lists(st.sampled_from(_SYLLABLES), max_size=30))
def test_every_word_is_read_where_it_stands(syllables):
    words, text = Tokenizer(), "".join(syllables)
    found = list(words.spans(text))
    assert {word for _, _, word in found} <= set(words(text))
    assert all(begin < end for begin, end, _ in found)
    assert all(a[1] <= b[0] for a, b in pairwise(found))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我喜欢 Node.js", ["我喜", "喜欢", "我", "喜", "欢", "node.js"]),
        ("ラーメン、", ["ラー", "ーメ", "メン", "ラ", "ー", "メ", "ン"]),
        ("น้ำ", ["น้ำ", "น้", "ำ"]),  # a mark stays with its letter
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),  # vowel signs part no words
        ("cafe\u0301 Stra\u00dfe co\u00adop", ["café", "strasse", "coop"]),
        ("İstanbul", ["istanbul"]),
        ("ＡＢＣ", ["abc"]),
        ("\U00020000\U00020001 \U0001f600", ["\U00020000\U00020001", "\U00020000", "\U00020001"]),
        ("한국어 문장", ["한국어", "문장"]),
    ],
)
def test_words_of_many_scripts(text, words):
    assert Tokenizer()(text) == words


def test_accents_are_stripped_on_request_and_vowel_signs_are_not():
    assert Tokenizer(accents="strip")("Éclair हिन्दी") == ["eclair", "हिन्दी"]
    with pytest.raises(DataError, match="keep or strip"):
        Tokenizer(accents="drop")


def test_tokenizers_can_be_pickled_and_copied():
    for words in (Tokenizer(), Tokenizer(r"[a-c]+")):
        for again in (pickle.loads(pickle.dumps(words)), copy.deepcopy(words)):  # noqa: S301
            assert again("abc-d 中文") == words("abc-d 中文")


def test_any_other_pattern_is_used_as_it_is():
    assert Tokenizer(r"[a-c]+")("abc-d cab") == ["abc", "cab"]
    assert Tokenizer(r"#(\w+)")("see #this and #That") == ["this", "that"]
    assert Tokenizer(r"(?u)\b\w\w+\b")("a bc def " * 500) == ["bc", "def"] * 500


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "regular expression"),
        ("[[:alpha:]]+", "regular expression"),
        ("(a+)+b", "very long"),
        (r"\w*\w*!", "very long"),
        (r"(?:\w+\s?)+x", "very long"),
        (r"(?:a|ab|b)*c", "very long"),
        (r"(\w+) \1", "refers back"),
        (r"(?=(?:\w\w?){30})a", "looks ahead"),
        ("a?" * 100, "two ways are open"),
        ("(?:){1000000}", "too long"),
        ("(?:(?:(?:){99}){99}){99}", "too long"),
        ("(?i)a", "flag"),
        ("(a)(b)", "2 groups"),
        ("a" * 501, "501 characters"),
    ],
)
def test_patterns_that_could_take_long_are_refused(pattern, why):
    with pytest.raises(DataError, match=why):
        Tokenizer(pattern)


def test_rules_of_a_later_version_are_refused():
    with pytest.raises(DataError, match="version 9"):
        Tokenizer(version=9)
