from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.cli.entry import run
from rankae.data import make_dataset
from rankae.errors import DataError, RankaeError
from rankae.explain import RowDocument, TextDocument, deletion_curve, explain
from rankae.explain.explanation import scores_of
from rankae.explain.show import html_explanation, terminal_text
from rankae.methods import registry

SMALL = {"epochs": 3, "code_size": 20, "word_size": 16}


@pytest.fixture(scope="module")
def texts():
    return make_dataset(200, labels=15, features=300, test_rows=12, text=True, seed=4)


@pytest.fixture(scope="module")
def matrix():
    return make_dataset(200, labels=15, features=300, test_rows=12, text=False, seed=4)


@pytest.fixture(scope="module")
def linear(texts):
    return registry.create("one-vs-rest", random_state=0).fit_dataset(texts[0])


@pytest.fixture(scope="module")
def paper(texts):
    return registry.create("rank-ae-paper", **SMALL).fit_dataset(texts[0])


# Documents ------------------------------------------------------------------------------------------------------


def test_a_text_is_cut_without_losing_a_character() -> None:
    text = "The cat, THE dog & \n <b>cat</b>"
    document = TextDocument.read(text)
    assert "".join(piece for piece, _ in document.pieces()) == text
    assert document.words == ["the", "cat", "dog", "b"]
    assert document.without([(), (1,), (0, 2)]) == [text, "The , THE dog & \n <b></b>", " cat,   & \n <b>cat</b>"]


def test_a_row_loses_features() -> None:
    document = RowDocument(sp.csr_matrix([[0, 2.0, 0, 3.0]]), ["a", "b"])
    assert document.without([(), (0,), (0, 1)]).toarray().tolist() == [[0, 2, 0, 3], [0, 0, 0, 3], [0, 0, 0, 0]]


# Weights --------------------------------------------------------------------------------------------------------


def test_removal_is_the_fall_of_the_score_without_the_word(linear, texts) -> None:
    text = texts[1].texts[0]
    found = explain(linear, text, k=3)
    assert found.view == "removal"
    word = int(np.argmax(found.contributions[:, 0]))
    without = re.sub(rf"\b{found.words[word]}\b", "", text)
    before, after = (linear.decision_function([t])[0, found.columns[0]] for t in (text, without))
    assert found.contributions[word, 0] == pytest.approx(before - after, abs=1e-5)
    assert found.strongest(0)[0][1] == pytest.approx(found.contributions[np.abs(found.contributions[:, 0]).argmax(), 0])


@pytest.mark.parametrize(
    "change",
    [{}, {"attention": False}, {"pooling": "mean"}, {"words": "bilstm"}, {"ngrams": (1, 2)}],
    ids=["attention", "no attention", "mean", "bilstm", "pairs"],
)
def test_contributions_add_up_to_the_score(texts, change: dict) -> None:
    train, test = texts
    model = registry.create("rank-ae-paper", **SMALL, **change).fit_dataset(train)
    found = explain(model, test.texts[1], k=4)
    assert found.view == "contribution"
    assert found.base is not None
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=0), found.scores, rtol=1e-4, atol=1e-5)
    gated = change.get("attention", True)
    assert (found.attention is not None) == gated
    if gated:  # a sum of sigmoids, one for each channel
        known = found.attention[found.attention > 0]
        assert len(known) > 5
        assert (known < SMALL["word_size"]).all()


def test_a_titles_features_speak_for_the_words_of_the_title(texts) -> None:
    train, test = texts
    titled = replace(train, texts=[text.replace(" ", "\n", 1) for text in train.texts])
    model = registry.create("rank-ae-paper", title=0.5, **SMALL).fit_dataset(titled)
    assert model.text_.of_titles
    found = explain(model, test.texts[1].replace(" ", "\n", 1), k=4)
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=0), found.scores, rtol=1e-4, atol=1e-5)


def test_the_pieces_of_a_compound_speak_for_the_compound(texts) -> None:
    train, _ = texts
    compound = {text: "-".join(text.split(" ", 2)[:2]) + "7 " + text.split(" ", 2)[2] for text in train.texts}
    joined = replace(train, texts=list(map(compound.__getitem__, train.texts)))
    model = registry.create("rank-ae-paper", pieces=True, **SMALL).fit_dataset(joined)
    found = explain(model, joined.texts[3], k=4)
    assert found.words[0] == joined.texts[3].split(" ")[0].lower()
    assert np.abs(found.contributions[0]).max() > 0  # no other text has this compound, but many have its pieces
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=0), found.scores, rtol=1e-4, atol=1e-5)


def test_rows_of_features_are_explained_by_their_names(matrix) -> None:
    train, test = matrix
    model = registry.create("rank-ae-paper", **SMALL).fit_dataset(train)
    found = explain(model, test.features[2], k=2, feature_names=test.feature_names)
    assert set(found.words) <= set(test.feature_names)
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=0), found.scores, rtol=1e-4, atol=1e-5)


def test_a_score_that_is_no_sum_falls_back_to_removal(texts) -> None:
    train, test = texts
    model = registry.create("rank-ae-paper", **SMALL, activation="relu").fit_dataset(train)
    assert explain(model, test.texts[0], k=1).view == "removal"
    with pytest.raises(RankaeError, match="no sum over words"):
        explain(model, test.texts[0], view="contribution")


