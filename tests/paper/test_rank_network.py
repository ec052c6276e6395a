from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from rankae.paper import Architecture, RankNetwork
from rankae.paper.bags import Bags
from rankae.paper.initial import initialise

SHAPE = {"words": 30, "labels": 17, "code_size": 8, "word_size": 12}
VARIANTS = [
    {},
    {"hidden": 10},
    {"attention": False},
    {"activation": "relu"},
    {"scores": "sigmoid"},
    {"pooling": "mean"},
    {"activation": "relu", "scores": "sigmoid", "pooling": "mean", "reduction": 100},
]


def network_of(**variant: object) -> RankNetwork:
    network = RankNetwork(Architecture(**SHAPE | variant))
    initialise(network, seed=3)
    return network.eval()


@pytest.fixture
def rows() -> sp.csr_matrix:
    rows = sp.random(11, 30, density=0.2, format="csr", dtype=np.float32, rng=np.random.default_rng(0))
    rows.data -= 0.3
    return rows


def dense_scores(network: RankNetwork, rows: sp.csr_matrix) -> torch.Tensor:
    """D(F(x)) written out from the paper, one row after the other."""
    F, D, shape = network.F, network.D, network.shape
    scores = []
    for x in rows.toarray():
        present = np.flatnonzero(x)
        V = torch.from_numpy(x[present])[:, None] * F.word_vectors[present]
        A = torch.sigmoid(F.attention.F2 @ torch.relu(F.attention.F1 @ V.T)).T if shape.attention else 1
        M = V * A
        x_prime = M.sum(0) if shape.pooling == "sum" else M.sum(0) / max(1, len(present))
        hidden = D.FC1(F.FC(x_prime))
        hidden = torch.relu(hidden) if shape.activation == "relu" else hidden
        y = D.label_vectors @ hidden + D.label_bias
        scores.append(torch.sigmoid(y) if shape.scores == "sigmoid" else y)
    return torch.stack(scores).detach()


@pytest.mark.parametrize("variant", VARIANTS)
def test_scores_are_those_of_the_paper(variant: dict, rows: sp.csr_matrix) -> None:
    network = network_of(**variant)
    expected = dense_scores(network, rows)
    with torch.no_grad():
        torch.testing.assert_close(network(Bags.from_csr(rows)), expected, rtol=1e-4, atol=1e-5)
    blocks = torch.from_numpy(np.concatenate(list(network.scores(rows, batch=4))))
    torch.testing.assert_close(blocks, expected, rtol=1e-4, atol=1e-5)
    columns, scores = network.top(rows, 17)
    in_order = torch.from_numpy(np.take_along_axis(expected.numpy(), columns, axis=1))
    torch.testing.assert_close(torch.from_numpy(scores), in_order, rtol=1e-4, atol=1e-5)
    assert (np.diff(scores, axis=1) <= 0).all()


def test_encoder_reads_the_labels_as_a_vector(rows: sp.csr_matrix) -> None:
    network = network_of()
    labels = sp.csr_matrix((np.random.default_rng(1).random((4, 17)) < 0.3).astype(np.float32))
    y = torch.from_numpy(labels.toarray())
    expected = network.E.FC2(y @ network.E.label_vectors + network.E.bias)
    torch.testing.assert_close(network.E(Bags.from_csr(labels)), expected)


def test_codes_do_not_depend_on_the_batch_nor_on_constant_gates(rows: sp.csr_matrix) -> None:
    network = network_of()
    codes = network.codes(rows)
    np.testing.assert_allclose(network.codes(rows, batch=3), codes, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(network.train().codes(rows), codes, rtol=1e-5, atol=1e-6)


def test_constant_gates_are_forgotten_when_training_goes_on(rows: sp.csr_matrix) -> None:
    network = network_of()
    before = network.codes(rows)
    network.train()
    with torch.no_grad():
        network.F.attention.F2.mul_(-1)
    assert np.abs(network.eval().codes(rows) - before).max() > 1e-3


def test_folded_decoder_gives_the_same_scores(rows: sp.csr_matrix) -> None:
    network = network_of()
    table, bias = network.folded_decoder()
    np.testing.assert_allclose(network.codes(rows) @ table.T + bias, next(network.scores(rows)), rtol=1e-4, atol=1e-5)
    with pytest.raises(TypeError, match="linear"):
        network_of(activation="relu").folded_decoder()


@pytest.mark.parametrize("variant", VARIANTS)
def test_arrays_bring_the_network_back(variant: dict, rows: sp.csr_matrix) -> None:
    network = network_of(**variant)
    again = RankNetwork.from_state(*network.state())
    assert again.shape == network.shape
    assert np.array_equal(next(again.scores(rows)), next(network.scores(rows)))


def test_bilstm_reads_documents_and_ignores_padding() -> None:
    network = network_of(word_encoder="bilstm")
    documents = [np.array([3, 1, 2, 9]), np.array([], dtype=np.int64), np.array([7])]
    together = network.codes(documents)
    alone = np.concatenate([network.codes([document]) for document in documents])
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-6)
    assert np.abs(network.codes([documents[0][::-1]]) - together[0]).max() > 1e-4  # it reads in order
    with torch.no_grad():
        np.testing.assert_allclose(together[1], network.F.FC.bias, atol=1e-6)  # an empty document has no words


def test_one_row_alone_scores_as_in_company(rows: sp.csr_matrix) -> None:
    network = network_of()
    columns, scores = network.top(rows, 5)
    for i in range(rows.shape[0]):
        alone, its_scores = network.top(rows[i], 5)
        assert np.array_equal(alone[0], columns[i])
        np.testing.assert_allclose(its_scores[0], scores[i], rtol=1e-5, atol=1e-6)
