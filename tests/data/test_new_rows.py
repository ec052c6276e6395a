import numpy as np
import scipy.sparse as sp

from rankae.data.new_rows import NewRows
from rankae.data.text import TextFeatures

TEXTS = ["red apple pie", "red apple tart", "green apple pie", "green pear tart", "red quince jam", "quince jam apple"]


def test_a_held_out_row_is_read_as_if_the_vocabulary_had_been_made_of_the_others():
    rows = TextFeatures(idf=False).fit_transform(TEXTS)
    later = TextFeatures(idf=False).fit(TEXTS[:4]).transform(TEXTS[4:])
    found = NewRows.of(rows, np.array([4, 5]))
    assert np.diff(found.rows.indptr).tolist() == np.diff(later.indptr).tolist() == [1, 1]  # quince and jam are unknown
    np.testing.assert_allclose(np.sort(found.rows.data), np.sort(later.data), rtol=1e-6)
    np.testing.assert_allclose(found.factors, [3**0.5, 3**0.5], rtol=1e-6)


def test_where_new_rows_may_have_any_word_a_row_stays_as_it_is():
    rows = sp.csr_matrix(np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=np.float32))
    found = NewRows.of(rows, np.array([0, 1]))
    assert (found.rows != rows[:2]).nnz == 0
    assert (found.factors == 1).all()


def test_a_row_of_unknown_words_alone_has_none():
    rows = sp.csr_matrix(np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32))
    found = NewRows.of(rows, np.array([0, 1]))
    assert found.rows.nnz == 0
    assert np.isfinite(found.factors).all()


def test_a_pair_must_be_in_as_many_of_the_others_as_the_vocabulary_demands():
    settings = {"ngrams": (1, 2), "min_df_longer": 3, "idf": False}
    texts = ["red apple", "red apple", "red apple pie", "green pie"]
    text = TextFeatures(**settings)
    rows = text.fit_transform(texts)
    assert "red apple" in text.words
    found = NewRows.of(rows, np.array([0]), text.least_rows())
    later = TextFeatures(**settings).fit(texts[1:]).transform(texts[:1])
    assert np.diff(found.rows.indptr).tolist() == np.diff(later.indptr).tolist() == [2]  # the pair is in two others
