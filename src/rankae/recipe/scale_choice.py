"""Whether dense features are brought to one scale: by leave-one-out scores of the closed-form start."""

from __future__ import annotations

import scipy.sparse as sp

from rankae.data.scaling import Scaling
from rankae.errors import RankaeError
from rankae.inputs import unit_rows
from rankae.recipe.start import RIDGES
from rankae.refine.neighbours import is_dense
from rankae.training.warm_start import honest_precision


def choose_scaling(
    rows: sp.csr_matrix, labels: sp.csr_matrix, asked: bool | None, seed: int = 0
) -> tuple[Scaling | None, dict[str, str]]:
    """How to scale the rows, or None, and the line that says why; `asked` is what the user set, None for nothing."""
    if not is_dense(rows):
        if asked:
            raise RankaeError("scale=true is for dense features, and most of these are 0; leave it out")
        return None, {}
    if asked is not None:
        return Scaling.of(rows) if asked else None, {}
    scaling = Scaling.of(rows)
    as_given, scaled = (
        max(honest_precision(unit_rows(own), labels, RIDGES, seed).values()) for own in (rows, scaling(rows))
    )
    better = scaled > as_given
    told = f"best leave-one-out precision of false: {as_given:.1f}, true: {scaled:.1f}; features are dense"
    return scaling if better else None, {"scale": f"{str(better).lower()} ({told})"}
