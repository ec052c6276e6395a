"""Every parameter's range and choices are declared once, by its hint, and hold wherever the parameter is given."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest

from rankae.base.parameters import check_values, parameter_hints
from rankae.base.seeds import drawn_seed
from rankae.errors import MissingExtra, RankaeError
from rankae.methods import registry

X = np.eye(4, dtype=np.float32)
Y = np.eye(4, dtype=int)
NAN = float("nan")

REFUSED = [
    ("rank-ae", {"epochs": -3}, "epochs must be at least 1"),
    ("rank-ae", {"code_size": -5}, "code_size must be at least 1"),
    ("rank-ae", {"objective": "nonsense"}, "objective cannot be 'nonsense'; it takes 'precision' or 'psp'"),
    ("rank-ae", {"ridge": NAN}, "ridge must be above 0, but it is nan"),
    ("rank-ae", {"ridge": -1}, "ridge must be above 0"),
    ("rank-ae", {"device": "nonsense"}, "device must be cpu, cuda"),
    ("rank-ae", {"loss": "ranking"}, "loss cannot be 'ranking'; it takes 'smooth' or 'bce'"),
    ("rank-ae", {"ngrams": (1,)}, "ngrams cannot be (1,); it takes 2 whole numbers or none"),
    ("rank-ae", {"ngrams": (2, 1)}, "ngrams must ascend"),
    ("rank-ae", {"threads": 10**9}, "threads must be at least 1 and at most 1024"),
    ("rank-ae", {"scale": "wide"}, "scale cannot be 'wide'; it takes 'centre' or 'standard' or False"),
    ("rank-ae", {"random_state": -1}, "random_state must be at least 0"),
    ("rank-ae", {"preset": "fast", "epochs": True}, "epochs cannot be True; it takes a whole number"),
    ("rank-ae-paper", {"batch": 0}, "batch must be at least 1"),
    ("rank-ae-paper", {"learning_rate": -1}, "learning_rate must be above 0"),
    ("rank-ae-paper", {"loss": "rankings"}, "loss cannot be 'rankings'"),
    ("rank-ae-paper", {"pooling": "max"}, "pooling cannot be 'max'"),
    ("rank-ae-paper", {"activation": "tanh"}, "activation cannot be 'tanh'"),
    ("rank-ae-paper", {"scores": "softmax"}, "scores cannot be 'softmax'"),
    ("rank-ae-paper", {"reduction": 0}, "reduction must be at least 1"),
    ("fastxml", {"cost": 0.0}, "fastxml: cost must be above 0, but it is 0.0"),
    ("pdsparse", {"l1": NAN}, "pdsparse: l1 must be at least 0, but it is nan"),
    ("xml-cnn", {"widths": [2, 0]}, "xml-cnn: widths must be at least 1, but it is 0"),
    ("bow-cnn", {"device": "gpu"}, "bow-cnn: device must be cpu, cuda"),
    ("one-vs-rest", {"C": -1}, "one-vs-rest: C must be above 0"),
]


@pytest.mark.parametrize(("method", "parameters", "sentence"), REFUSED, ids=lambda given: str(given)[:40])
def test_a_bad_value_is_one_sentence_when_the_model_is_made(method, parameters, sentence):
    with pytest.raises(RankaeError) as refusal:
        registry.create(method, **parameters)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(("method", "parameters", "sentence"), REFUSED[:16:5] + REFUSED[20:22])
def test_and_when_the_constructor_was_called_by_hand(method, parameters, sentence):
    """scikit-learn's convention: a constructor stores, `fit` checks, so `set_params` and grid searches are checked."""
    model = registry.create(method).set_params(**parameters)
    with pytest.raises(RankaeError) as refusal:
        model.fit(X, Y)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ('{"epochs": -3}', "epochs must be at least 1"),
        ('{"ridge": [1]}', "ridge cannot be [1]; it takes a number or none"),
        ('{"colour": 3}', "has no parameter 'colour'"),
        ('{"preset": "paper", "scores": "softmax"}', "scores cannot be 'softmax'"),
        ('{"preset": ["paper"]}', "there is no preset ['paper']"),
        ('{"threads": 2}', "a preset cannot set threads; set it beside the preset"),
        ('{"epochs": 3, "epochs": 4}', "it sets epochs twice"),
        ("[" * 100_000, "nested deeply"),
        (f'{{"epochs": {"9" * 5000}}}', "not a JSON preset file"),
    ],
)
def test_preset_files_are_held_to_the_same(settings, sentence, tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(settings)
    with pytest.raises(RankaeError) as refusal:
        registry.create("rank-ae", preset=str(file))
    assert sentence in str(refusal.value)


def test_numbers_of_numpy_are_numbers():
    registry.create("rank-ae", epochs=np.int64(3), ridge=np.float32(0.5), neighbours=np.bool_(True))


@pytest.mark.parametrize("name", registry.names())
def test_every_number_has_a_range_and_every_default_is_within_it(name):
    """A new parameter must say what it takes; Rank-AE's own are checked as its preset's settings."""
    try:
        ranker = registry.class_of(name)
    except MissingExtra:
        pytest.skip("its library is not installed")
    defaults = {n: p.default for n, p in inspect.signature(ranker.__init__).parameters.items() if n != "self"}
    check_values(name, ranker, defaults)
    if ranker.method != "rank-ae":
        plain = [n for n, hint in parameter_hints(ranker).items() if hint in (int, float)]
        assert not plain


def test_a_fast_model_does_not_ignore_its_device(monkeypatch):
    monkeypatch.setattr("rankae.base.parameters.Device.complaint", lambda *_: None)  # as where there is a GPU
    with pytest.raises(RankaeError, match="the preset 'fast' has no network to train there"):
        registry.create("rank-ae", preset="fast", device="cuda")
    registry.create("rank-ae", preset="fast", device="cuda", network=1)


@pytest.mark.parametrize("random_state", [None, 3, "state"])
def test_a_fit_draws_its_seed_once(random_state, tmp_path):
    state = np.random.RandomState(5) if random_state == "state" else random_state
    model = registry.create("rank-ae", preset="fast", random_state=state).fit(X, Y)
    assert model._seed == model._seed == model.seed_
    assert drawn_seed(3) == 3
    if random_state != "state":
        model.save(tmp_path / "model")
        assert registry.load(tmp_path / "model").seed_ == model.seed_
    again = registry.create("rank-ae", preset="fast", random_state=model.seed_).fit(X, Y)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_a_preset_that_tune_writes_is_taken(tmp_path):
    file = tmp_path / "preset.json"
    file.write_text(json.dumps({"preset": "paper", "loss": "bce", "attention": False, "code_size": 200}))
    assert registry.create("rank-ae", preset=str(file))._settings is not None
