"""What users of pandas and scikit-learn do without thinking: it works, or one sentence says what to do."""

from __future__ import annotations

import copy
import pickle
import re

import joblib
import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

from rankae import RankAE, metrics
from rankae.errors import DataError, RankaeError
from rankae.methods import create

TEXTS = ["red apple", "green apple", "red wine", "white wine"] * 10
LABELS = [["fruit"], ["fruit"], ["drink"], ["drink"]] * 10


@pytest.fixture(scope="module")
def model():
    return RankAE("fast", random_state=0).fit(TEXTS, LABELS)


def test_pickle_joblib_and_deepcopy(model, tmp_path):
    expected = model.predict_top(["an apple", "some wine"], 2)
    joblib.dump(model, tmp_path / "m.joblib")
    copies = pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "m.joblib"), copy.deepcopy(model)  # noqa: S301
    for again in copies:
        for found, wanted in zip(again.predict_top(["an apple", "some wine"], 2), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", ["fasttext", "parabel", "plt"])
def test_models_of_native_libraries_are_pickled_too(name):
    pytest.importorskip({"fasttext": "fasttext", "parabel": "omikuji", "plt": "napkinxc"}[name], reason="extra rivals")
    model = create(name).fit(TEXTS, LABELS)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert again.predict_top(TEXTS, 1)[0].tolist() == model.predict_top(TEXTS, 1)[0].tolist()
    assert pickle.loads(pickle.dumps(create(name))).get_params() == model.get_params()  # noqa: S301


def test_cross_validation_and_a_grid_by_the_fields_measures():
    folds = cross_val_score(create("knn"), TEXTS, LABELS, scoring=metrics.scorer("P@1"), cv=2)
    np.testing.assert_allclose(folds, 100)
    grid = GridSearchCV(create("knn"), {"neighbours": [1, 3]}, scoring=metrics.scorer("nDCG@1"), cv=2)
    assert grid.fit(TEXTS, LABELS).best_score_ == 100
    with pytest.raises(RankaeError, match="there is no measure 'accuracy'"):
        metrics.scorer("accuracy")


def test_the_fields_measures_score_pipelines_searches_and_other_estimators():
    """In scikit-learn a scorer that fails gives NaN and a warning: a search then chooses at random."""
    indicator = MultiLabelBinarizer().fit_transform(LABELS)
    whole = make_pipeline(TfidfVectorizer(), create("knn"))
    grid = GridSearchCV(whole, {"nearestrows__neighbours": [1, 3]}, scoring=metrics.scorer("PSP@1"), cv=2)
    assert grid.fit(TEXTS, LABELS).best_score_ == 100
    assert metrics.scorer("P@1")(grid, TEXTS, LABELS) == 100
    for other in (OneVsRestClassifier(LinearSVC()), KNeighborsClassifier(3), OneVsRestClassifier(LogisticRegression())):
        theirs = make_pipeline(TfidfVectorizer(), other).fit(TEXTS, indicator)
        assert metrics.scorer("nDCG@1")(theirs, TEXTS, indicator) == 100
        with pytest.raises(RankaeError, match="PSP@1 needs to know the training labels"):
            metrics.scorer("PSP@1")(theirs, TEXTS, indicator)
    with pytest.raises(DataError, match=r"scores of shape \(40,\) for labels of shape"):
        metrics.scorer("P@1")(LinearSVC().fit([[0], [1]] * 20, [0, 1] * 20), [[0]] * 40, indicator)


def test_a_model_without_probabilities_says_why(model):
    assert not hasattr(RankAE(), "predict_proba")  # as scikit-learn's own that have none
    for without, told in ((RankAE(), "not fitted"), (create("knn").fit(TEXTS, LABELS), r"calibrate\(X, Y\)")):
        with pytest.raises(AttributeError) as caught:
            without.predict_proba(TEXTS)
        assert re.search(told, str(caught.value.__cause__))


def test_evaluate_counts_labels_that_training_never_saw_as_misses(model):
    found = model.evaluate(["an apple", "an apple"], [["fruit"], ["unheard of"]], k=[1])
    assert (found["P@1"], found["rows"]) == (50, 2)
    with pytest.raises(DataError, match="2 rows but 1 rows of labels"):
        model.evaluate(["an apple", "an apple"], [["fruit"]])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_and_tables(library):
    """Texts and lists of labels as columns, and as tables of one column, of three libraries."""
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    table = (module.table if library == "pyarrow" else module.DataFrame)({"text": TEXTS, "tags": LABELS})
    column = (lambda name: table.select([name])) if library == "pyarrow" else (lambda name: table[[name]])
    expected = create("knn").fit(TEXTS, LABELS).predict_top(TEXTS, 2)
    for X, Y in ((table["text"], table["tags"]), (column("text"), column("tags"))):
        model = create("knn").fit(X, Y)
        for found, wanted in zip(model.predict_top(X, 2), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
        assert model.evaluate(X, Y)["P@1"] == 100
    with pytest.raises(DataError, match=r"columns text, tags, of which text holds text: give one column"):
        model.predict(table)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_an_indicator_table_keeps_the_names_of_its_columns(library):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    fruit = [1 - i // 2 % 2 for i in range(40)]
    make = module.table if library == "pyarrow" else module.DataFrame
    model = create("knn").fit(TEXTS, make({"fruit": fruit, "drink": [1 - v for v in fruit]}))
    assert model.predict_top(["an apple"], 1)[0].tolist() == [["fruit"]]
    assert model.predict(["an apple"]).toarray().tolist() == [[1, 0]]
    swapped = make({"drink": [1 - v for v in fruit], "fruit": fruit})
    assert model.score(TEXTS, swapped) == 1
    assert model.evaluate(TEXTS, swapped)["P@1"] == 100
    with pytest.raises(DataError, match="labels have the columns fruit, text, of which text is no 0/1"):
        create("knn").fit(TEXTS, make({"fruit": fruit, "text": TEXTS}))


def test_a_column_of_joined_labels_is_refused_with_the_way_to_split_it():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    joined = pandas.Series(["fruit;food", "fruit;food", "drink;food", "drink"] * 10)
    with pytest.raises(DataError, match=r"'drink;food' look like several in one string.*Y\.str\.split"):
        create("knn").fit(TEXTS, joined)
    (found,) = create("knn").fit(TEXTS, joined.str.split(";")).predict(["green apple"])
    assert set(found) == {"fruit", "food"}
    commas = pandas.Series(["fruit,food", "drink,food", "fruit", "drink"] * 10)
    with pytest.raises(DataError, match="look like several"):
        create("knn").fit(TEXTS, commas)
    names = pandas.Series(["Apple, red", "Apple, green", "Wine, red", "Wine, white"] * 10)
    assert create("knn").fit(TEXTS, names).predict(["red apple"]).tolist() == ["Apple, red"]


def test_missing_texts_and_labels():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    lists = pandas.Series([*LABELS[:-1], np.nan])
    assert create("knn").fit(TEXTS, lists).training_rows_ == 40
    with pytest.raises(DataError, match="row 1: the label is missing"):
        create("knn").fit(TEXTS, pandas.Series(["fruit", np.nan] * 20))
    with pytest.raises(DataError, match=r"row 0: the text is missing .* X\.fillna"):
        create("knn").fit(pandas.Series([None, *TEXTS[1:]]), LABELS)


def test_sentences_for_what_cannot_be(model):
    with pytest.raises(DataError, match=r"put it in a list, \[text\]"):
        model.predict("one string")
    for method in (RankAE("fast"), create("knn")):
        with pytest.raises(RankaeError, match="leave sample_weight out"):
            method.fit(TEXTS, LABELS, sample_weight=np.ones(40))
        with pytest.raises(TypeError, match="weights"):
            method.fit(TEXTS, LABELS, weights=np.ones(40))
    with pytest.raises(RankaeError, match="threads must be at least 1"):
        RankAE("fast", threads=0).fit(TEXTS, LABELS)
