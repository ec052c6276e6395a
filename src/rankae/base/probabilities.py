"""Calibrated probabilities of a fitted model, and the cuts that select labels by them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rankae.base.calibration import FEWEST_ROWS, Calibration
from rankae.base.choose_cuts import Aim, choose_cuts
from rankae.base.cuts import Cuts
from rankae.base.held_out import MOST_PLACES, HeldOut
from rankae.base.inputs import labels_among
from rankae.data.dataset import Dataset
from rankae.errors import DataError


def _has_probabilities(model: Any) -> bool:
    """True, or an error that says what is lacking: scikit-learn shows it as the cause of its own."""
    check_is_fitted(model)
    if model.calibration_ is None:
        raise DataError("the model was not calibrated; calibrate(X, Y) does it, with rows that it has not learnt from")
    return True


_MOST_ROWS = 20_000  # rows beyond this do not change a calibration
_BATCH = 1024


class Probabilities(BaseEstimator):
    """The part of `LabelRanker` that turns scores into probabilities.

    Attributes
    ----------
    calibration_ : Calibration or None; maps scores to probabilities.
    held_out_ : HeldOut or None; predictions for held-out rows, on which cuts are chosen.
    cuts_ : Cuts or None; those that `rankae threshold` has stored.
    """

    classes_: np.ndarray
    label_counts_: np.ndarray
    threshold_: float
    calibration_: Calibration | None = None
    held_out_: HeldOut | None = None
    cuts_: Cuts | None = None

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, k: int | None = None) -> sp.csr_matrix:
        """Calibrated probabilities of the k best labels of each row: CSR, rows x labels.

        k : by default 100, or all labels if there are fewer. Labels beyond the first k have no entry.

        A model without calibration lacks this method, as scikit-learn asks (see `calibrate`).
        """
        columns, scores = self.top_columns(X, MOST_PLACES if k is None else k)
        probabilities = self.probabilities(columns, scores)
        row, rank = np.nonzero(columns >= 0)
        cells = probabilities[row, rank], (row, columns[row, rank])
        return sp.csr_matrix(cells, shape=(len(columns), len(self.classes_)))

    def probabilities(self, columns: np.ndarray, scores: np.ndarray, true: bool = False) -> np.ndarray:
        """Probabilities for the result of `top_columns`: that the label would be recorded, or with `true` that it is
        true.

        If training labels are missing, the second is higher than the first; see `Calibration.true`.
        """
        calibration = self._calibrated()
        values = calibration.probability(scores, np.asarray(self.label_counts_)[columns])
        values = calibration.true(values) if true else values
        return np.where(columns >= 0, values, np.float32(0))

    def selected(self, columns: np.ndarray, scores: np.ndarray, probabilities: np.ndarray | None = None) -> np.ndarray:
        """Which labels of a ranking are predicted: by the stored cuts, else by the score threshold of training."""
        if self.cuts_ is None:
            keep = (scores >= self.threshold_) & (columns >= 0)
            keep[..., 0] = columns[..., 0] >= 0
            return keep
        return self.cuts_.selected(
            columns, self.probabilities(columns, scores) if probabilities is None else probabilities
        )

    def calibrate(self, X: Any, Y: Any) -> Self:
        """Fit the calibration on held-out rows; labels unknown to the model are ignored."""
        self._check_fitted()
        labels = labels_among(Y, self.classes_, pass_over=True)
        n = labels.shape[0]
        if n != (len(X) if isinstance(X, list) else X.shape[0]):
            raise DataError("there are not as many rows as rows of labels")
        if n < FEWEST_ROWS:
            raise DataError(f"{n} rows are too few to calibrate on; give at least {FEWEST_ROWS}")
        if not labels.nnz:
            raise DataError("the rows to calibrate on carry none of the model's labels")
        return self._calibrate_on(self.predictions_for(X, labels))

    def calibrate_with(self, learn: Dataset, check: Dataset) -> Self:
        """Calibrate on the scores of a second model, trained on the rows `learn`, for the rows `check`.

        For methods that hold out no rows themselves. It takes about as long as training; the model's ranking does not
        change. The second model has seen fewer rows, so probabilities tend to be too low rather than too high. Both
        data sets have the label columns of `classes_`.
        """
        second = clone(self)
        if "checkpoint" in second.get_params():
            second.set_params(checkpoint=None, resume=False)
        second.fit_dataset(learn)
        return self._calibrate_on(second.predictions_for(check.rows, check.labels))

    def predictions_for(self, X: Any, labels: sp.csr_matrix) -> HeldOut:
        """The ranking of held-out rows, or of a sample if there are very many.

        labels : in the columns of `classes_`; columns of unknown labels may follow.
        """
        n = labels.shape[0]
        picked = np.sort(np.random.default_rng(0).permutation(n)[:_MOST_ROWS])
        blocks = []
        for start in range(0, len(picked), _BATCH):
            block = picked[start : start + _BATCH]
            blocks.append(self.top_columns([X[i] for i in block] if isinstance(X, list) else X[block], MOST_PLACES))
        columns, scores = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return HeldOut(columns, scores, sp.csr_matrix(labels[picked]))

    def _calibrate_on(self, held_out: HeldOut | None) -> Self:
        self.held_out_, self.calibration_ = None, None
        if held_out is not None and len(held_out) >= FEWEST_ROWS and held_out.labels.nnz:
            self.held_out_, self.calibration_ = held_out, Calibration.fit(held_out, np.asarray(self.label_counts_))
        return self

    def _calibrate_again(self, held_out: HeldOut) -> None:
        """Calibrate again, with further rows that were ranked before the model was trained on them.

        Rows held out earlier are kept, up to the number that a calibration uses. The cuts are chosen again for the same
        aim; if it can no longer be reached, they stay.
        """
        if not held_out.labels.nnz:
            return
        if self.held_out_ is not None:
            held_out = self.held_out_.joined(held_out, _MOST_ROWS)
        aim = None if self.cuts_ is None else Aim.parse(self.cuts_.aim)
        self._calibrate_on(held_out)
        if self.held_out_ is None or aim is None:
            self.cuts_ = None
            return
        probabilities = self.probabilities(self.held_out_.columns, self.held_out_.scores)
        with suppress(DataError):
            self.cuts_ = choose_cuts(self.held_out_, probabilities, aim)

    def _calibrated(self) -> Calibration:
        if self.calibration_ is None:
            raise DataError(
                "this model was not calibrated, so it has no probabilities: train it with --calibrate, "
                "or give it rows that it has not seen (`rankae threshold`, or `calibrate` in Python)"
            )
        return self.calibration_

    def _trust_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Calibration, held-out predictions and cuts, for the model file."""
        settings: dict[str, Any] = {}
        arrays: dict[str, np.ndarray] = {}
        for name, part in (("calibration", self.calibration_), ("cuts", self.cuts_)):
            if part is not None:
                settings[name], part_arrays = part.state()
                arrays |= {f"{name}.{key}": value for key, value in part_arrays.items()}
        if self.held_out_ is not None:
            arrays |= {f"held_out.{key}": value for key, value in self.held_out_.state().items()}
        return settings, arrays

    def _restore_trust(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        def arrays_of(name: str) -> dict[str, np.ndarray]:
            return {key.removeprefix(f"{name}."): v for key, v in arrays.items() if key.startswith(f"{name}.")}

        if "calibration" in settings:
            self.calibration_ = Calibration.from_state(settings["calibration"], arrays_of("calibration"))
        if "cuts" in settings:
            self.cuts_ = Cuts.from_state(settings["cuts"], arrays_of("cuts"), len(self.classes_))
        if held_out := arrays_of("held_out"):
            self.held_out_ = HeldOut.from_state(held_out, len(self.classes_))
