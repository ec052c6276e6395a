from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from rankae.numerics.threads import limited_to
from rankae.paper.bags import Bags
from rankae.paper.losses import bce_loss, common_embedding_loss, fused_ranking, ranking_loss


def by_hand(scores: np.ndarray, y: np.ndarray, margin: float) -> float:
    """The paper's equations with both sums and both maxima written out."""
    total = 0.0
    for s, positive in zip(scores, y.astype(bool), strict=True):
        P, N = s[positive], s[~positive]
        if len(P) and len(N):
            total += sum(max(max(0.0, margin + n - p) for p in P) for n in N)
            total += sum(max(max(0.0, margin + n - p) for n in N) for p in P)
    return total / len(y)


def problem(rows: int, labels: int, size: int, dtype: torch.dtype, share: float = 0.2):
    """Random codes and labels; the last two rows have no positive and no negative."""
    random = np.random.default_rng(rows + labels)
    y = random.random((rows, labels)) < share
    y[-2], y[-1] = False, True
    draw = [random.standard_normal(s) for s in ((rows, size), (labels, size), labels)]
    z, table, bias = (torch.tensor(a, dtype=dtype, requires_grad=True) for a in draw)
    return z, table, bias, y


def test_loss_is_the_papers() -> None:
    random = np.random.default_rng(0)
    scores, y = random.standard_normal((6, 9)), random.random((6, 9)) < 0.4
    y[0], y[1] = False, True
    for margin in (0.0, 0.5, 1.0):
        ours = ranking_loss(torch.from_numpy(scores), torch.from_numpy(y), margin)
        assert ours.item() == pytest.approx(by_hand(scores, y, margin), rel=1e-12)


def test_a_row_worked_out() -> None:
    # lowest positive 1.0, highest negative 0.5: L_P = (1 + .5 - 1) + (1 + .2 - 1), L_N = (1 + .5 - 1) + 0
    loss = ranking_loss(torch.tensor([[2.0, 1.0, 0.5, 0.2]]), torch.tensor([[1, 1, 0, 0]]), margin=1.0)
    assert loss.item() == pytest.approx(0.5 + 0.2 + 0.5)


@pytest.mark.parametrize("all_or_none", [0.0, 1.0])
def test_rows_with_nothing_to_rank_cost_nothing(all_or_none: float) -> None:
    scores = torch.randn(3, 5, requires_grad=True)
    loss = ranking_loss(scores, torch.full((3, 5), all_or_none))
    loss.backward()
    assert loss.item() == 0
    assert not scores.grad.any()


# Few violators, and many: the fused loss adds rows one by one in the one case, and multiplies matrices in the other.
@pytest.mark.parametrize("many", [0.0, 1.1])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", [(5, 7, 3), (9, 300, 4), (4, 1, 2)])
def test_fused_loss_equals_the_plain_one(shape, threads, many, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused_ranking, "_MANY", many)
    monkeypatch.setattr(fused_ranking, "_BLOCK", 64)
    z, table, bias, y = problem(*shape, dtype=torch.float64)
    plain = ranking_loss(z @ table.T + bias, torch.from_numpy(y), 0.7)
    expected = torch.autograd.grad(3 * plain, (z, table, bias))
    with limited_to(threads):
        bags = Bags.from_csr(sp.csr_matrix(y.astype(np.float32)))
        fast = fused_ranking.fused_ranking_loss(z, table, bias, bags, 0.7)
        gradients = torch.autograd.grad(3 * fast, (z, table, bias))
    torch.testing.assert_close(fast, plain)
    for ours, theirs in zip(gradients, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_fused_loss_in_float32() -> None:
    z, table, bias, y = problem(40, 2500, 16, torch.float32, share=0.01)
    plain = ranking_loss(z @ table.T + bias, torch.from_numpy(y))
    expected = torch.autograd.grad(plain, (z, table, bias))
    fast = fused_ranking.fused_ranking_loss(z, table, bias, Bags.from_csr(sp.csr_matrix(y.astype(np.float32))))
    torch.testing.assert_close(fast, plain, rtol=1e-5, atol=0)
    for ours, theirs in zip(torch.autograd.grad(fast, (z, table, bias)), expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_fused_gradient_agrees_with_finite_differences() -> None:
    z, table, bias, y = problem(6, 20, 3, torch.float64)
    bags = Bags.from_csr(sp.csr_matrix(y.astype(np.float32)))
    assert torch.autograd.gradcheck(lambda *p: fused_ranking.fused_ranking_loss(*p, bags, 0.7), (z, table, bias))


def test_no_violator_no_gradient() -> None:
    table = torch.eye(4, requires_grad=True)
    z = torch.tensor([[9.0, 0, 0, 0]], requires_grad=True)
    bags = Bags.from_csr(sp.csr_matrix(np.array([[1, 0, 0, 0]], np.float32)))
    loss = fused_ranking.fused_ranking_loss(z, table, torch.zeros(4), bags, margin=1.0)
    loss.backward()
    assert loss.item() == 0
    assert not z.grad.any()
    assert not table.grad.any()


def test_common_embedding_loss_is_the_squared_distance() -> None:
    assert common_embedding_loss(torch.tensor([[1.0, 2], [0, 0]]), torch.tensor([[0.0, 0], [0, 2]])).item() == 4.5


def test_bce_is_summed_over_labels_and_averaged_over_rows() -> None:
    logits, y = torch.randn(3, 4), torch.tensor([[1.0, 0, 0, 1]]).expand(3, 4)
    p = torch.sigmoid(logits)
    expected = -(y * p.log() + (1 - y) * (1 - p).log()).sum() / 3
    assert bce_loss(logits, y).item() == pytest.approx(expected.item(), rel=1e-5)