def test_the_default_recipe_is_explained_by_removal(texts) -> None:
    train, test = texts
    model = registry.create("rank-ae", network=1, epochs=2, word_size=16, code_size=10, ngrams=(1, 1)).fit_dataset(
        train
    )
    found = explain(model, test.texts[0], k=2)
    assert found.contributions.shape == (len(found.words), 2)
    assert np.isfinite(found.contributions).all()


def test_methods_that_read_raw_text_are_explained_too(texts) -> None:
    pytest.importorskip("fasttext")
    model = registry.create("fasttext", epochs=3).fit_dataset(texts[0])
    assert explain(model, texts[1].texts[0], k=2).view == "removal"


def test_a_label_that_drops_out_of_the_ranking_gets_the_lowest_score() -> None:
    class Ranked:
        def top_columns(self, rows, k):
            return np.array([[4, 2, -1], [-1, -1, -1]]), np.array([[0.9, 0.3, -np.inf], [-np.inf] * 3])

    assert scores_of(Ranked(), None, np.array([4, 7])).tolist() == [
        [pytest.approx(0.9), pytest.approx(0.3)],
        [0.0, 0.0],
    ]


def test_a_document_without_words_has_no_weights(linear) -> None:
    found = explain(linear, " ... ", k=2)
    assert found.contributions.shape == (0, 2)
    html_explanation(found, "nothing")
    assert deletion_curve(linear, found).advantage == 0


def test_mistakes_are_one_sentence(linear, matrix, texts) -> None:
    with pytest.raises(DataError, match="not a row of features"):
        explain(linear, matrix[1].features[0])
    with pytest.raises(DataError, match="one document"):
        explain(linear, texts[1].texts)
    with pytest.raises(RankaeError, match="no view"):
        explain(linear, "x", view="sideways")
    model = registry.create("popular").fit_dataset(matrix[0])
    with pytest.raises(DataError, match="not a text"):
        explain(model, "a text")
    with pytest.raises(DataError, match="not 12"):
        explain(model, matrix[1].features)


# Faithfulness ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["linear", "paper"])
def test_deleting_named_words_lowers_scores_faster_than_deleting_any(name: str, texts, request) -> None:
    model = request.getfixturevalue(name)
    curves = [deletion_curve(model, explain(model, text, k=1), most=8) for text in texts[1].texts]
    assert np.mean([curve.advantage > 0 for curve in curves]) > 0.9
    first = curves[0]
    assert first.named[0] == pytest.approx(first.random[0], abs=1e-5)
    assert first.deleted == list(range(9))


def test_a_false_explanation_is_found_out(linear, texts) -> None:
    from dataclasses import replace

    true = explain(linear, texts[1].texts[0], k=1)
    assert deletion_curve(linear, replace(true, contributions=-true.contributions), most=8).advantage < 0


# For the eye ----------------------------------------------------------------------------------------------------


def test_the_page_shows_markup_and_runs_none_of_it(linear, texts) -> None:
    evil = '<script>alert("1")</script><img src=x onerror=alert(2)> </script> & '
    found = explain(linear, evil + texts[1].texts[0], k=2)
    object.__setattr__(found, "labels", ["<b>label</b>", "</script><script>alert(3)</script>"])
    page = html_explanation(found, "<i>title</i>", [deletion_curve(linear, found)])
    assert page.count("<script") == page.count("</script>") == 2  # the data and our own script
    assert "<img" not in page
    assert "<b>" not in page
    assert "<i>title" not in page
    assert "&lt;" in page
    data = re.search(r'id="data">(.*?)</script>', page, re.S)
    assert data is not None
    assert [view["name"] for view in json.loads(data[1])["views"]] == found.labels


def test_the_terminal_shows_the_text_itself(linear, texts) -> None:
    text = texts[1].texts[0] + " [bold]not markup[/bold]"
    shown = terminal_text(explain(linear, text, k=1))
    assert shown.plain == text
    assert any("on rgb" in str(span.style) for span in shown.spans)


def test_the_command(linear, texts, tmp_path: Path, capsys) -> None:
    linear.save(tmp_path / "model")
    (tmp_path / "plot.txt").write_text(texts[1].texts[0])
    page = tmp_path / "why.html"
    code = run(
        ["explain", str(tmp_path / "model"), str(tmp_path / "plot.txt"), "-k", "2", "--html", str(page), "--json"]
    )
    assert code == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["labels"]) == 2
    assert len(shown["labels"][0]["contributions"]) == len(shown["words"])
    assert "radiogroup" in page.read_text()
    assert run(["explain", str(tmp_path / "model"), texts[1].texts[0], "--faithful", "-k", "1"]) == 0
    assert "faithfulness" in capsys.readouterr().out
    assert run(["explain", str(tmp_path / "nowhere"), "text"]) == 2


def test_a_missing_file_is_not_taken_for_a_text(linear, tmp_path: Path, capsys) -> None:
    linear.save(tmp_path / "model")
    assert run(["explain", str(tmp_path / "model"), "nosuch.txt"]) == 2
    assert "nosuch.txt: there is no such file" in capsys.readouterr().err


def test_a_document_of_unknown_words_is_told_apart(linear, texts, tmp_path: Path, capsys) -> None:
    linear.save(tmp_path / "model")
    assert run(["explain", str(tmp_path / "model"), "qqqqq zzzzz"]) == 0
    assert "No word of this document" in capsys.readouterr().out
    assert "No word of this document" in html_explanation(explain(linear, "qqqqq zzzzz"), "why")
    assert "No word of this document" not in html_explanation(explain(linear, texts[1].texts[0]), "why")
