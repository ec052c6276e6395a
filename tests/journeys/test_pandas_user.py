"""A user of pandas and scikit-learn: data frames in, cross-validation, a grid, a pipeline, joblib."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer

from rankae import RankAE, metrics
from rankae.errors import RankaeError
from rankae.methods import create, load

pandas = pytest.importorskip("pandas", reason="pandas is not installed")


@pytest.fixture(scope="module")
def frame(articles):
    return pandas.DataFrame([vars(article) for article in articles["train"]])


def test_a_frame_of_texts_and_lists(frame, tmp_path):
    texts = frame["title"] + "\n" + frame["body"]
    train, test, train_tags, test_tags = train_test_split(texts, frame["tags"], random_state=0)
    model = RankAE("fast", random_state=0).fit(train, train_tags)
    found = model.evaluate(test, test_tags)
    assert found["P@1"] > 85
    assert found["P@3"] <= found["P@3-best"]
    assert np.mean([model.score([text], [tags]) for text, tags in zip(test[:20], test_tags[:20], strict=True)]) > 0.8
    joblib.dump(model, tmp_path / "model.joblib")
    model.save(tmp_path / "model")
    for again in (joblib.load(tmp_path / "model.joblib"), load(tmp_path / "model")):
        assert again.predict(test) == model.predict(test)
    probabilities = model.predict_proba(test)
    assert probabilities.shape == (len(test), len(model.classes_))
    assert 0 <= probabilities.min() <= probabilities.max() <= 1


def test_a_frame_of_indicators_keeps_its_names(frame):
    binarizer = MultiLabelBinarizer().fit(frame["tags"])
    indicator = pandas.DataFrame(binarizer.transform(frame["tags"]), columns=binarizer.classes_)
    model = create("knn").fit(frame[["title"]], indicator)
    assert set(model.classes_.tolist()) == set(binarizer.classes_)
    assert model.predict_top(["some apple juice"], 1)[0][0, 0] == "fruit"


def test_cross_validation_a_grid_and_a_pipeline(frame):
    scores = cross_val_score(create("knn"), frame["title"], frame["tags"], scoring=metrics.scorer("P@1"), cv=3)
    assert scores.min() > 60
    grid = GridSearchCV(create("knn"), {"neighbours": [1, 9]}, scoring=metrics.scorer("PSP@1"), cv=2)
    assert grid.fit(frame["title"], frame["tags"]).best_params_["neighbours"] in (1, 9)
    pipeline = make_pipeline(TfidfVectorizer(), create("knn")).fit(frame["title"], frame["tags"])
    assert "wine" in pipeline.predict(["a bottle from the cellar"])[0]


def test_scikit_learns_measures_of_rankings_read_the_scores(frame):
    truth = MultiLabelBinarizer().fit_transform(frame["tags"])
    model = create("knn").fit(frame["title"], truth)
    scores = model.decision_function(["some apple juice", "a bottle from the cellar", "of and with"])
    assert label_ranking_average_precision_score(truth[:3], scores) > 0
    assert model.evaluate(frame["title"], truth, k=1)["P@1"] > 60


def test_one_model_for_each_label_by_scikit_learn(frame):
    truth = MultiLabelBinarizer().fit_transform(frame["tags"])
    rows = TfidfVectorizer().fit_transform(frame["title"] + " " + frame["body"])
    one = create("knn").fit(rows, truth[:, 0])
    assert one.decision_function(rows).shape == (len(frame),)
    found = OneVsRestClassifier(create("knn")).fit(rows, truth).predict(rows)
    assert found.shape == truth.shape
    assert (found == truth).mean() > 0.8


def test_cells_without_a_label_are_no_label(frame):
    """Columns that were split leave empty strings, and missing values stand in lists."""
    tags = [["fruit"], [""], ["wine", ""], [float("nan")], ["travel", " music"]] * 20
    assert create("knn").fit(frame["title"][:100], tags).classes_.tolist() == ["fruit", "wine", "travel", " music"]
    with pytest.warns(UserWarning, match="spaces around them, such as 'music'"):
        create("knn").fit(["a b", "c d"], [["music"], [" music"]])


def test_habits_that_cannot_work_say_so_in_one_sentence(frame):
    model = create("knn").fit(frame["title"], frame["tags"])
    tags = frame["tags"].str.join(";")
    for wrong, told in (
        (lambda: model.predict("one string"), "put it in a list"),
        (lambda: model.predict(frame), "give one column of texts"),
        (lambda: create("knn").fit(frame["title"], tags), r'Y\.str\.split\(";"\)'),
        (lambda: create("knn").fit(frame["title"], frame["tags"], sample_weight=np.ones(len(frame))), "sample_weight"),
        (lambda: RankAE(threads=0).fit(frame["title"], frame["tags"]), "threads must be at least 1"),
        (lambda: create("knn").fit(frame["title"].where(frame.index > 3), frame["tags"]), "the text is missing"),
        (lambda: metrics.scorer("accuracy"), "there is no measure 'accuracy'"),
        (lambda: create("knn").fit(frame["title"], frame["tags"].sample(frac=1, random_state=0)), "another order"),
        (lambda: create("knn").fit((text for text in frame["title"]), frame["tags"]), "make it a list"),
        (lambda: create("knn").fit([text.split() for text in frame["title"]], frame["tags"]), '" ".join'),
        (lambda: create("knn").fit([text.encode() for text in frame["title"]], frame["tags"]), "decode"),
        (lambda: RankAE().fit(frame["title"], frame["tags"], trusted=frame["title"]), r"\(X, Y\)"),
        (lambda: model.predict_top(frame["title"], "5"), "k must be a whole number"),
    ):
        with pytest.raises(RankaeError, match=told) as caught:
            wrong()
        assert "\n" not in str(caught.value)
