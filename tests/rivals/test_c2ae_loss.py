"""C2AE's loss against its definition."""

from __future__ import annotations

import torch

from rankae.rivals._c2ae_loss import code_loss, pair_loss


def test_pair_loss_is_the_mean_over_all_pairs() -> None:
    torch.manual_seed(0)
    scores = torch.rand(5, 7, dtype=torch.float64, requires_grad=True)
    targets = (torch.rand(5, 7) < 0.4).double()
    targets[0], targets[1] = 0, 1  # no pair in either
    rows = []
    for row in range(5):
        positive, negative = scores[row][targets[row] == 1], scores[row][targets[row] == 0]
        pairs = torch.exp(-5 * (positive[:, None] - negative[None]))
        rows.append(pairs.mean() if pairs.numel() else torch.zeros((), dtype=torch.float64))
    expected = torch.stack(rows).mean()
    found = pair_loss(scores, targets)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(torch.autograd.grad(found, scores)[0], torch.autograd.grad(expected, scores)[0])


def test_code_loss_is_zero_for_equal_uncorrelated_unit_codes_only() -> None:
    codes = torch.tensor([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    assert code_loss(codes, codes) == 0
    assert code_loss(codes, -codes) == 4  # the distance alone
    assert code_loss(2 * codes, 2 * codes) == 9  # (4 - 1)^2 a dimension, once for each side's half
