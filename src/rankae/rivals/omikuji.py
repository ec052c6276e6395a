"""Parabel (Prabhu et al., 2018) and Bonsai (Khandagale et al., 2019), by the omikuji package.

Omikuji trains only from a file, so rows are written to a temporary one; it predicts one row at a time and
offers no seed: two fits on the same rows differ in the third digit of their scores.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import omikuji
import scipy.sparse as sp

from rankae.base.native import PickledByState
from rankae.base.parameters import Count, NGrams, NotNegative, Positive, Range, Threads
from rankae.base.ranker import LabelRanker
from rankae.base.search_space import Between, OneOf, Space
from rankae.data.text import TextFeatures
from rankae.errors import DataError
from rankae.progress import track
from rankae.rivals._native_probe import OMIKUJI, probe
from rankae.rivals._packed_folder import pack, unpack
from rankae.rivals._ranked import Ranked, rank_pairs


@dataclass(kw_only=True, eq=False, repr=False)
class _LabelTrees(PickledByState, LabelRanker):
    """Trees over labels with a linear classifier at every node.

    Parameters
    ----------
    n_trees : trees in the forest.
    cluster_k : children of an inner node.
    cluster_balanced : whether the children of a node hold equally many labels.
    min_branch_size : a node with fewer labels than this is a leaf.
    max_depth : deepest level of a tree.
    linear_c : weight of the errors against the regularisation of the node classifiers.
    linear_weight_threshold : smaller weights are dropped.
    linear_loss : "hinge" (squared) or "log".
    beam_size : nodes kept at each level when predicting; labels outside of them are not named.
    n_jobs : threads; None takes all cores.
    ngrams, title, pieces : of raw text, see `rankae.data.TextFeatures`; what others do with text is words alone.
    """

    search_space: ClassVar[Space] = {
        "linear_c": Between(0.03, 10.0, log=True),
        "linear_loss": OneOf(("hinge", "log")),
        "n_trees": OneOf((1, 3, 5)),
    }

    n_trees: Count = 3
    cluster_k: Annotated[int, Range(2)] = 2
    cluster_balanced: bool = True
    min_branch_size: Count = 100
    max_depth: Count = 20
    linear_c: Positive = 1.0
    linear_weight_threshold: NotNegative = 0.1
    linear_loss: Literal["hinge", "log"] = "hinge"
    beam_size: Count = 10
    n_jobs: Threads | None = None
    ngrams: NGrams = (1, 1)
    title: NotNegative = 0.0
    pieces: bool = False

    def _new_text(self) -> TextFeatures:
        ngrams = self.ngrams[0], self.ngrams[1]  # a list, if it comes from JSON
        return TextFeatures(ngrams, title=self.title, pieces=self.pieces)

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        if labels.nnz == 0:
            raise DataError(f"{self.method} cannot learn: no row has a label")
        with TemporaryDirectory(prefix="rankae-") as folder, quiet():
            path = Path(folder) / "train.txt"
            write_omikuji_file(path, rows, labels)
            self.model_ = omikuji.Model.train_on_data(str(path), self.hyper_parameters(), self.n_jobs)

    def hyper_parameters(self) -> Any:
        """The settings in omikuji's own form."""
        chosen = omikuji.Model.default_hyper_param()
        for name in ("n_trees", "cluster_k", "cluster_balanced", "min_branch_size", "max_depth", "linear_c"):
            setattr(chosen, name, getattr(self, name))
        chosen.linear_weight_threshold = self.linear_weight_threshold
        chosen.linear_loss_type = omikuji.LossType[self.linear_loss.upper()].value
        return chosen

    def _top(self, rows: sp.csr_matrix, k: int) -> Ranked:
        answers = []
        for row in track(range(rows.shape[0]), f"{self.method}: predicting"):
            part = slice(rows.indptr[row], rows.indptr[row + 1])
            pairs = list(zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True))
            answers.append(self.model_.predict(pairs, beam_size=self.beam_size, top_k=k))
        return rank_pairs(answers, k)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        with TemporaryDirectory(prefix="rankae-") as folder, quiet():
            self.model_.save(folder)
            return {}, pack(folder)

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        with unpack(arrays) as folder, quiet():
            probe(self.method, OMIKUJI, folder, self.n_features_in_)
            self.model_ = omikuji.Model.load(folder)


class Parabel(_LabelTrees):
    """Parabel: three balanced binary label trees with squared-hinge classifiers; see `_LabelTrees`."""

    method = "parabel"


@dataclass(kw_only=True, eq=False, repr=False)
class Bonsai(_LabelTrees):
    """Bonsai: three shallow label trees (3 levels) with up to 100 children a node; see `_LabelTrees`."""

    method = "bonsai"
    cluster_k: Annotated[int, Range(2)] = 100
    cluster_balanced: bool = False
    max_depth: Count = 3


def write_omikuji_file(path: Path, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
    """Write `N D L`, then a line a row; omikuji does not accept a row with neither labels nor features: skip it."""
    kept = np.flatnonzero((np.diff(rows.indptr) > 0) | (np.diff(labels.indptr) > 0))
    with path.open("w", encoding="ascii") as file:
        file.write(f"{len(kept)} {rows.shape[1]} {labels.shape[1]}\n")
        for row in kept:
            words = slice(rows.indptr[row], rows.indptr[row + 1])
            names = labels.indices[labels.indptr[row] : labels.indptr[row + 1]].tolist()
            pairs = zip(rows.indices[words].tolist(), rows.data[words].tolist(), strict=True)
            file.write(",".join(map(str, names)) + "".join(f" {word}:{value:.9g}" for word, value in pairs) + "\n")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep omikuji's log (stdout) and progress bars (stderr) away from what a user pipes.

    Both go to the terminal if stderr is one, else nowhere. The library writes below Python, so files are swapped.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    target = os.dup(2) if sys.stderr.isatty() else os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(target, 1)
        os.dup2(target, 2)
        yield
    finally:
        for number, file in enumerate(kept, 1):
            os.dup2(file, number)
            os.close(file)
        os.close(target)
