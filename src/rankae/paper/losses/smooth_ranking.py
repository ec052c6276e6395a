"""The marginal ranking loss with soft maxima: one loss for rows with many labels and for rows with few.

The paper's L_N compares every positive with the highest negative, L_P every negative with the lowest positive, and
with twenty positives a row, some of them wrong, the one lowest positive rules L_P. Put a soft maximum for the maximum
over negatives, and for the hinge, and let every positive speak for itself:

    L = sum over positives p of  log(1 + sum over negatives n of exp(m + y'_n - y'_p))

As scores grow, log(1 + sum exp) tends to (m + max_n y'_n - y'_p)+, which is L_N. Other positives are not in the sum, so
they do not compete, as they do under softmax; and a negative far below costs nothing, as it does not under BCE.
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
    """The gradient has a closed form, which comes with the loss at the price of one array of the size of `scores`.

    With r = log sum over negatives of exp(y'_n), a positive is pulled up by a_p = sigmoid(m + r - y'_p), and a negative
    is pushed down by its share exp(y'_n - r) of what all positives of its row are pulled up by.
    """

    @staticmethod
    def forward(ctx: Any, scores: Tensor, y: Tensor, margin: float) -> Tensor:
        negatives = scores.masked_fill(y > 0, -torch.inf)
        # A row with no negative has a rival far below, whose softplus is 0 and pulls at nothing.
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
