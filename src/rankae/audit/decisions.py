"""A corrected data set from decisions about flags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from rankae.audit.formats import Decision
from rankae.data.dataset import Dataset
from rankae.errors import DataError


@dataclass(frozen=True)
class Applied:
    """The corrected data, and how many labels were added and removed; `known` were as decided already."""

    data: Dataset
    added: int
    removed: int
    rejected: int
    known: int


def apply_decisions(data: Dataset, decisions: Sequence[Decision]) -> Applied:
    """Add accepted missing labels and remove accepted wrong ones; a decision that does not fit is refused."""
    names = data.label_names or [str(i) for i in range(data.n_labels)]
    column = {name: i for i, name in enumerate(names)}
    labels = sp.lil_matrix(data.labels)
    ids = data.ids
    added = removed = rejected = known = 0
    for decision in decisions:
        if not 0 <= decision.row < len(data):
            raise DataError(f"{decision.where}: there is no row {decision.row} in {data.name}, which has {len(data)}")
        if ids is not None and decision.id is not None and str(ids[decision.row]) != str(decision.id):
            raise DataError(
                f"{decision.where}: row {decision.row} of {data.name} is {ids[decision.row]!r}, not {decision.id!r}; "
                "audit this data again"
            )
        if decision.label not in column:
            raise DataError(f"{decision.where}: {data.name} has no label {decision.label!r}")
        cell = decision.row, column[decision.label]
        wanted = decision.kind == "missing"
        if not decision.accept:
            rejected += 1
        elif bool(labels[cell]) == wanted:
            known += 1
        else:
            labels[cell] = np.float32(wanted)
            added, removed = added + wanted, removed + (not wanted)
    return Applied(replace(data, labels=sp.csr_matrix(labels, dtype=np.float32)), added, removed, rejected, known)
