import pytest
import torch

from rankae.paper.losses.smooth_ranking import smooth_ranking_loss


def by_hand(scores, y, margin):
    total = 0.0
    for s, t in zip(scores, y, strict=True):
        negatives = s[t == 0]
        total += sum(torch.log1p(torch.exp(margin + negatives - p).sum()) for p in s[t == 1])
    return total / len(scores)


def test_equals_its_formula():
    torch.manual_seed(0)
    scores, y = torch.randn(6, 9, dtype=torch.float64), (torch.rand(6, 9) < 0.4).double()
    assert smooth_ranking_loss(scores, y, 0.5).item() == pytest.approx(float(by_hand(scores, y, 0.5)))


def test_tends_to_L_N_as_scores_grow():
    torch.manual_seed(1)
    y = torch.tensor([[1.0, 1, 0, 0, 0]])
    scores = torch.randn(1, 5) * 200
    highest = scores[0, 2:].max()
    L_N = torch.relu(highest - scores[0, :2]).sum()
    assert smooth_ranking_loss(scores, y).item() == pytest.approx(L_N.item(), rel=1e-2, abs=0.7)


def test_gradient_is_right():
    y = torch.tensor([[1.0, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]], dtype=torch.float64)
    scores = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: smooth_ranking_loss(s, y, 1.0), scores)


def test_rows_without_a_pair_cost_nothing():
    y = torch.tensor([[0.0, 0], [1, 1]])
    scores = torch.randn(2, 2, requires_grad=True)
    loss = smooth_ranking_loss(scores, y)
    loss.backward()
    assert loss.item() == 0
    assert torch.isfinite(scores.grad).all()
