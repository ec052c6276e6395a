"""Labels are found by the words that a text shares with their names."""

from __future__ import annotations

import numpy as np
import pytest

from rankae.components.label_names import LabelNames
from rankae.data import TextFeatures
from rankae.data.label_names import LabelEntry, name_rows, weighted_names
from rankae.errors import ModelFileError
from rankae.numerics.shortlist import Shortlist

TEXTS = ["a library for numbers", "a library for sound", "sound editor", "editor of images", "numbers and images"]
NAMES = ["lib-numbers", "lib-sound", "soundEditor", "image_editor", "library"]


def features() -> TextFeatures:
    return TextFeatures(min_df=1, pieces=True).fit(TEXTS)


def entries(names: list[str]) -> list[LabelEntry]:
    return [LabelEntry(name, name) for name in names]


def test_scores_are_inner_products_of_texts_and_names():
    text = features()
    names = name_rows(entries(NAMES), text, np.ones(5))
    rows = text.transform(TEXTS)
    predicted = LabelNames(names).predict(rows)
    every = Shortlist(np.arange(0, 26, 5), np.tile(np.arange(5, dtype=np.int32), 5))
    expected = (rows @ names.T).toarray().ravel()
    np.testing.assert_allclose(predicted.scores(every), expected, atol=1e-6)
    assert predicted.propose(1)[:4, 0].tolist() == [4, 4, 2, 3] or predicted.propose(1)[2, 0] == 2
    again = LabelNames.from_state(*LabelNames(names).state())
    np.testing.assert_array_equal(again.predict(rows).scores(every), predicted.scores(every))
    assert again.shape == (rows.shape[1], 5)


def test_words_that_no_text_has_make_a_name_less_certain():
    text = features()
    whole, partly = name_rows(entries(["sound", "sound zzz"]), text, np.ones(2)).toarray()
    assert 0 < partly.max() < whole.max() == pytest.approx(1)


@pytest.mark.parametrize(
    "names",
    [["12", "7", "9"], ["label 1", "label 2", "label 3"], ["c1", "c2", "c3"], ["sound", "q1", "q2", "q3"]],
)
def test_ids_are_no_names(names):
    text = TextFeatures(min_df=1).fit([*TEXTS, "label 1 2 3 c"] * 2)
    assert name_rows(entries(names * 5), text, np.ones(5 * len(names))) is None


def test_further_names_count_less_and_titles_too():
    text = TextFeatures(min_df=1, title=0.5).fit(["sound\nof music", "images\nof sound"])
    entry = LabelEntry("x", "images", alternatives=("music",), description="sound")
    row = name_rows([entry, LabelEntry("y", "sound")], text, np.ones(2)).toarray()[0]
    by_word = dict(zip(text.words, row, strict=True))
    assert by_word["images"] > by_word["music"] > by_word["sound"] > 0
    assert by_word["title:images"] == by_word["images"]


def test_names_are_found_within_inflected_and_compound_words():
    text = TextFeatures(min_df=1, analyzer="word+char").fit(["vanhoissa puutaloissa", "järven kalat", "kalakauppa"] * 3)
    names = weighted_names(entries(["puutalo", "kala"]), text)
    scores = (text.transform(["vanhoissa puutaloissa", "järven kalat", "kalakauppa"]) @ names.T).toarray()
    assert scores.argmax(axis=1).tolist() == [0, 1, 1]
    assert names.shape[1] == text.width
    by_words = TextFeatures(min_df=1).fit(["vanhoissa puutaloissa", "järven kalat", "kalakauppa"] * 3)
    assert weighted_names(entries(["puutalo", "kala"]), by_words).nnz == 0


def test_names_are_read_by_characters_where_texts_are():
    text = TextFeatures(min_df=1, analyzer="char").fit(["puutaloissa", "kalakauppa"] * 3)
    names = weighted_names(entries(["puutalo", "kala"]), text)
    assert (text.transform(["puutaloissa", "kalakauppa"]) @ names.T).toarray().argmax(axis=1).tolist() == [0, 1]


def test_forged_names_are_refused():
    settings, arrays = LabelNames(name_rows(entries(NAMES), features(), np.ones(5))).state()
    arrays["names.indices"] = arrays["names.indices"] + 1000
    with pytest.raises((ModelFileError, ValueError)):
        LabelNames.from_state(settings, arrays)
