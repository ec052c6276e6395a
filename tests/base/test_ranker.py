"""What every model inherits, shown on the smallest one: labels score by how often they shared a word with the row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from rankae.base import ranker
from rankae.base.ranker import LabelRanker
from rankae.data.dataset import Dataset
from rankae.errors import DataError, ModelFileError
from rankae.model_file import pack_csr, read_model, unpack_csr, write_model


class Together(LabelRanker):
    """Scores are counts of rows in which a word and a label came together; labels with no such row are not given."""

    method = "together"

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def _fit(self, rows, labels) -> None:
        self.weights_ = sp.csr_matrix(rows.T @ labels) * self.scale

    def _top(self, rows, k) -> tuple[np.ndarray, np.ndarray]:
        scores = (rows @ self.weights_).toarray().astype(np.float32)
        scores[scores <= 0] = -np.inf
        columns = np.argsort(-scores, axis=1, kind="stable")[:, :k].astype(np.int32)
        scores = np.take_along_axis(scores, columns, axis=1)
        return np.where(np.isfinite(scores), columns, -1), scores

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"words": self.weights_.shape[0]}, pack_csr("weights", self.weights_)

    def _restore(self, settings, arrays) -> None:
        self.weights_ = unpack_csr(arrays, "weights")


class Reader(Together):
    """Reads raw text: the first letter is the only feature."""

    method = "reader"
    reads = "text"

    def _fit(self, rows, labels) -> None:
        super()._fit(self._letters(rows), labels)

    def _top(self, rows, k) -> tuple[np.ndarray, np.ndarray]:
        return super()._top(self._letters(rows), k)

    def _letters(self, texts) -> sp.csr_matrix:
        return sp.csr_matrix([[text.startswith(letter) for letter in "abc"] for text in texts], dtype=np.float32)


Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
X = Y.astype(np.float32)
NAMES = [["a"], ["b"], ["c"], ["a", "b"], ["a"], ["b"], ["c"]]
TEXTS = ["red red", "green green", "blue", "red green", "blue"]
COLOURS = [["red"], ["green"], ["blue"], ["red", "green"], ["blue"]]


def test_predict_answers_in_the_form_of_fit():
    assert Together().fit(X, NAMES).predict(X) == NAMES
    found = Together().fit(X, Y).predict(X)
    assert sp.issparse(found)
    np.testing.assert_array_equal(found.toarray(), Y)
    single = Together().fit(X[:3], np.array(["x", "y", "z"])).predict(X[:3])
    np.testing.assert_array_equal(single, ["x", "y", "z"])


@pytest.mark.parametrize(
    "names", [[(1, 2), (3, 4), (5, 6)], [7, 8, 9], [None, "s", 2.5], [("deep", (1, None)), True, "x"]]
)
def test_names_of_any_hashable_type_come_back_as_given(names, tmp_path):
    model = Together().fit(X[:3], [[name] for name in names])
    model.save(tmp_path / "model")
    for own in (model, Together.load(tmp_path / "model")):
        found = own.predict(X[:3])
        assert found == [[name] for name in names]
        assert [type(row[0]) for row in found] == [type(name) for name in names]
        assert own.predict_top(X[:3], 1)[0][:, 0].tolist() == names


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array, sp.coo_matrix, list, np.asfortranarray])
def test_rows_in_any_form(form):
    model = Together().fit(form(X), NAMES)
    assert model.n_features_in_ == 3
    assert model.predict(form(X)) == NAMES


def test_rows_are_left_as_they_were():
    rows = sp.csr_matrix((np.ones(3, dtype=np.float32), [2, 0, 1], [0, 2, 3]), shape=(2, 3))
    Together().fit(rows, [["a"], ["b"]]).predict(rows)
    np.testing.assert_array_equal(rows.indices, [2, 0, 1])


def test_predict_top_is_best_first():
    names, scores = (
        Together().fit(np.array([[1, 0], [1, 0], [1, 1]]), [["a"], ["a", "b"], ["c"]]).predict_top([[1, 0]], 2)
    )
    assert names.tolist() == [["a", "b"]]
    assert scores.tolist() == [[2, 1]]


def test_more_labels_asked_than_there_are():
    names, scores = Together().fit(np.ones((3, 1)), ["a", "b", "c"]).predict_top(np.ones((2, 1)), k=10)
    assert names.shape == scores.shape == (2, 3)


def test_places_with_nothing_to_say_hold_none():
    for labels in (NAMES, Y):
        names, scores = Together().fit(X, labels).predict_top(X[2:3], k=3)
        assert names[0, 1:].tolist() == [None, None]
        assert scores[0, 1:].tolist() == [-np.inf, -np.inf]
    assert Together().fit(X, NAMES).predict(np.zeros((1, 3))) == [[]]


@pytest.mark.parametrize("k", [0, -1])
def test_k_must_be_positive(k):
    with pytest.raises(DataError, match="k must be at least 1"):
        Together().fit(X, Y).predict_top(X, k)


def test_the_threshold_gives_training_rows_as_many_labels_as_they_have():
    rng = np.random.default_rng(0)
    rows = rng.random((300, 20)) < 0.2
    labels = (rows @ (rng.random((20, 15)) < 0.1)) > 0
    model = Together().fit(rows, labels)
    assert model.predict(rows).sum() == pytest.approx(labels.sum(), rel=0.1)
    assert model.most_labels_ == labels.sum(axis=1).max()


def test_the_best_label_is_given_even_below_the_threshold():
    model = Together().fit(X, NAMES)
    model.threshold_ = float("inf")
    assert model.predict(X[:4]) == [["a"], ["b"], ["c"], ["a"]]


def test_decision_function_is_rows_by_labels(monkeypatch):
    model = Together().fit(X, NAMES)
    assert model.decision_function(X[:1]).tolist() == [[3, 1, np.finfo(np.float32).min]]
    monkeypatch.setattr(ranker, "MOST_DENSE_CELLS", 20)
    with pytest.raises(DataError, match="7 rows x 3 labels are too many"):
        model.decision_function(X)


def test_score_is_precision_at_one():
    model = Together().fit(X, NAMES)
    assert model.score(X, NAMES) == 1
    assert model.score(X[:4], [["b"], ["b"], ["c"], []]) == 0.5
    assert model.score(X[:2], [["unseen"], ["b"]]) == 0.5
    assert model.score(X, Y) == 1  # an indicator goes by column, whatever the names
    assert Together().fit(X, Y).score(X, Y) == 1
    with pytest.raises(DataError, match="7 rows but 3 rows of labels"):
        model.score(X, NAMES[:3])


def test_texts_become_weighted_words(tmp_path):
    model = Together().fit(TEXTS, COLOURS)
    assert model.predict(["a red one", "blue"]) == [["red"], ["blue"]]
    model.save(tmp_path / "model")
    loaded = Together.load(tmp_path / "model")
    assert loaded.predict(["a red one", "blue"]) == [["red"], ["blue"]]
    np.testing.assert_array_equal(loaded.decision_function(TEXTS), model.decision_function(TEXTS))


def test_text_where_features_are_due_and_the_reverse():
    with pytest.raises(DataError, match="cannot read raw text"):
        Together().fit(X, Y).predict(TEXTS)
    with pytest.raises(DataError, match="give it strings"):
        Together().fit(TEXTS, COLOURS).predict(X)
    with pytest.raises(DataError, match="reader reads raw text"):
        Reader().fit(X, Y)


def test_a_method_that_reads_raw_text(tmp_path):
    texts = ["apple", "banana", "cherry"]
    model = Reader().fit(texts, texts)
    assert list(model.predict(["avocado", "cranberry"])) == ["apple", "cherry"]
    model.save(tmp_path / "model")
    assert list(Reader.load(tmp_path / "model").predict(["b"])) == ["banana"]


def test_no_rows_to_predict_is_no_error():
    assert Together().fit(TEXTS, COLOURS).predict([]) == []
    assert Together().fit(X, NAMES).predict_top([], 2)[0].shape == (0, 2)


def test_fit_dataset_keeps_label_names():
    data = Dataset(labels=sp.csr_matrix(Y, dtype=np.float32), features=sp.csr_matrix(X), label_names=["u", "v", "w"])
    assert Together().fit_dataset(data).predict(X[:4]) == [["u"], ["v"], ["w"], ["u", "v"]]


@pytest.mark.parametrize(
    ("rows", "labels", "sentence"),
    [
        (X, NAMES[:3], "7 rows but 3 rows of labels"),
        ([], [], "no rows to learn from"),
        (X, [[]] * 7, "no labels to learn from"),
        (X, np.empty((7, 0)), "no labels to learn from"),
    ],
)
def test_nothing_to_learn_is_one_sentence(rows, labels, sentence):
    with pytest.raises(DataError, match=sentence):
        Together().fit(rows, labels)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_rows_must_be_finite(wrong):
    with pytest.raises(ValueError, match="contains"):
        Together().fit(np.array([[wrong]]), [["a"]])


def test_an_unfitted_model_says_so(tmp_path):
    for call in (Together().predict, Together().predict_top, Together().decision_function):
        with pytest.raises(NotFittedError):
            call(X)
    with pytest.raises(NotFittedError):
        Together().save(tmp_path / "model")


def test_rows_without_labels_may_be_learnt_from():
    model = Together().fit(X[:4], [["a"], [], ["c"], ["a"]])
    assert model.predict(X[[0, 2]]) == [["a"], ["c"]]


def test_save_and_load_keep_everything(tmp_path):
    model = Together(scale=2.5).fit(X, Y)
    model.save(tmp_path / "model", metrics={"P@1": 100.0})
    loaded = Together.load(tmp_path / "model")
    assert loaded.get_params() == {"scale": 2.5}
    assert (loaded.threshold_, loaded.most_labels_, loaded.n_features_in_) == (model.threshold_, 2, 3)
    np.testing.assert_array_equal(loaded.predict(X).toarray(), Y)
    assert read_model(tmp_path / "model").facts == {"metrics": {"P@1": 100.0}}
    with pytest.raises(ModelFileError, match="method together, not reader"):
        Reader.load(tmp_path / "model")
    with pytest.raises(ValueError, match="features"):
        loaded.predict(np.ones((1, 4)))


def test_a_parameter_that_is_gone_does_not_keep_an_old_model_from_loading(tmp_path):
    Together(scale=2.5).fit(X, Y).save(tmp_path / "model")
    file = read_model(tmp_path / "model")
    settings = file.settings | {"parameters": file.settings["parameters"] | {"gone": True}}
    write_model(tmp_path / "old", method="together", settings=settings, arrays=file.arrays, tables=file.tables)
    assert Together.load(tmp_path / "old").get_params() == {"scale": 2.5}


def test_a_sound_folder_with_the_wrong_content_is_refused(tmp_path):
    write_model(tmp_path / "model", method="together", settings={}, arrays={}, tables={})
    with pytest.raises(ModelFileError, match="lacks what a together model needs"):
        Together.load(tmp_path / "model")


def test_clone_forgets_what_was_learnt():
    fresh = clone(Together(scale=3).fit(X, Y))
    assert fresh.scale == 3
    assert not hasattr(fresh, "classes_")
