"""The audit from rows and labels to a report."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.audit.conflicts import conflicts
from rankae.audit.flags import Flags, missing_labels, wrong_labels
from rankae.audit.folds import NEAREST, grouped_folds
from rankae.audit.noise_rates import noise_model, probabilities, rates_of_labels
from rankae.audit.out_of_fold import Folds, score_fold
from rankae.audit.relations import related_labels, unpredictable_labels
from rankae.audit.report import AuditReport, Flag
from rankae.audit.words import words_for
from rankae.base.inputs import is_text, label_matrix
from rankae.base.ranker import LabelRanker
from rankae.data.dataset import Dataset
from rankae.data.fingerprint import fingerprint
from rankae.data.near_duplicates import nearest_others
from rankae.data.text import TextFeatures
from rankae.data.unit_length import unit_rows
from rankae.errors import DataError
from rankae.methods import class_of, create, seeded
from rankae.progress import bar

_FEWEST_ROWS = 20
_BACKGROUND = 4  # labels drawn for each row, which stand for all that nobody names


@dataclass(frozen=True)
class AuditSettings:
    """
    folds : how many models are trained.
    top : flags of each kind that are reported, with words and nearest rows.
    method, parameters : of the models; by default the recipe at low effort.
    checkpoint : folder in which finished folds are kept until the audit is finished.
    """

    folds: int = 5
    top: int = 1000
    method: str = "rank-ae"
    parameters: dict[str, Any] = field(default_factory=lambda: {"preset": "fast"})
    seed: int = 0
    checkpoint: Path | None = None
    nearest: int = 3

    def new_model(self) -> LabelRanker:
        """For a fold: what its scores come from is the same in all, so none adds a component of its own."""
        same = {"label_names": False} if "label_names" in class_of(self.method)._get_param_names() else {}
        return seeded(create(self.method, **self.parameters | same), self.seed)


def audit(
    X: Any, Y: Any = None, settings: AuditSettings | None = None, model: LabelRanker | None = None
) -> AuditReport:
    """Which labels of rows X are probably wrong or missing.

    Parameters
    ----------
    X, Y : as `fit` takes them; or X a `Dataset`, and no Y.
    model : a fitted model that has not seen these rows, in place of one for each fold.
    """
    settings = settings or AuditSettings()
    data = X if isinstance(X, Dataset) else _dataset(X, Y)
    n, L = data.labels.shape
    if not data.labels.nnz:
        raise DataError(f"{data.name}: the rows carry no labels, so there is nothing to audit")
    if n < _FEWEST_ROWS or settings.folds < 2 or settings.folds > n:
        raise DataError(f"{data.name}: an audit needs at least {_FEWEST_ROWS} rows and 2 folds; there are {n} rows")
    rows = unit_word_rows(data)
    found, cosine = nearest_others(rows, NEAREST)
    models: list[LabelRanker]
    run = None
    if model is not None:
        fold = np.zeros(n, dtype=np.int8)
        models, entries = [model], score_fold(model, data, min(_BACKGROUND, L), settings.seed)
    else:
        fold = grouped_folds(found, cosine, settings.folds, settings.seed)
        run = Folds(data, fold, settings.new_model, settings.checkpoint)
        run.begin({"data": fingerprint(data), **{k: str(v) for k, v in asdict(settings).items() if k in _KEY}})
        entries = run.entries(min(_BACKGROUND, L), settings.seed)
        models = run.models
    p = probabilities(entries, data.labels, settings.seed)
    noise = noise_model(entries, p, n * L)
    names = data.label_names or [str(i) for i in range(L)]
    flags = [kind(entries, p, noise) for kind in (missing_labels, wrong_labels)]
    tops = [own.taken(np.arange(min(settings.top, len(own)))) for own in flags]
    told = _told(tops, data, names, fold, models, found, cosine, settings.nearest)
    report = AuditReport(
        data=data.name,
        rows=n,
        labels=L,
        recorded=int(data.labels.nnz),
        noise=noise,
        label_names=names,
        label_rates=rates_of_labels(entries, p, noise, L),
        flags=told,
        conflicts=conflicts(found, cosine, data.labels, settings.top),
        relations=related_labels(rows, data.labels, names),
        unpredictable=unpredictable_labels(entries, L),
        ranked={own.kind: own for own in flags},
        ids=data.ids,
    )
    if run is not None:
        run.finish()
    return report


_KEY = ("folds", "method", "parameters", "seed")


def _told(
    tops: list[Flags],
    data: Dataset,
    names: list[str],
    fold: np.ndarray,
    models: list[LabelRanker],
    found: np.ndarray,
    cosine: np.ndarray,
    nearest: int,
) -> list[Flag]:
    """The flags with their words and nearest rows, the most probable first."""
    by_row: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for t, own in enumerate(tops):
        for i, row in enumerate(own.rows.tolist()):
            by_row[row].append((t, i))
    words: dict[tuple[int, int], list[str]] = {}
    with bar("words", len(by_row)) as progress:
        for row, places in by_row.items():
            columns = np.array([tops[t].columns[i] for t, i in places])
            document = data.texts[row] if data.texts is not None else data.features[row]  # type: ignore[index]
            _, spoken = words_for(models[fold[row]], document, columns, data.feature_names)
            words |= dict(zip(places, spoken, strict=True))
            progress.advance()
    out = []
    ids = data.ids
    for t, own in enumerate(tops):
        for i in range(len(own)):
            row, column = int(own.rows[i]), int(own.columns[i])
            near = _nearest(row, column, data.labels, found, cosine, nearest)
            text = data.texts[row] if data.texts is not None else None
            carried = [names[c] for c in data.labels[row].indices]
            own_id = row if ids is None else ids[row]
            p, recorded = float(own.probability[i]), float(own.recorded[i])
            out.append(Flag(row, own_id, names[column], own.kind, p, recorded, words[t, i], near, carried, text))
    return sorted(out, key=lambda flag: -flag.probability)


def _nearest(
    row: int, column: int, labels: sp.csr_matrix, found: np.ndarray, cosine: np.ndarray, most: int
) -> list[dict[str, Any]]:
    """The nearest rows that carry the label and the nearest that lack it."""
    out: list[dict[str, Any]] = []
    counted = {True: 0, False: 0}
    for other, near in zip(found[row].tolist(), cosine[row].tolist(), strict=True):
        if other < 0:
            break
        carries = column in labels.indices[labels.indptr[other] : labels.indptr[other + 1]]
        if counted[carries] < most:
            out.append({"row": other, "cosine": round(min(near, 1.0), 4), "carries": bool(carries)})
            counted[carries] += 1
    return out


def _dataset(X: Any, Y: Any) -> Dataset:
    targets = label_matrix(Y)
    names = [str(name) for name in targets.classes.tolist()]
    if is_text(X):
        return Dataset(targets.matrix, texts=list(X), label_names=names)
    return Dataset(targets.matrix, features=sp.csr_matrix(X, dtype=np.float32), label_names=names)


def unit_word_rows(data: Dataset) -> sp.csr_matrix:
    if data.texts is not None:
        return unit_rows(TextFeatures().fit_transform(data.texts))
    return unit_rows(sp.csr_matrix(data.features))


def same_model(model: LabelRanker) -> dict[str, Any]:
    """The parameters by which a fold's model is made like `model`."""
    parameters = model.get_params(deep=False)
    known = class_of(model.method)._get_param_names()
    return {name: value for name, value in parameters.items() if name in known and name not in ("checkpoint", "resume")}
