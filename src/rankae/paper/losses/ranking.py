"""The marginal ranking loss (section 2.3), from scores of all labels, on any device."""

from __future__ import annotations

import torch
from torch import Tensor


def ranking_loss(scores: Tensor, y: Tensor, margin: float = 1.0) -> Tensor:
    """L_ae = L_P + L_N, averaged over rows.

        L_P = sum over negatives n of max over positives p of (m + y'_n - y'_p)+
        L_N = sum over positives p of max over negatives n of (m + y'_n - y'_p)+

    The inner maxima are at the lowest positive and at the highest negative, so both sums cost O(L). A row without
    positives, or without negatives, has nothing to rank: its loss is 0.

    Parameters
    ----------
    scores : y', rows x labels.
    y : rows x labels, 0 or 1.
    margin : m.
    """
    positive = y.bool()
    ranked = positive.any(1) & ~positive.all(1)
    scores, positive = scores[ranked], positive[ranked]
    if len(scores) == 0:
        return scores.sum()
    low = scores.masked_fill(~positive, torch.inf).min(1, keepdim=True).values
    high = scores.masked_fill(positive, -torch.inf).max(1, keepdim=True).values
    L_P = (margin + scores - low).relu().masked_fill(positive, 0).sum()
    L_N = (margin + high - scores).relu().masked_fill(~positive, 0).sum()
    return (L_P + L_N) / len(y)
