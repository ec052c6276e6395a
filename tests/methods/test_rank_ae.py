"""RankAE as a scikit-learn user meets it."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from rankae import RankAE, load
from rankae.base.choices import describe
from rankae.errors import DataError, RankaeError

TEXTS = [f"{a} {b} thing{i % 7}" for i in range(15) for a in ("red", "green", "blue") for b in ("apple", "car", "wine")]
TAGS = [text.split()[:2] for text in TEXTS]


def tiny(preset="fast", **parameters):
    return RankAE(preset, **({"epochs": 3} if preset == "paper" else {}), **parameters)


@parametrize_with_checks([RankAE("fast"), RankAE("paper", epochs=2)])  # every check applies: none is left out
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("preset", ["fast", "default", "paper"])
def test_learns_from_texts(preset):
    parameters = {"epochs": 60, "learning_rate": 0.02} if preset == "paper" else {}
    if preset == "default":
        parameters = {"epochs": 10, "word_size": 50, "network": 1}
    model = RankAE(preset, **parameters).fit(TEXTS, TAGS)
    names, scores = model.predict_top(["a blue car", "green wine"], k=2)
    assert set(names[0]) == {"blue", "car"}
    assert set(names[1]) == {"green", "wine"}
    assert (np.diff(scores, axis=1) <= 0).all()


@pytest.mark.parametrize("preset", ["fast", "paper"])
def test_the_same_seed_gives_the_same_model(preset):
    first, second = (tiny(preset).fit(TEXTS, TAGS).predict_top(TEXTS[:9], 3)[1] for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("preset", ["fast", "default", "paper"])
def test_a_saved_model_answers_as_before(preset, tmp_path):
    extra = {"epochs": 3} if preset != "fast" else {}
    if preset == "default":
        extra |= {"word_size": 20, "network": 1}
    model = RankAE(preset, **extra).fit(TEXTS, TAGS)
    model.save(tmp_path / "model")
    loaded = RankAE.load(tmp_path / "model")
    before, after = model.predict_top(TEXTS[:20], 4), loaded.predict_top(TEXTS[:20], 4)
    np.testing.assert_array_equal(before[0], after[0])
    np.testing.assert_allclose(before[1], after[1], atol=1e-6)
    assert loaded.choices_ == model.choices_


@pytest.mark.parametrize("preset", ["fast", "default", "paper"])
@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        pytest.param([[1.0, 0], [0, 1], [0, 0]], [[1, 0], [0, 1], [1, 0]], id="an empty row"),
        pytest.param([[1.0, 0], [0, 1], [1, 1]], [[1, 0], [0, 0], [0, 1]], id="a row with no label"),
        pytest.param([[1.0, 0], [0, 1], [1, 1]], [[1, 0, 0], [0, 1, 0], [1, 0, 0]], id="a label with no row"),
        pytest.param([[1.0, 0], [0, 1]], [[1], [0]], id="a single label"),
        pytest.param([[1.0, 0], [0, 1]], [[1, 1], [1, 1]], id="all labels positive"),
        pytest.param([[-1.0, 0], [0, -2]], [[1, 0], [0, 1]], id="negative features"),
    ],
)
def test_strange_data_is_defined(preset, rows, labels):
    model = tiny(preset).fit(np.array(rows * 4), np.array(labels * 4))
    columns, scores = model.top_columns(np.array([*rows, [0.0, 0]]), 5)
    assert columns.shape == scores.shape == (len(rows) + 1, min(5, len(labels[0])))
    assert not np.isnan(scores).any()


def test_words_never_seen_are_ignored():
    model = tiny().fit(TEXTS, TAGS)
    assert model.predict_top(["zebra red apple quux"], 2)[0].tolist() == model.predict_top(["red apple"], 2)[0].tolist()
    assert model.predict_top(["zebra"], 2)[0].shape == (1, 2)


def test_works_in_a_pipeline_a_clone_and_a_grid_search():
    rows = np.abs(np.random.default_rng(0).standard_normal((60, 5)))
    labels = (rows > 1).astype(int)
    search = GridSearchCV(make_pipeline(MaxAbsScaler(), RankAE("fast")), {"rankae__ridge": [0.5, 2.0]}, cv=2)
    search.fit(rows, labels)
    assert search.best_params_["rankae__ridge"] in (0.5, 2.0)
    assert clone(RankAE("paper", margin=0.5)).margin == 0.5


def test_names_of_any_hashable_type_come_back():
    names = [("a", 1), 7, "x", None]
    model = tiny().fit(TEXTS[:40], [[names[i % 4]] for i in range(40)])
    assert set(model.classes_.tolist()) == set(names)


@pytest.mark.parametrize("preset", ["fast", "default", "paper"])
def test_partial_fit_learns_from_new_rows_and_keeps_the_old(preset):
    extra = {"epochs": 40, "learning_rate": 0.02} if preset == "paper" else {}
    if preset == "default":
        extra = {"epochs": 5, "word_size": 20, "network": 1}
    model = RankAE(preset, **extra).fit(TEXTS, [["old", *tags] for tags in TAGS[:-9]] + [["new"]] * 9)
    model.partial_fit(["novel red words"] * 30, [["new"]] * 30)
    words = "novel" if model.text_ is not None and "novel" in model.text_.words else "red"
    before = RankAE(preset, **extra).fit(TEXTS, [["old", *tags] for tags in TAGS[:-9]] + [["new"]] * 9)
    place = list(model.classes_).index("new")
    text = [f"{words} words"]
    assert model.decision_function(text)[0, place] > before.decision_function(text)[0, place]
    assert model.training_rows_ == len(TEXTS) + 30


def test_the_papers_network_refuses_labels_it_never_saw():
    model = RankAE("paper", epochs=1, word_size=8).fit(TEXTS, TAGS)
    with pytest.raises(DataError, match="purple"):
        model.partial_fit(["red"], [["purple"]])


def test_bilstm_reads_documents_in_order():
    model = RankAE("paper", words="bilstm", epochs=2).fit(TEXTS, TAGS)
    assert model.predict_top(["red car"], 3)[0].shape == (1, 3)
    with pytest.raises(DataError, match="raw text"):
        RankAE("paper", words="bilstm").fit(np.eye(3), np.eye(3))


@pytest.mark.parametrize("settings", [{"preset": "paper", "word_size": 4}, {"preset": "default", "network": 1}])
def test_glove_vectors_start_the_words(tmp_path, settings):
    glove = tmp_path / "glove.txt"
    glove.write_text("".join(f"{word} {' '.join(['0.5'] * 4)}\n" for word in ("red", "apple", "car")))
    model = RankAE(**settings, word_vectors=glove, epochs=1).fit(TEXTS, TAGS)
    line = describe(model.choices_["word_vectors"])
    assert line.startswith("glove.txt")
    assert "3 of 13 features" in line
    assert line.endswith("as set)")


def test_a_preset_file_is_read(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"preset": "paper", "epochs": 2, "margin": 0.3}))
    model = RankAE(str(path)).fit(TEXTS, TAGS)
    assert len(model.history_) == 2


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"preset": "papre"}, "no preset 'papre'"),
        ({"preset": "default", "margin": 0.5}, "margin has no meaning for the preset 'default'"),
        ({"preset": "paper", "rankers": True}, "rankers has no meaning"),
        ({"preset": "default", "words": "bilstm"}, "needs the preset"),
    ],
)
def test_wrong_settings_are_one_sentence(parameters, sentence):
    with pytest.raises(RankaeError, match=sentence):
        RankAE(**parameters).fit(TEXTS, TAGS)


def test_the_untouched_start_reproduces_ridge_scores():
    rows = sp.random(80, 30, density=0.3, random_state=0, format="csr", dtype=np.float32)
    labels = (np.random.default_rng(0).random((80, 6)) < 0.3).astype(int)
    model = RankAE(tuning=False, network=0, neighbours=False, rankers=False, ridge=1.0).fit(rows, labels)
    X = rows.toarray() / np.maximum(np.linalg.norm(rows.toarray(), axis=1, keepdims=True), 1e-12)
    W = np.linalg.solve(X.T @ X + np.eye(30), X.T @ labels)
    np.testing.assert_allclose(model.decision_function(rows), X @ W, atol=5e-3)


def test_held_out_evidence_is_recorded():
    model = RankAE(epochs=3, word_size=20, network=1).fit(TEXTS, TAGS)
    assert {"all", "code alone", "network alone", "neighbours alone", "rankers alone"} <= set(model.evidence_)
    assert all({"P@1", "P@3", "P@5"} == set(figures) for figures in model.evidence_.values())
    components = [name for name in model.choices_["components"]["value"] if name != "names"]  # if they help here
    assert components == ["code", "network", "neighbours", "rankers"]


def test_an_interrupted_recipe_goes_on_from_its_finished_parts(tmp_path, monkeypatch):
    settings = {"epochs": 3, "word_size": 20, "network": 1, "checkpoint": tmp_path / "checkpoint"}

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("rankae.recipe.fitting.train_stacker", killed)
        with pytest.raises(KeyboardInterrupt):
            RankAE(**settings).fit(TEXTS, TAGS)
    whole = RankAE(**settings | {"checkpoint": None}).fit(TEXTS, TAGS)
    for component in ("held_out.ClosedForm.tuned", "network_component.train_joint", "held_out.Rankers.train"):
        monkeypatch.setattr(f"rankae.recipe.{component}", killed)  # none is trained again
    resumed = RankAE(**settings, resume=True).fit(TEXTS, TAGS)
    np.testing.assert_allclose(resumed.decision_function(TEXTS[:9]), whole.decision_function(TEXTS[:9]), atol=1e-5)
    assert resumed.evidence_ == whole.evidence_
    assert resumed.choices_ == whole.choices_
    epochs = [(figures["member"], figures["epoch"], figures["loss"]) for figures in whole.history_]
    assert epochs == [(f["member"], f["epoch"], f["loss"]) for f in resumed.history_] != []
    with pytest.raises(RankaeError, match="other data or settings"):
        RankAE(**settings, resume=True).fit(TEXTS[:-1], TAGS[:-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bibtex", "mediamill-disc3"])
def test_real_data_is_learnt_with_no_option(real_data, name):
    from rankae.data import load_dataset
    from rankae.metrics import evaluate

    train, test = load_dataset(real_data(name), "train"), load_dataset(real_data(name), "test")
    model = RankAE("fast").fit_dataset(train)
    test = test.aligned_to(model.classes_.tolist()) if train.label_names else test
    columns, _ = model.top_columns(test.with_features(model.n_features_in_).rows, 5)
    assert evaluate(columns, test.labels)["P@1"] > {"bibtex": 63.0, "mediamill-disc3": 75.0}[name]


@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("tables", ["float16", "int8"])
def test_a_shrunk_model_answers_almost_alike_and_can_be_saved_and_trained(tmp_path, preset, tables):
    own = {"network": 1, "ridge": 1.0} if preset == "default" else {"code_size": 8}
    model = RankAE(preset, word_size=8, epochs=2, ngrams=(1, 1), **own).fit(TEXTS, TAGS)
    small = model.shrunk(tables)
    np.testing.assert_allclose(small.decision_function(TEXTS), model.decision_function(TEXTS), atol=0.1, rtol=0.05)
    for name in ("once", "twice"):  # what is loaded is as small as what was saved
        small.save(tmp_path / name)
        again = load(tmp_path / name)
        np.testing.assert_allclose(again.decision_function(TEXTS), small.decision_function(TEXTS), rtol=1e-4, atol=1e-4)
        small = again
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("once", "twice")]
    assert sizes[0] == sizes[1]
    small.partial_fit(TEXTS, TAGS)
    assert small.predict_top(TEXTS, 1)[0].shape == (len(TEXTS), 1)


@pytest.mark.parametrize("preset", ["fast", "paper"])
def test_an_index_gives_the_labels_that_a_look_at_all_gives(tmp_path, preset):
    pytest.importorskip("usearch")
    model = RankAE(preset, code_size=4, ngrams=(1, 1)).fit(TEXTS, TAGS)
    names, scores = model.predict_top(TEXTS, 2)
    assert "recall@6" in model.build_index()  # of made-up rows, for which so few labels often tie
    assert model.build_index(TEXTS, k=2)["recall@2"] >= 0.9
    model.save(tmp_path / "indexed")
    for indexed in (model, load(tmp_path / "indexed"), model.shrunk("float32")):
        found = indexed.predict_top(TEXTS, 2)
        np.testing.assert_allclose(found[1], scores, rtol=1e-3, atol=1e-4)
        assert found[0].shape == names.shape
    model.drop_index()
    np.testing.assert_array_equal(model.predict_top(TEXTS, 2)[0], names)


def test_a_title_is_read_as_one_where_that_helps(tmp_path):
    """The label is the colour of the first line; the colour below it says nothing."""
    colours, random = ("red", "green", "blue", "grey"), np.random.default_rng(0)
    pairs = random.integers(0, 4, (400, 2)).tolist()
    texts, tags = [f"{colours[a]}\n{colours[b]}" for a, b in pairs], [[colours[a]] for a, _ in pairs]
    model = RankAE(network=0, ngrams=(1, 1)).fit(texts, tags)
    assert describe(model.choices_["title"]).startswith("0.5 (leave-one-out precision; ")
    assert model.predict_top(["blue\nred", "red\nblue"], k=1)[0].tolist() == [["blue"], ["red"]]
    model.save(tmp_path / "model")
    assert RankAE.load(tmp_path / "model").predict_top(["blue\nred"], k=1)[0] == "blue"
    for settings in ({"title": 0}, {"preset": "fast"}):
        assert not RankAE(network=0, ngrams=(1, 1), **settings).fit(texts, tags).text_.of_titles


def test_with_many_rows_per_feature_the_paper_preset_starts_elsewhere():
    rows = np.random.default_rng(0).random((300, 20))
    labels = [[f"label {i % 5}"] for i in range(300)]
    model = RankAE("paper", epochs=1).fit(rows, labels)
    assert model.model_.shape.hidden == 500
    assert RankAE("paper", epochs=1, hidden=0).fit(rows, labels).model_.shape.hidden == 0
    assert RankAE("paper", epochs=1).fit(rows[:100], labels[:100]).model_.shape.hidden == 0


def test_the_paper_preset_chooses_what_is_read_of_a_text_and_the_strict_one_reads_words_alone():
    kinds = ["red", "green", "blue", "white", "black"]
    texts = [f"{first}\n{second}" for first in kinds for second in kinds] * 20
    tags = [[text.split()[0]] for text in texts]
    model = RankAE("paper", epochs=1).fit(texts, tags)
    assert model.text_.of_titles or model.text_.ngrams == (1, 2)
    assert model.choices_["ngrams"]["evidence"]
    strict = RankAE("paper-strict", epochs=1).fit(texts, tags)
    assert not strict.text_.of_titles
    assert strict.text_.ngrams == (1, 1)


def test_a_step_of_the_paper_preset_looks_at_some_labels_if_there_are_very_many():
    rows = sp.random(80, 50, 0.1, format="csr", random_state=0)
    labels = sp.csr_matrix((np.ones(80), (np.arange(80), np.arange(80) * 100)), shape=(80, 8001))
    assert RankAE("paper", epochs=1).fit(rows, labels).choices_["shortlist"]["value"] == 4000
    for settings in ({"preset": "paper", "shortlist": 0}, {"preset": "paper-strict"}):
        assert "shortlist" not in RankAE(**settings, epochs=1).fit(rows, labels).choices_
