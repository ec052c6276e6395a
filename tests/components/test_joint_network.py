"""The network as the default holds it: its linear path is the code's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from rankae.components.joint_network import JointNetwork
from rankae.data.word_embeddings import WordEmbeddings
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.table import packed, unpacked
from rankae.paper.closed_form import warm_start
from rankae.paper.closed_start import started_network
from rankae.paper.settings import JointSettings
from rankae.recipe.joint_network import NetworkSettings, joint_settings, train_network


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    carries = (rng.random((200, 8)) < 0.2).astype(np.float32)
    counts = np.repeat(carries, 5, axis=1) * (rng.random((200, 40)) < 0.5) + (rng.random((200, 40)) < 0.1)
    rows = sp.csr_matrix((counts / np.maximum(1e-9, np.linalg.norm(counts, axis=1, keepdims=True))).astype(np.float32))
    return rows, sp.csr_matrix(carries)


@pytest.mark.parametrize("attention", [True, False])
def test_it_needs_no_words_of_the_linear_path_if_it_is_told_the_codes(data, attention):
    rows, labels = data
    start = warm_start(rows, labels, 8, 1.0)
    settings = joint_settings(NetworkSettings(word_size=16, epochs=3, attention=attention), rows, labels, {})
    network = train_network(rows, labels, start, settings, held=np.arange(0))
    expected = network.top(rows, 3)
    component = JointNetwork(network)
    made, arrays = component.state()
    assert "F.solved_words" not in arrays
    again = JointNetwork.from_state(made, unpacked(packed(arrays)))
    codes = sparse_product(rows, start.word_table)
    for one in (component, again, again.shrunk("float16")):
        columns, scores = one.predict(rows, codes).best(3)
        np.testing.assert_allclose(scores, expected[1], atol=0.05)
        assert np.mean(columns == expected[0]) > 0.98
    further = again.trained_further(rows[:50], codes[:50], labels[:50], epochs=2)
    assert not np.allclose(further.predict(rows, codes).best(3)[1], expected[1], atol=1e-4)
    np.testing.assert_allclose(again.predict(rows, codes).best(3)[1], expected[1], atol=1e-4)


def test_a_small_file_keeps_what_ranks_and_what_training_goes_on_from(data):
    rows, labels = data
    start = warm_start(rows, labels, 8, 1.0)
    settings = joint_settings(NetworkSettings(word_size=16, epochs=3), rows, labels, {})
    network = JointNetwork(train_network(rows, labels, start, settings, held=np.arange(0)))
    codes = sparse_product(rows, start.word_table)
    small = network.shrunk("int4", without=np.array([0, 5]))
    assert not small.network.F.word_vectors[[0, 5]].any()
    assert small.network.F.word_vectors[[1, 4]].any()
    made, arrays = small.state()
    assert packed(arrays)["F.word_vectors"].nbytes <= network.network.F.word_vectors.nbytes / 8
    again = JointNetwork.from_state(made, unpacked(packed(arrays)))
    expected, found = (own.predict(rows, codes).best(3) for own in (small, again))
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], atol=1e-4)
    assert again.shrunk("float16") is again  # it is smaller than that already
    # What gentle training changes is less than a step of int4, and must not be rounded away when it is saved.
    further = again.trained_further(rows[:50], codes[:50], labels[:50], epochs=1)
    saved = JointNetwork.from_state(*further.state())
    change = further.network.F.word_vectors - again.network.F.word_vectors
    assert change.abs().max() > 0
    lost = saved.network.F.word_vectors - further.network.F.word_vectors
    assert lost.abs().mean() < 0.2 * change.abs().mean()


def test_a_network_of_many_rows_a_word_is_tied_and_does_all_that_others_do(data):
    rows, labels = (sp.vstack([one] * 3, format="csr") for one in data)
    settings = joint_settings(NetworkSettings(word_size=16, epochs=6), rows, labels, {})
    assert settings.tied
    start = warm_start(rows, labels, 8, 1.0)
    codes = np.zeros((rows.shape[0], 8), dtype=np.float32)
    component = JointNetwork(train_network(rows, labels, start, settings, held=np.arange(0)))
    columns, scores = component.predict(rows, codes).best(9)
    assert labels[np.arange(600), columns[:, 0]].mean() > 0.9 * (labels.getnnz(1) > 0).mean()
    # A ninth label, the twin of the first.
    table, biases = component.network.decoder()
    more = component.with_labels(table[:1], biases[:1] - 1e-3)
    twin = more.predict(rows, codes).best(9)
    first = scores[np.arange(600), np.argmax(columns == 0, axis=1)]
    ninth = twin[1][np.arange(600), np.argmax(twin[0] == 8, axis=1)]
    np.testing.assert_allclose(ninth, first - 1e-3, atol=1e-3)
    for precision in ("int8", "int4"):
        small = component.shrunk(precision)
        again = JointNetwork.from_state(*small.state())
        assert np.mean(again.predict(rows, codes).best(1)[0] == columns[:, :1]) > 0.8
    further = component.trained_further(rows[:50], codes[:50], labels[:50], epochs=2)
    assert np.mean(further.predict(rows, codes).best(1)[0] == columns[:, :1]) > 0.8


def test_words_that_point_the_same_way_start_alike_and_the_others_as_without_them(data):
    start = warm_start(*data, 8, 1.0)
    settings = JointSettings(code_size=8, word_size=32, embedding="two-path", residual=4, merged=True)
    directions = np.zeros((40, 3), dtype=np.float32)
    directions[:4] = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0]]
    plain = started_network(start, settings).F.word_vectors
    found = started_network(start, settings, WordEmbeddings(directions, "made up")).F.word_vectors
    assert torch.equal(found[4:], plain[4:])
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], -found[3])
    assert abs(torch.cosine_similarity(found[0], found[2], dim=0)) < 0.6
    assert 0.05 < found[:4].std() < 0.2  # as strong as those that are drawn
