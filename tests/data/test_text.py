from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from rankae.data import TextFeatures
from rankae.data.text_reader import title_of
from rankae.errors import DataError

WORDS = ["the", "of", "apple", "red", "wine", "c++", "node.js", "x-ray", "café", "7zip", "blue", "sky", "tree", "leaf"]


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, len(WORDS) + 1)
    return [" ".join(rng.choice(WORDS, rng.integers(0, 12), p=weights / weights.sum())) for _ in range(80)]


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 2), (1, 3), (3, 3)])
@pytest.mark.parametrize("weights", [{}, {"sublinear": False, "idf": False, "norm": False}])
def test_agrees_with_scikit_learn(texts, ngrams, weights):
    text = TextFeatures(ngrams=ngrams, min_df=3, **weights)
    ours = text.fit_transform(texts)
    theirs = TfidfVectorizer(
        ngram_range=ngrams,
        min_df=3,
        token_pattern=text.token_pattern,
        sublinear_tf=text.sublinear,
        use_idf=text.idf,
        norm="l2" if text.norm else None,
    )
    expected = theirs.fit_transform(texts)
    assert set(text.words) == set(theirs.vocabulary_)
    order = [theirs.vocabulary_[word] for word in text.words]
    np.testing.assert_allclose(ours.toarray(), expected.toarray()[:, order], atol=1e-6)


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3)])
def test_transform_gives_what_fit_gave(texts, ngrams):
    text = TextFeatures(ngrams=ngrams)
    fitted = text.fit_transform(texts)
    again = text.transform(texts)
    np.testing.assert_array_equal(fitted.indptr, again.indptr)
    np.testing.assert_array_equal(fitted.indices, again.indices)
    np.testing.assert_allclose(fitted.data, again.data, rtol=1e-6)
    assert again.dtype == np.float32


def test_words_go_by_documents_most_first_and_the_limit_keeps_those(texts):
    text = TextFeatures(max_features=5)
    counts = np.diff(text.fit_transform(texts).tocsc().indptr)
    assert len(text.words) == 5
    assert list(counts) == sorted(counts, reverse=True)
    assert text.words == TextFeatures().fit(texts).words[:5]


def test_unseen_words_and_empty_documents_give_empty_rows(texts):
    text = TextFeatures().fit(texts)
    assert text.transform(["unheard-of", "", "apple"]).getnnz(axis=1).tolist() == [0, 0, 1]
    assert text.transform([]).shape == (0, len(text.words))


def test_state_survives_json(texts):
    text = TextFeatures(ngrams=(1, 2), sublinear=False)
    text.fit(texts)
    settings, arrays, words = text.state()
    again = TextFeatures.from_state(json.loads(json.dumps(settings)), arrays, json.loads(json.dumps(words)))
    assert (again.transform(texts) != text.transform(texts)).nnz == 0


def test_few_texts_keep_their_rare_words():
    assert TextFeatures(min_df=2).fit(["red apple", "blue sky"]).words == ["red", "apple", "blue", "sky"]


def test_mistakes():
    with pytest.raises(DataError, match="hold no words"):
        TextFeatures().fit(["", "  "])
    with pytest.raises(DataError, match="row 1: a text was expected, not int"):
        TextFeatures().fit(["a", 3])
    with pytest.raises(DataError, match="ngrams"):
        TextFeatures(ngrams=(2, 1))
    with pytest.raises(DataError, match="not a regular expression"):
        TextFeatures(token_pattern="(")


def test_a_title_has_features_of_its_own_that_weigh_as_much_as_asked():
    texts = ["red wine\nred red grapes", "green tea\ngreen leaves", "one line without a title"]
    text = TextFeatures(min_df=1, title=0.5)
    rows = text.fit_transform(texts)
    first = len(text.words) - text.of_titles
    assert text.words[first:] == ["title:red", "title:wine", "title:green", "title:tea"]
    assert text.spelled()[first:] == ["red", "wine", "green", "tea"]
    body, title = rows[:, :first].toarray(), rows[:, first:].toarray()
    np.testing.assert_allclose(np.linalg.norm(title, axis=1)[:2] / np.linalg.norm(body, axis=1)[:2], 0.5, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(rows.toarray(), axis=1), 1, rtol=1e-6)
    assert title[2].sum() == 0
    np.testing.assert_allclose(text.transform(texts).toarray(), rows.toarray(), rtol=1e-6)
    plain = TextFeatures(min_df=1).fit_transform(texts).toarray()
    np.testing.assert_allclose(body / np.linalg.norm(body, axis=1, keepdims=True), plain, rtol=1e-6)
    again = TextFeatures.from_state(*text.state())
    np.testing.assert_array_equal(again.transform(texts).toarray(), text.transform(texts).toarray())
    assert again.spelled() == text.spelled()


