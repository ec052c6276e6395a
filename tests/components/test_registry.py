"""A new component is one file and one line in the registry: it is trained, stacked, saved and read like the rest."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

from rankae import RankAE
from rankae.base.choices import value_of
from rankae.components.predictions import SparsePredictions
from rankae.components.registry import COMPONENTS, plain_components
from rankae.components.stack import Stack
from rankae.components.stacker import Stacker, columns, evidence
from rankae.errors import ModelFileError
from rankae.numerics.shortlist import Shortlist

TEXTS = [f"{fruit} {place}{i % 7}" for i in range(60) for fruit, place in (("apple", "hill"), ("pear", "lake"))]
TAGS = [[tag] for _ in range(60) for tag in ("red", "green")]


class Popular:
    """Proposes the two most frequent labels for every row."""

    name = "popular"
    seen: ClassVar[list[int]] = []

    def __init__(self, counts: np.ndarray) -> None:
        self.counts = counts

    @classmethod
    def trained(cls, rows: sp.csr_matrix, labels: sp.csr_matrix, seed: int) -> Popular:
        cls.seen.append(rows.shape[0])
        return cls(np.bincount(labels.indices, minlength=labels.shape[1]).astype(np.float32))

    def predict(self, rows: sp.csr_matrix) -> SparsePredictions:
        best = np.sort(np.argsort(-self.counts)[:2]).astype(np.int32)
        starts = np.arange(rows.shape[0] + 1, dtype=np.int64) * len(best)
        return SparsePredictions(
            Shortlist(starts, np.tile(best, rows.shape[0])), np.tile(self.counts[best], rows.shape[0])
        )

    def state(self) -> tuple[dict, dict[str, np.ndarray]]:
        return {}, {"counts": self.counts}

    @classmethod
    def from_state(cls, settings: dict, arrays: dict[str, np.ndarray]) -> Popular:
        return cls(arrays["counts"])


def test_a_fifth_component_needs_one_line(monkeypatch, tmp_path):
    monkeypatch.setitem(COMPONENTS, "popular", Popular)
    monkeypatch.setattr(Popular, "seen", [])
    model = RankAE("fast").fit(TEXTS, TAGS)
    assert Popular.seen == [96] * 5 + [120]  # without each fold, and at last on all rows
    assert value_of(model.choices_, "components")[-1] == "popular"
    assert "popular alone" in model.evidence_
    assert len(model.model_.stacker.weights["a"]) == columns(3 + len(plain_components()))  # code, neighbours, rankers
    model.save(tmp_path / "model")
    loaded = RankAE.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(TEXTS), model.decision_function(TEXTS))
    assert loaded.shrunk("float16").predict(TEXTS[:2]) == TAGS[:2]  # one that cannot be smaller stays as it is
    monkeypatch.delitem(COMPONENTS, "popular")
    with pytest.raises(ModelFileError, match="a component 'popular' that is not known here"):
        RankAE.load(tmp_path / "model")


def some_stacker(components: int, seed: int = 0) -> Stacker:
    rng = np.random.default_rng(seed)
    width, hidden = columns(components), 8
    shapes = {"mean": (width,), "deviation": (width,), "a": (width,), "B": (hidden, width), "b": (hidden,)}
    weights = {
        name: rng.random(shape, dtype=np.float32) for name, shape in (shapes | {"c": (hidden,), "d": ()}).items()
    }
    return Stacker({name: np.asarray(value, dtype=np.float32) for name, value in weights.items()})


@pytest.mark.parametrize("components", [1, 4, 5, 9])
def test_scores_in_one_loop_for_any_number_of_components(components):
    rng = np.random.default_rng(1)
    stacker = some_stacker(components)
    shortlist = Shortlist(np.array([0, 3, 3, 7]), np.array([0, 1, 2, 0, 2, 3, 4], dtype=np.int32))
    scores = list(rng.random((components, 7), dtype=np.float32))
    near = rng.random(7, dtype=np.float32), rng.integers(1, 9, 7).astype(np.float32), rng.random(3, dtype=np.float32)
    wanted = stacker.scores(evidence(shortlist, scores, *near))
    np.testing.assert_allclose(stacker.score_shortlist(shortlist, scores, *near), wanted, rtol=1e-4, atol=1e-4)


def test_a_stacker_says_its_version_and_older_ones_are_read():
    settings, arrays = some_stacker(2).state()
    inputs = ["code", "rankers"]
    np.testing.assert_array_equal(Stacker.from_state(settings, arrays, inputs).weights["B"], arrays["B"])
    np.testing.assert_array_equal(Stacker.from_state({}, arrays, inputs).weights["B"], arrays["B"])
    last = {name: arrays[name][..., :-1] for name in ("mean", "deviation", "a", "B")}
    first = {name: value for name, value in (arrays | last).items() if name != "d"}  # of the first files
    old = Stacker.from_state({}, first, inputs).weights
    assert (old["B"][:, -1] == 0).all()
    assert old["deviation"][-1] == 1
    for wrong, of in ((settings, ["code"]), ({"version": 3}, inputs), ({}, ["code", "network", "neighbours"])):
        with pytest.raises(ModelFileError, match="stacker and its components do not fit"):
            Stacker.from_state(wrong, arrays, of)


def test_components_keep_the_order_of_the_registry(monkeypatch):
    monkeypatch.setitem(COMPONENTS, "popular", Popular)
    rows, labels = sp.csr_matrix(np.eye(4, dtype=np.float32)), sp.csr_matrix(np.eye(4, dtype=np.float32))
    code = RankAE("fast").fit(TEXTS[:20], TAGS[:20]).model_.code
    stack = Stack(code, np.ones(2, np.float32)).with_components({"popular": Popular.trained(rows, labels, 0)})
    assert list(stack.components()) == ["code", "popular"]
