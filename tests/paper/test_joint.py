"""What a user of the joint training relies on: it learns, it repeats, it resumes, and odd data do not break it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from rankae.errors import DataError, ModelFileError, RankaeError
from rankae.model_file.checkpoint import NAME
from rankae.paper import RankNetwork
from rankae.paper.bags import Bags
from rankae.paper.joint import JointTraining, train_joint
from rankae.paper.settings import JointSettings

SMALL = JointSettings(code_size=8, word_size=12, epochs=4, batch=32, learning_rate=0.02)


def topics(rows: int, seed: int = 0) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Six topics of five words and two labels each: a row has the words and labels of one or two topics."""
    random = np.random.default_rng(seed)
    x, y = np.zeros((rows, 30), np.float32), np.zeros((rows, 12), np.float32)
    for i in range(rows):
        for topic in random.choice(6, random.integers(1, 3), replace=False):
            x[i, topic * 5 + random.choice(5, 3, replace=False)] = 1
            y[i, topic * 2 : topic * 2 + 2] = 1
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return sp.csr_matrix(x), sp.csr_matrix(y)


def precision_at_1(network, rows, labels) -> float:
    return labels.toarray()[np.arange(rows.shape[0]), network.top(rows, 1)[0][:, 0]].mean()


VARIANTS = [
    {},
    {"hidden": 16, "direct": 0.1, "word_dropout": 0.2},
    {"attention": False},
    {"loss": "bce"},
    {"activation": "relu"},
    {"scores": "sigmoid", "margin": 0.5},
    {"pooling": "mean", "decay": 0.01},
    {"loss": "smooth"},
    {"tied": True, "start": "cooccurrence", "word_optimizer": "flat", "word_rate": 3.0, "word_deviation": 0.01},
    {"tied": True, "shortlist": 10},
]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: ",".join(v) or "paper")
def test_every_variant_learns(variant: dict) -> None:
    settings = replace(SMALL, epochs=25, **variant)
    network = train_joint(*topics(300), settings)
    assert precision_at_1(network, *topics(100, seed=1)) > 0.9
    assert network.history[-1]["loss"] < network.history[0]["loss"]


def test_bilstm_learns_from_token_sequences() -> None:
    rows, labels = topics(200)
    documents = [rows[i].indices for i in range(rows.shape[0])]
    network = train_joint(documents, labels, replace(SMALL, word_encoder="bilstm", epochs=20), words=30)
    assert precision_at_1_of_documents(network, documents, labels) > 0.9


def precision_at_1_of_documents(network, documents, labels) -> float:
    return labels.toarray()[np.arange(len(documents)), network.top(documents, 1)[0][:, 0]].mean()


def test_a_seed_gives_the_same_network_twice() -> None:
    first, second = (train_joint(*topics(100), SMALL).state()[1] for _ in range(2))
    other = train_joint(*topics(100), replace(SMALL, seed=1)).state()[1]
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not np.array_equal(first["D.label_vectors"], other["D.label_vectors"])


