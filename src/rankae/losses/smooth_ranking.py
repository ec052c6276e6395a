"""The marginal ranking loss with soft maxima: one loss for rows with many labels and for rows with few.

The paper's L_N compares every positive with the highest negative, L_P every negative with the lowest positive, and
with twenty positives a row, some of them wrong, the one lowest positive rules L_P. Put a soft maximum for the maximum
over negatives, and for the hinge, and let every positive speak for itself:

    L = sum over positives p of  log(1 + sum over negatives n of exp(m + y'_n - y'_p))

As scores grow, log(1 + sum exp) tends to (m + max_n y'_n - y'_p)+, which is L_N. Other positives are not in the sum, so
they do not compete, as they do under softmax; and a negative far below costs nothing, as it does not under BCE.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus


def smooth_ranking_loss(scores: Tensor, y: Tensor, margin: float = 0.0) -> Tensor:
    """The loss of rows x labels scores against 0/1 labels, averaged over rows; rows without a pair cost 0."""
    negatives = scores.masked_fill(y > 0, -torch.inf)
    rival = torch.logsumexp(negatives, dim=1, keepdim=True)
    # A row with no negative has a rival of -inf, whose softplus is 0 and has no gradient.
    terms = softplus(margin + rival.clamp(min=-1e30) - scores)
    return (terms * y).sum() / max(1, len(scores))


def smooth_ranking_terms(scores: Tensor, y: Tensor, owner: Tensor, rows: int, margin: float = 0.0) -> Tensor:
    """The terms of the loss, one for each entry of a ragged list: entry i scores a label of row owner[i]."""
    negatives = scores.masked_fill(y > 0, -torch.inf)
    highest = scores.new_full((rows,), -1e30).scatter_reduce(0, owner, negatives.detach(), "amax")
    total = scores.new_zeros(rows).index_add(0, owner, torch.exp(negatives - highest[owner]))
    rival = highest + torch.log(total.clamp(min=1e-30))
    return softplus(margin + rival[owner] - scores) * y
