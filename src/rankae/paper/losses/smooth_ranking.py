"""The smooth ranking loss: L_N with a soft maximum, for rows with many labels and for rows with few.

The paper's L_P compares every negative with the lowest positive, so with twenty positives per row, some of them wrong,
that one label dominates. Here every positive is compared with a soft maximum over the negatives, and the hinge is
smooth:

    L = sum over positives p of  log(1 + sum over negatives n of exp(m + y'_n - y'_p))

As scores grow, log(1 + sum exp) tends to (m + max_n y'_n - y'_p)+, which is L_N. Unlike under softmax, positives do not
compete with each other; unlike under BCE, a negative far below the positives has no gradient.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import softplus


def smooth_ranking_loss(scores: Tensor, y: Tensor, margin: float = 0.0) -> Tensor:
    """The loss of rows x labels scores against 0/1 labels, averaged over rows; rows without a pair cost 0."""
    return _SmoothRankingLoss.apply(scores, y, margin)


class _SmoothRankingLoss(torch.autograd.Function):
    """The loss with its closed-form gradient, which needs one array of the size of `scores`.

    With r = log sum over negatives of exp(y'_n), the gradient of a positive is -a_p with a_p = sigmoid(m + r - y'_p),
    and that of a negative is exp(y'_n - r) times the sum of a_p over the positives of its row.
    """

    @staticmethod
    def forward(ctx: Any, scores: Tensor, y: Tensor, margin: float) -> Tensor:
        negatives = scores.masked_fill(y > 0, -torch.inf)
        # A row without negatives gets a very low value, for which loss and gradient are 0.
        rival = torch.logsumexp(negatives, dim=1).clamp(min=-1e30)
        rows, columns = y.nonzero(as_tuple=True)
        gap = margin + rival[rows] - scores[rows, columns]
        weight = y[rows, columns] / max(1, len(scores))
        if ctx.needs_input_grad[0]:
            pull = torch.sigmoid(gap) * weight
            pulled = torch.zeros_like(rival).index_add_(0, rows, pull)
            gradient = negatives.sub_(rival[:, None]).exp_().mul_(pulled[:, None])
            gradient[rows, columns] = -pull
            ctx.save_for_backward(gradient)
        return (softplus(gap) * weight).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * above[0], None, None
