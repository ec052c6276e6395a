"""Chooses the scaling of dense features by the leave-one-out precision of the closed-form start and the neighbours."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import Choices, choice
from rankae.components.neighbours import Neighbours
from rankae.data.near_duplicates import novel_rows, sample_to_compare
from rankae.data.scaling import SCALES, Scaling
from rankae.data.unit_length import unit_rows
from rankae.errors import RankaeError
from rankae.metrics import row_merits
from rankae.numerics.row_search import is_dense
from rankae.paper.closed_form import leave_one_out_precision
from rankae.recipe import rules


def choose_scaling(
    rows: sp.csr_matrix, labels: sp.csr_matrix, asked: str | bool | None, seed: int = 0
) -> tuple[Scaling | None, Choices]:
    """The scaling or None, and the choice; `asked` is the user's setting, None if there is none."""
    if asked not in (None, False, *SCALES):
        raise RankaeError(f"scale is {str(asked).lower()}; it must be false, {' or '.join(SCALES)}")
    if asked is False or (asked is None and not is_dense(rows)):
        return None, {}
    if asked is not None:
        if not is_dense(rows):
            raise RankaeError(f"scale={asked} is for dense features, and most of these are 0; leave it out")
        return Scaling.of(rows, str(asked)), {}
    scalings = {"false": None} | {scale: Scaling.of(rows, scale) for scale in SCALES}
    sample = sample_to_compare(rows.shape[0], seed)
    sample_rows, sample_labels = rows[sample], labels[sample]
    scaled = {
        name: unit_rows(sample_rows if scaling is None else scaling(sample_rows)) for name, scaling in scalings.items()
    }
    validation = novel_rows(scaled["standard"])  # unscaled rows may all look alike
    merits = {name: _merit(candidate, sample_labels, validation, seed) for name, candidate in scaled.items()}
    best = max(merits, key=lambda name: merits[name])
    reason = "features are dense; best leave-one-out precision"
    return scalings[best], {"scale": choice("scale", best, reason, merits)}


def _merit(rows: sp.csr_matrix, labels: sp.csr_matrix, validation: np.ndarray, seed: int) -> float:
    """The mean of P@1, P@3 and P@5 by leave-one-out scores, averaged over the start and the neighbours."""
    start = max(
        precision.mean() for precision in leave_one_out_precision(rows, labels, validation, rules.RIDGES, seed).values()
    )
    voted = Neighbours.of(rows, labels).predict(rows, leave_one_out=True).propose(5)
    return float(start + row_merits(voted[validation], labels[validation]).mean()) / 2
