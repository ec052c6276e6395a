"""Scores of every row by a model that has not seen its labels: one model for each fold, kept on disk if asked."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from rankae.base.ranker import LabelRanker
from rankae.data.dataset import Dataset
from rankae.errors import RankaeError
from rankae.methods import load
from rankae.model_file.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from rankae.progress import bar

_BATCH = 1024


@dataclass(frozen=True)
class Entries:
    """Cells of the label matrix that have been scored, ascending by row and column.

    observed : whether the row carries the label.
    weight : for how many cells of the matrix the entry stands: 1, or more for one of the sample.
    listed : whether the model itself put the label on the row's shortlist; elsewhere its scores mean little.
    facts : float32 [entries, facts]; what the scores come from.
    """

    rows: np.ndarray
    columns: np.ndarray
    scores: np.ndarray
    observed: np.ndarray
    weight: np.ndarray
    listed: np.ndarray
    facts: np.ndarray


def score_fold(model: LabelRanker, rows: Dataset, background: int, seed: int) -> Entries:
    """What a model says of rows that it has not seen: its shortlist, the labels they carry, and a random sample.

    background : labels drawn for each row, which stand for all that nobody names.
    """
    n, L = rows.labels.shape
    found = []
    rng = np.random.default_rng(seed)
    with bar("scoring", n) as progress:
        for start in range(0, n, _BATCH):
            own = rows.take(slice(start, start + _BATCH))
            drawn = rng.integers(0, L, (len(own), background)).astype(np.int32)
            listed, _, _ = model.score_pairs(own.rows, np.empty((len(own), 0), dtype=np.int32))
            shortlist, scores, facts = model.score_pairs(own.rows, np.hstack([_padded(own.labels), drawn]))
            observed = shortlist.values_of(own.labels) > 0
            named = shortlist.values_of(listed.matrix(np.ones(len(listed.columns), np.float32), L)) > 0
            sampled = ~named & ~observed
            row = shortlist.rows
            left = L - np.bincount(row[~sampled], minlength=len(own))
            share = left / np.maximum(1, np.bincount(row[sampled], minlength=len(own)))
            weight = np.where(sampled, share[row], 1)
            found.append((row + start, shortlist.columns, scores, observed, weight.astype(np.float32), named, facts))
            progress.advance(len(own))
    return Entries(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _padded(labels: sp.csr_matrix) -> np.ndarray:
    """Label columns of each row, padded with -1."""
    counts = np.diff(labels.indptr)
    out = np.full((len(counts), int(counts.max(initial=1))), -1, dtype=np.int32)
    out[np.arange(out.shape[1]) < counts[:, None]] = labels.indices
    return out


class Folds:
    """The models and entries of all folds; with a folder, finished folds are not trained again.

    about : what the audit is about; a folder about something else is refused.
    """

    def __init__(self, data: Dataset, fold: np.ndarray, new: Callable[[], LabelRanker], folder: Path | None) -> None:
        self.data, self.fold, self.new, self.folder = data, fold, new, folder
        self.models: list[LabelRanker] = []

    def begin(self, about: dict[str, object]) -> None:
        self.new()  # a method or a parameter that there is not is refused before anything is written
        if self.folder is None:
            return
        note = self.folder / "about.json"
        text = json.dumps(about, sort_keys=True)
        started = any(self.folder.glob("fold-*"))
        if started and note.exists() and note.read_text() != text:
            raise RankaeError(f"{self.folder} holds a stopped audit of other data or settings; delete it to start anew")
        self.folder.mkdir(parents=True, exist_ok=True)
        note.write_text(text)

    def entries(self, background: int, seed: int) -> Entries:
        """All entries, in the order of rows."""
        found = []
        count = int(self.fold.max()) + 1
        with bar("folds", count) as progress:
            for f in range(count):
                held = np.flatnonzero(self.fold == f)
                own = self._fold(f, held, background, seed + f)
                found.append(replace(own, rows=held[own.rows]))
                progress.advance()
        if len({own.facts.shape[1] for own in found}) > 1:  # a fold did without a component: they share the score alone
            found = [replace(own, facts=own.scores[:, None].astype(np.float32)) for own in found]
        together = [np.concatenate([getattr(own, name) for own in found]) for name in Entries.__dataclass_fields__]
        order = np.lexsort((together[1], together[0]))
        return Entries(*(values[order] for values in together))

    def _fold(self, f: int, held: np.ndarray, background: int, seed: int) -> Entries:
        folder = None if self.folder is None else self.folder / f"fold-{f}"
        kept = None if folder is None else read_checkpoint(folder)
        if kept is not None and folder is not None:
            self.models.append(load(folder / "model"))
            return Entries(*(kept.tensors[name].numpy() for name in Entries.__dataclass_fields__))
        rest = np.flatnonzero(self.fold != f)
        model = self.new().fit_dataset(self.data.take(rest))
        own = score_fold(model, self.data.take(held), background, seed)
        self.models.append(model)
        if folder is not None:
            import torch

            model.save(folder / "model")
            tensors = {name: torch.from_numpy(getattr(own, name).copy()) for name in Entries.__dataclass_fields__}
            write_checkpoint(folder, Checkpoint(tensors, {}))
            self.models[-1] = load(folder / "model")  # mapped from disk: memory stays that of one model
        return own

    def finish(self) -> None:
        if self.folder is not None:
            self.models = []
            shutil.rmtree(self.folder, ignore_errors=True)