@pytest.mark.parametrize("with_validation", [False, True])
@pytest.mark.parametrize("more", [{}, {"tied": True, "word_optimizer": "flat"}], ids=["untied", "tied"])
def test_a_resumed_run_ends_where_an_uninterrupted_one_does(tmp_path, with_validation: bool, more: dict) -> None:
    rows, labels = topics(100)
    settings = replace(SMALL, word_dropout=0.3, **more)
    more = {"validation": topics(40, seed=2)} if with_validation else {}
    whole = train_joint(rows, labels, settings, **more)

    def interrupt(figures: dict) -> None:
        if figures["epoch"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_joint(rows, labels, settings, checkpoint_dir=tmp_path, on_epoch=interrupt, **more)
    assert [file.name for file in tmp_path.iterdir()] == [NAME]
    epochs = []
    more["on_epoch"] = lambda figures: epochs.append(figures["epoch"])
    resumed = train_joint(rows, labels, settings, checkpoint_dir=tmp_path, resume=True, **more)
    assert epochs == [3, 4]
    assert [figures["epoch"] for figures in resumed.history] == [1, 2, 3, 4]
    for name, value in whole.state()[1].items():
        assert np.array_equal(value, resumed.state()[1][name]), name


def test_a_checkpoint_of_other_settings_or_of_no_use_is_refused(tmp_path) -> None:
    train_joint(*topics(50), replace(SMALL, epochs=1), checkpoint_dir=tmp_path)
    with pytest.raises(RankaeError, match="other settings"):
        train_joint(*topics(50), replace(SMALL, margin=0.5), checkpoint_dir=tmp_path, resume=True)
    (tmp_path / NAME).write_bytes(b"not a checkpoint")
    with pytest.raises(ModelFileError, match="delete it"):
        train_joint(*topics(50), SMALL, checkpoint_dir=tmp_path, resume=True)


def test_resume_without_a_checkpoint_starts_anew(tmp_path) -> None:
    assert len(train_joint(*topics(50), SMALL, checkpoint_dir=tmp_path, resume=True).history) == 4


def test_the_best_validation_epoch_is_kept_and_patience_ends_the_run() -> None:
    settings = replace(SMALL, epochs=60, patience=2, learning_rate=0.05)
    held_out = topics(60, seed=3)
    network = train_joint(*topics(100), settings, validation=held_out)
    scores = [sum(figures[f"P@{k}"] for k in (1, 3, 5)) for figures in network.history]
    best = int(np.argmax(scores))
    assert len(scores) == best + 1 + 2 < 60
    assert 100 * precision_at_1(network, *held_out) == pytest.approx(network.history[best]["P@1"])


def test_history_holds_the_parts_of_the_loss() -> None:
    figures = train_joint(*topics(50), replace(SMALL, epochs=1, direct=0.1)).history[0]
    assert figures["loss"] == pytest.approx(figures["L_h"] + figures["L_ae"] + figures["direct"], rel=1e-5)
    assert figures["rows_per_second"] > 0


def test_only_the_rows_of_a_batch_move() -> None:
    rows, labels = topics(50)
    rows, labels = sp.hstack([rows, sp.csr_matrix((50, 5))], "csr"), sp.hstack([labels, sp.csr_matrix((50, 3))], "csr")
    network = train_joint(rows.astype(np.float32), labels.astype(np.float32), replace(SMALL, epochs=1))
    start = train_joint(rows.astype(np.float32), labels.astype(np.float32), replace(SMALL, epochs=0))
    moved = (network.F.word_vectors != start.F.word_vectors).any(1)
    assert moved[:30].all()
    assert not moved[30:].any()
    assert not (network.E.label_vectors != start.E.label_vectors)[12:].any()


def test_given_word_vectors_are_where_training_starts_as_widely_spread_as_random_ones() -> None:
    vectors = np.random.default_rng(0).standard_normal((30, 12)).astype(np.float32)
    start = train_joint(*topics(50), replace(SMALL, epochs=0), word_vectors=5 * vectors).state()[1]["F.word_vectors"]
    assert start.std() == pytest.approx(12**-0.5)
    np.testing.assert_allclose(start / vectors, start[0, 0] / vectors[0, 0], rtol=1e-5)
    nothing = train_joint(*topics(50), replace(SMALL, epochs=0), word_vectors=0 * vectors).state()[1]
    assert not nothing["F.word_vectors"].any()


def test_training_goes_on_from_a_network_in_read_only_memory() -> None:
    rows, labels = topics(100)
    shape, arrays = train_joint(rows, labels, SMALL).state()
    for value in arrays.values():
        value.flags.writeable = False
    loaded = RankNetwork.from_state(shape, arrays)
    further = train_joint(rows, labels, SMALL, network=loaded)
    assert further.history[-1]["loss"] < loaded_loss(loaded, rows, labels)
    assert np.array_equal(loaded.state()[1]["D.label_vectors"], arrays["D.label_vectors"])


def loaded_loss(network: RankNetwork, rows: sp.csr_matrix, labels: sp.csr_matrix) -> float:
    parts = JointTraining(network, SMALL, steps_per_epoch=1).losses(Bags.from_csr(rows), Bags.from_csr(labels))
    return sum(part.item() for part in parts.values())


@pytest.mark.parametrize("kind", ["empty rows", "no labels", "all labels", "one label", "one row", "negative"])
def test_odd_data_train_without_complaint(kind: str) -> None:
    rows, labels = topics(40)
    rows, labels = rows.toarray(), labels.toarray()
    if kind == "empty rows":
        rows[::2] = 0
    elif kind == "no labels":
        labels[:] = 0
    elif kind == "all labels":
        labels[:] = 1
    elif kind == "one label":
        labels = labels[:, :1]
    elif kind == "one row":
        rows, labels = rows[:1], labels[:1]
    elif kind == "negative":
        rows -= 0.1
    network = train_joint(sp.csr_matrix(rows), sp.csr_matrix(labels), SMALL)
    assert all(np.isfinite(value).all() for value in network.state()[1].values())


def test_no_rows_is_the_users_mistake() -> None:
    with pytest.raises(DataError, match="no rows"):
        train_joint(sp.csr_matrix((0, 3), dtype=np.float32), sp.csr_matrix((0, 2), dtype=np.float32), SMALL)


def test_a_diverging_run_says_what_to_do() -> None:
    rows, labels = topics(50)
    with pytest.raises(RankaeError, match="lower the learning rate"):
        train_joint(rows * np.float32(1e30), labels, replace(SMALL, learning_rate=1e10))


def test_the_loss_is_the_papers() -> None:
    rows, labels = topics(20)
    network = train_joint(rows, labels, replace(SMALL, epochs=1))
    run = JointTraining(network, replace(SMALL, balance=2.0), steps_per_epoch=1)
    parts = run.losses(Bags.from_csr(rows), Bags.from_csr(labels))
    y = torch.from_numpy(labels.toarray())
    x_h, y_h = torch.from_numpy(network.codes(rows)), network.E(Bags.from_csr(labels))
    scores = network.D(y_h)
    low = scores.masked_fill(y == 0, torch.inf).amin(1, keepdim=True)
    high = scores.masked_fill(y == 1, -torch.inf).amax(1, keepdim=True)
    L_P = ((1 + scores - low).relu() * (1 - y)).sum(1)
    L_N = ((1 + high - scores).relu() * y).sum(1)
    assert parts["L_h"].item() == pytest.approx((x_h - y_h).square().sum(1).mean().item(), rel=1e-4)
    assert parts["L_ae"].item() == pytest.approx(2 * (L_P + L_N).mean().item(), rel=1e-4)


def test_a_tied_decoder_is_the_encoder_turned_round_and_is_saved_once() -> None:
    rows, labels = topics(200)
    network = train_joint(rows, labels, replace(SMALL, tied=True, activation="relu"))
    E, D, codes = network.E, network.D, torch.randn(3, 8)
    expected = torch.relu(codes @ E.FC2.weight + D.bias) @ E.label_vectors.T + D.label_bias
    torch.testing.assert_close(D(codes), expected)
    shape, arrays = network.state()
    assert [name for name in arrays if name.endswith("label_vectors")] == ["E.label_vectors"]
    loaded = RankNetwork.from_state(shape, arrays)
    np.testing.assert_array_equal(loaded.top(rows, 3)[1], network.top(rows, 3)[1])


def test_flat_adam_moves_words_of_few_rows_less() -> None:
    """Words 30 and 31 are noise that one row each has: plain Adam moves them as far as words of many rows."""
    rows, labels = topics(200)
    rare = sp.csr_matrix((np.full(2, 0.3, np.float32), ([0, 1], [0, 1])), shape=(200, 2))
    rows = sp.hstack([rows, rare], "csr", dtype=np.float32)
    share = {}
    for optimizer in ("adam", "flat"):
        own = replace(SMALL, word_optimizer=optimizer, decay=0.0, epochs=1)
        start = train_joint(rows, labels, replace(own, epochs=0)).F.word_vectors
        moved = (train_joint(rows, labels, own).F.word_vectors - start).norm(dim=1)
        share[optimizer] = float((moved[30:].mean() / moved[:30].mean()).detach())
    assert share["flat"] < share["adam"] / 2


@pytest.mark.parametrize("tied", [False, True])
def test_the_cooccurrence_start_reproduces_labels_before_any_step(tied: bool) -> None:
    rows, labels = topics(200)
    for start, least, most in (("random", 0.0, 0.9), ("cooccurrence", 0.99, 1.0)):
        network = train_joint(rows, labels, replace(SMALL, tied=tied, start=start, epochs=0))
        scores = network.D(network.E(Bags.from_csr(labels))).detach().numpy()
        best = labels.toarray()[np.arange(200), scores.argmax(1)].mean()
        assert least <= best <= most, start


def test_the_starting_deviations_are_those_asked_for() -> None:
    own = replace(SMALL, epochs=0, word_deviation=0.01, given_deviation=0.03)
    vectors = np.random.default_rng(0).standard_normal((30, 12)).astype(np.float32)
    assert train_joint(*topics(50), own).F.word_vectors.std().item() == pytest.approx(0.01, rel=0.1)
    given = train_joint(*topics(50), own, word_vectors=vectors).F.word_vectors
    assert given.std(correction=0).item() == pytest.approx(0.03)


def test_bce_starts_from_the_frequencies_of_labels() -> None:
    rows, labels = topics(200)
    network = train_joint(rows, labels, replace(SMALL, loss="bce", start="cooccurrence", epochs=0))
    share = torch.sigmoid(network.D.label_bias).detach().numpy()
    np.testing.assert_allclose(share, labels.toarray().mean(0), atol=0.01)


def test_rates_of_zero_leave_their_parameters_where_they_start() -> None:
    rows, labels = topics(100)
    own = replace(SMALL, tied=True, start="cooccurrence", encoder_rate=0.0, code_rate=0.0, decay=0.0)
    start, trained = (train_joint(rows, labels, replace(own, epochs=epochs)).state_dict() for epochs in (0, 2))
    same = {name for name, value in start.items() if torch.equal(value, trained[name])}
    assert {"E.label_vectors", "E.FC2.weight", "D.label_bias", "F.FC.weight"} <= same
    assert "F.word_vectors" not in same


def test_flat_decay_shrinks_words_that_no_batch_touches() -> None:
    rows, labels = topics(600)
    rows = sp.hstack([rows, sp.csr_matrix((600, 5))], "csr", dtype=np.float32)
    own = replace(SMALL, word_optimizer="flat", word_decay=1.0)
    start, trained = (train_joint(rows, labels, replace(own, epochs=epochs)).F.word_vectors for epochs in (0, 4))
    ratio = (trained[30:] / start[30:]).detach().numpy()
    assert ratio.max() < 0.9
    assert ratio.std() < 1e-5
