"""Probabilistic label trees and binary relevance, by the napkinXC package (Jasinska-Kobus et al., 2020)."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from napkinxc import models
from sklearn.utils import check_random_state

from rankae.base.native import PickledByState
from rankae.base.parameters import Count, NotNegative, Positive, RandomState, Range, Threads
from rankae.base.ranker import LabelRanker
from rankae.base.search_space import Between, OneOf, Space
from rankae.errors import DataError
from rankae.rivals._limits import few_enough_labels
from rankae.rivals._native_probe import NAPKINXC, probe
from rankae.rivals._packed_folder import pack, unpack
from rankae.rivals._ranked import Ranked, rank_pairs


@dataclass(kw_only=True, eq=False, repr=False)
class _NapkinXC(PickledByState, LabelRanker):
    """A napkinXC model with logistic node classifiers.

    Parameters
    ----------
    liblinear_c : weight of the errors against the regularisation.
    liblinear_eps : tolerance at which liblinear stops.
    weights_threshold : smaller weights are dropped.
    n_jobs : threads; more than one is faster, but then a seed no longer fixes the result.
    random_state : seed of the tree and of liblinear's order of rows.
    """

    search_space: ClassVar[Space] = {
        "liblinear_c": Between(0.1, 100.0, log=True),
        "weights_threshold": OneOf((0.0, 0.05, 0.1)),
    }

    napkin_class: ClassVar[type[models.Model]]
    liblinear_c: Positive = 10.0
    liblinear_eps: Positive = 0.1
    weights_threshold: NotNegative = 0.1
    n_jobs: Threads = 1
    random_state: RandomState = None

    def _settings(self) -> dict[str, Any]:
        """The settings in napkinXC's own names."""
        return {
            "liblinear_c": self.liblinear_c,
            "liblinear_eps": self.liblinear_eps,
            "weights_threshold": self.weights_threshold,
            "threads": self.n_jobs,
        }

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        if labels.nnz == 0:
            raise DataError(f"{self.method} cannot learn: no row has a label")
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        seed_c_library(seed)
        self.folder_ = TemporaryDirectory(prefix="rankae-")
        self.model_ = self.napkin_class(str(Path(self.folder_.name)), seed=seed, **self._settings())
        self.model_.fit(rows, labels)

    def _top(self, rows: sp.csr_matrix, k: int) -> Ranked:
        return rank_pairs(self.model_.predict_proba(rows, top_k=k), k)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, pack(self.folder_.name)

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.folder_ = unpack(arrays)
        code = NAPKINXC.format(name=self.napkin_class.__name__, features=self.n_features_in_)
        probe(self.method, code, self.folder_.name, self.n_features_in_)
        self.model_ = self.napkin_class(self.folder_.name, **self._settings())
        self.model_.load()


@dataclass(kw_only=True, eq=False, repr=False)
class PLT(_NapkinXC):
    """A tree over labels; a label's probability is the product along its path. See `_NapkinXC` for the rest.

    Parameters
    ----------
    arity : children of an inner node.
    max_leaves : labels below a last inner node.
    """

    method = "plt"
    search_space: ClassVar[Space] = _NapkinXC.search_space | {"arity": OneOf((2, 16, 64))}
    napkin_class = models.PLT

    arity: Annotated[int, Range(2)] = 2
    max_leaves: Count = 100

    def _settings(self) -> dict[str, Any]:
        return super()._settings() | {"arity": self.arity, "max_leaves": self.max_leaves}


@dataclass(kw_only=True, eq=False, repr=False)
class BR(_NapkinXC):
    """One logistic classifier a label, on every row. See `_NapkinXC` for the rest.

    Parameters
    ----------
    label_limit : most labels accepted; tens of thousands would take hours.
    """

    method = "br"
    napkin_class = models.BR

    label_limit: Count = 5000

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        few_enough_labels(self, labels.shape[1], self.label_limit, "trains on every row for each label")
        super()._fit(rows, labels)


def seed_c_library(seed: int) -> None:
    """Seed C's `rand()`: napkinXC's liblinear shuffles rows with it and its own `seed` does not reach there."""
    library = ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)
    library.srand(ctypes.c_uint(seed))
