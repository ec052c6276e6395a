"""The loss of C2AE (Yeh et al., 2017): codes that agree and are uncorrelated, and pairs of labels in the right order.

L = ||F(x) - E(y)||^2 + 1/2 (||F'F - I||^2 + ||E'E - I||^2) + alpha * L_pair
L_pair = mean over pairs (p of the row's labels, n of the others) of exp(-sharpness (y'_p - y'_n))
"""

from __future__ import annotations

import torch
from torch import Tensor


def pair_loss(scores: Tensor, targets: Tensor, sharpness: float = 5.0) -> Tensor:
    """L_pair of each row, averaged over rows; a row with no label, or with all of them, has no pair and costs 0.

    The exponential of a difference is a product, so the sum over pairs factorises into one sum over the row's labels
    and one over the others: linear in the number of labels, not quadratic.

    Parameters
    ----------
    scores : rows x labels, in [0, 1] so that the exponentials are bounded.
    targets : rows x labels, 0 or 1.
    """
    others = 1 - targets
    positive = (targets * torch.exp(-sharpness * scores)).sum(dim=1)
    negative = (others * torch.exp(sharpness * scores)).sum(dim=1)
    pairs = targets.sum(dim=1) * others.sum(dim=1)
    return (positive * negative / pairs.clamp(min=1)).mean()


def code_loss(features: Tensor, labels: Tensor) -> Tensor:
    """Squared distance of F(x) and E(y), averaged over rows, plus how far each is from uncorrelated unit codes.

    Both terms are means over the dimensions of the code, so that their weight against L_pair
    does not grow with its size.
    """
    distance = (features - labels).square().mean()
    return distance + 0.5 * (_correlation(features) + _correlation(labels))


def _correlation(codes: Tensor) -> Tensor:
    """||C'C / rows - I||^2 by dimension: the constraint of the paper, as a soft penalty on a batch."""
    second_moment = codes.T @ codes / len(codes)
    identity = torch.eye(codes.shape[1], dtype=codes.dtype, device=codes.device)
    return (second_moment - identity).square().sum() / codes.shape[1]
