"""Labels that are probably missing or wrong, best first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankae.audit.noise_rates import NoiseModel
from rankae.audit.out_of_fold import Entries

KINDS = ("missing", "wrong")


@dataclass(frozen=True)
class Flags:
    """Cells of the label matrix in falling order of the probability that they are as `kind` says.

    recorded : the probability that such a row is recorded with the label, whether it is right or not.
    """

    kind: str
    rows: np.ndarray
    columns: np.ndarray
    probability: np.ndarray
    recorded: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def taken(self, places: np.ndarray) -> Flags:
        return Flags(self.kind, *(getattr(self, name)[places] for name in _FIELDS))


_FIELDS = ("rows", "columns", "probability", "recorded")


def missing_labels(entries: Entries, p: np.ndarray, noise: NoiseModel) -> Flags:
    """Labels that are not recorded, the most probable first. The random sample is not flagged: nobody named it."""
    own = np.flatnonzero(~entries.observed & entries.listed)
    return _ranked("missing", entries, p, own, noise.is_missing(p[own]), p[own])


def wrong_labels(entries: Entries, p: np.ndarray, noise: NoiseModel) -> Flags:
    """Labels that are recorded, the least probable first."""
    own = np.flatnonzero(entries.observed)
    return _ranked("wrong", entries, p, own, noise.is_wrong(p[own]), -p[own])


def _ranked(
    kind: str, entries: Entries, p: np.ndarray, own: np.ndarray, probability: np.ndarray, tie: np.ndarray
) -> Flags:
    order = np.lexsort((-tie, -probability))
    own, probability = own[order], probability[order]
    return Flags(kind, entries.rows[own], entries.columns[own], probability, p[own])