def test_a_title_is_a_line_that_others_follow():
    assert [title_of(text) for text in ("\na title \nand more", "one line\n ", "")] == ["a title ", "", ""]


def test_titles_share_the_limit_of_features():
    texts = [f"a{i % 30} b{i % 30}\n" + " ".join(f"w{(i + j) % 60}" for j in range(30)) for i in range(60)]
    text = TextFeatures(max_features=20, title=0.5).fit(texts)
    assert (len(text.words), text.of_titles) == (20, 4)


def test_a_titles_weight_must_make_sense():
    with pytest.raises(DataError, match="title is -1"):
        TextFeatures(title=-1)


def test_a_row_that_is_no_text_is_told_by_its_number_with_titles_too():
    with pytest.raises(DataError, match="row 1: a text was expected"):
        TextFeatures(title=0.5).fit_transform(["a\nb", None])


def test_a_file_cannot_have_more_titles_than_words():
    settings, arrays, words = TextFeatures(min_df=1).fit(["red wine"]).state()
    with pytest.raises(DataError, match="9 of 2 words"):
        TextFeatures.from_state(settings | {"of_titles": 9}, arrays, words)


def test_compounds_are_read_piece_by_piece_where_asked():
    texts = ["libgmp3-dev for x86", "libgmp10 for x86", "plain words"]
    text = TextFeatures(min_df=1, pieces=True)
    rows = text.fit_transform(texts)
    assert {"libgmp3-dev", "libgmp", "3", "dev", "x86", "x", "86"} <= set(text.words)
    assert rows[0].multiply(rows[1]).sum() > 0
    np.testing.assert_array_equal(text.transform(texts).toarray(), rows.toarray())
    new = text.transform(["libgmp99"])  # a compound that no text had, but whose pieces some had
    assert [text.words[column] for column in new.indices] == ["libgmp"]
    again = TextFeatures.from_state(*text.state())
    np.testing.assert_array_equal(again.transform(texts).toarray(), rows.toarray())
    plain = TextFeatures(min_df=1).fit(texts)
    assert "libgmp" not in plain.words


def test_characters_find_what_words_have_in_common(texts):
    text = TextFeatures(analyzer="word+char", min_df=1)
    rows = text.fit_transform(["das Rathaus", "die Rathauses", "ein Baum"]).toarray()
    words = TextFeatures(min_df=1).fit_transform(["das Rathaus", "die Rathauses", "ein Baum"]).toarray()
    assert words[0] @ words[1] == 0
    assert rows[0] @ rows[1] > 0.2 > rows[0] @ rows[2] == 0
    assert rows.shape[1] == text.width == len(text.spelled())
    np.testing.assert_allclose(text.transform(["das Rathaus"]).toarray()[0], rows[0], atol=1e-6)
    settings, arrays, known = text.state()
    again = TextFeatures.from_state(json.loads(json.dumps(settings)), arrays, known)
    assert (again.transform(texts) != text.transform(texts)).nnz == 0
    with pytest.raises(DataError, match="cannot be of characters"):
        TextFeatures.from_state(settings | {"characters": 10**6}, arrays, known)
    only = TextFeatures(analyzer="char", min_df=1).fit(["das Rathaus"])
    assert "<rat" in only.words
    assert "rathaus" not in only.words


@pytest.mark.parametrize("switch", ["sublinear", "idf", "norm", "pieces", "lowercase"])
def test_a_switch_in_a_forged_model_is_true_or_false(switch):
    text = TextFeatures(min_df=1)
    text.fit(["red apple", "green apple"])
    settings, arrays, words = text.state()
    with pytest.raises(DataError, match=f"{switch} is {{}}; it must be true or false"):
        TextFeatures.from_state(settings | {switch: {}}, arrays, words)
