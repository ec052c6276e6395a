"""LabelRanker, the base class of all methods: scikit-learn's interface, `predict_top`, `save` and `load`.

A method implements `_fit(rows, labels)`, `_top(rows, k)`, and its state as arrays and JSON values. Texts, label names,
thresholds and files are handled here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted, validate_data

from rankae.base.choices import describe
from rankae.base.evaluation import evaluated, predicted_and_true
from rankae.base.held_out import MOST_PLACES, HeldOut, hits
from rankae.base.inputs import Targets, is_text, label_matrix, name_array
from rankae.base.parameters import check_parameters
from rankae.base.saved_ranker import SavedRanker
from rankae.base.search_space import Space
from rankae.base.tables import check_same_order, texts_of
from rankae.data.dataset import Dataset
from rankae.data.reading import ReadingSettings
from rankae.data.text import TextFeatures
from rankae.data.vectors import with_vectors
from rankae.errors import DataError, ModelFileError, RankaeError
from rankae.numerics.shortlist import Shortlist
from rankae.numerics.threads import numpy_on_one_thread
from rankae.progress import log

Rows: TypeAlias = sp.csr_matrix | list[str]

# decision_function returns a dense array rows x labels; it refuses to build a larger one.
MOST_DENSE_CELLS = 2**28


class LabelRanker(SavedRanker):
    """A model that ranks labels for a row.

    Attributes after `fit`
    ----------------------
    classes_ : array of label names, one for each column of the label matrix.
    text_ : TextFeatures or None; how strings become weighted words, if the model was fitted on strings.
    label_counts_ : int array; number of the `training_rows_` rows of each label, for propensities.
    reading_ : ReadingSettings or None; which columns of the training file were read, for later files.
    facts_ : dict; facts that were saved with a loaded model: data, fingerprint, measures.
    threshold_ : float; without `cuts_`, `predict` returns the labels with at least this score, and always the best one.
    calibration_, held_out_, cuts_ : see `rankae.base.probabilities`.
    """

    reads: ClassVar[Literal["features", "text"]] = "features"
    search_space: ClassVar[Space] = {}  # parameters that `rankae tune` searches

    # What a method implements, besides `_state` and `_restore` (see `SavedRanker`) --------------------------------

    def _fit(self, rows: Rows, labels: sp.csr_matrix) -> None:
        """Learn from CSR float32 rows (or raw texts, if `reads` is "text") and a CSR 0/1 label matrix.

        A method that holds out rows leaves its predictions for them in `self._held_out`, for calibration.
        """
        raise NotImplementedError

    def _top(self, rows: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k best labels of each row, best first: int32 columns and float32 scores, padded with -1 and -inf."""
        raise NotImplementedError

    @classmethod
    def search_space_for(cls, parameters: dict[str, Any]) -> Space:
        """`search_space`, given the parameters that are set."""
        return cls.search_space

    # What a user calls ------------------------------------------------------------------------------------------

    def fit(self, X: Any, Y: Any, **unknown: Any) -> Self:
        """Learn from rows X (CSR, dense array or strings) and labels Y (indicator matrix or lists of names).

        Both may be columns or tables of pandas, polars or Arrow.
        """
        return self._learn(X, Y, **none_of(unknown))

    def fit_dataset(self, data: Dataset) -> Self:
        """`fit` on a data set, keeping its label names."""
        return self._learn_dataset(data)

    def check_parameters(self, method: str | None = None) -> None:
        """Refuse parameters out of range, in one sentence that names the method; `fit` calls this first."""
        check_parameters(method or self.method, type(self), self.get_params(deep=False))

    def predict_top(self, X: Any, k: int = 5, proba: bool = False) -> tuple[np.ndarray, ...]:
        """The k best labels of each row, best first: (names, scores), both rows x min(k, labels).

        A model may rank fewer than k labels; the remaining names are then None. With `proba`, the result is (names,
        scores, probabilities), still in the order of scores.
        """
        columns, scores = self.top_columns(X, k)
        names, nothing = self.classes_[columns], columns < 0
        if nothing.any():
            names = names.astype(object)
            names[nothing] = None
        return (names, scores, self.probabilities(columns, scores)) if proba else (names, scores)

    def top_columns(self, X: Any, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """As `predict_top`, with label columns in place of names."""
        self._check_fitted()
        if not isinstance(k, int | np.integer):
            raise DataError(f"k must be a whole number, not {k!r}")
        if k < 1:
            raise DataError(f"k must be at least 1, but it is {k}")
        return self._answer(self._rows(X), min(k, len(self.classes_)))

    def score_pairs(self, X: Any, also: np.ndarray, k: int = MOST_PLACES) -> tuple[Shortlist, np.ndarray, np.ndarray]:
        """Scores of the best labels of each row and of further labels.

        also : int32 [rows, m], columns of further labels, padded with -1.

        Returns the entries, their scores, and the features that the scores are computed from, float32 [entries, m].
        A method that cannot score single labels gives the lowest score to labels that are not among its k best.
        """
        self._check_fitted()
        return self._pairs(self._rows(X), also, min(k, len(self.classes_)))

    def _pairs(self, rows: Rows, also: np.ndarray, k: int) -> tuple[Shortlist, np.ndarray, np.ndarray]:
        columns, scores = self._answer(rows, k)
        shortlist = Shortlist.union([columns, also])
        ranked = columns >= 0
        row, place = np.nonzero(ranked)
        shape = len(columns), len(self.classes_)
        lowest = scores[ranked].min(initial=0) - 1
        # Stored as differences to the lowest score, so that entries that are not stored have the lowest.
        above = sp.csr_matrix((scores[row, place] - lowest, (row, columns[row, place])), shape=shape)
        above.sort_indices()
        values = shortlist.values_of(above) + lowest
        counts = np.asarray(self.label_counts_, dtype=np.float32)[shortlist.columns]
        return shortlist, values, np.stack([values, np.log1p(counts)], axis=1)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of all labels, rows x labels. For large label sets use `predict_top`.

        A label that the model does not rank for a row has the lowest float32, so that scikit-learn's measures of
        rankings take the array. If each row has one of two labels, the result is a vector as scikit-learn has it: how
        far the second label is ahead. `OneVsRestClassifier` writes beyond its arrays if it is given two columns.
        """
        self._check_fitted()
        rows = self._rows(X)
        n, labels = _length(rows), len(self.classes_)
        if n * labels > MOST_DENSE_CELLS:
            raise DataError(f"{n} rows x {labels} labels are too many scores for one array; use predict_top")
        columns, scores = self._answer(rows, labels)
        dense = np.full((n, labels), np.finfo(np.float32).min, dtype=np.float32)
        row, rank = np.nonzero(columns >= 0)
        dense[row, columns[row, rank]] = scores[row, rank]
        if self.kind_ != "single" or labels != 2:
            return dense
        lowest, highest = np.finfo(np.float32).min, np.finfo(np.float32).max
        return np.clip(np.diff(dense.astype(np.float64))[:, 0], lowest, highest).astype(np.float32)

    def predict(self, X: Any) -> Any:
        """Labels of each row, in the form in which `fit` was given them."""
        self._check_fitted()
        rows = self._rows(X)
        if self.kind_ == "single":
            return self.classes_[self._answer(rows, 1)[0][:, 0]]
        most = self.most_labels_ if self.cuts_ is None else MOST_PLACES
        columns, scores = self._answer(rows, min(most, len(self.classes_)))
        keep = self.selected(columns, scores)
        if self.kind_ == "lists":
            return [self.classes_[c[m]].tolist() for c, m in zip(columns, keep, strict=True)]
        row, _ = np.nonzero(keep)
        ones = np.ones(len(row), dtype=np.int64)
        return sp.csr_matrix((ones, (row, columns[keep])), shape=(len(columns), len(self.classes_)))

    def score(self, X: Any, y: Any) -> float:
        """P@1, the share of rows whose best label is true; an indicator matrix has the columns of `classes_`."""
        columns, labels = predicted_and_true(self, X, label_matrix(y), 1)
        return float(hits(columns, labels).sum() / max(1, len(columns)))

    def evaluate(self, X: Any, y: Any, k: int | Sequence[int] = (1, 3, 5)) -> dict[str, float | int]:
        """P@k, nDCG@k, PSP@k and more in percent, as `rankae evaluate` prints them; see `rankae.metrics`.

        Labels that the model has never seen count as misses; an indicator matrix has the columns of `classes_`.
        """
        self._check_fitted()
        return evaluated(self, X, label_matrix(y), [k] if isinstance(k, int | np.integer) else k)

    def matching(self, data: Dataset) -> Dataset:
        """The data with the model's feature columns; features are refused by a model of texts."""
        if data.features is not None and self.text_ is not None:
            raise DataError(f"{data.name}: the model reads texts, but these rows are feature vectors; give it texts")
        return data.with_features(self.n_features_in_)

    # What the methods above share -------------------------------------------------------------------------------

    def _check_fitted(self) -> None:
        if not hasattr(self, "classes_"):  # scikit-learn's own check takes longer than some answers do
            check_is_fitted(self, "classes_")

    def _answer(self, rows: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        """`_top`, with an empty result for no rows, so that methods need not handle that case."""
        if _length(rows) == 0:
            return np.empty((0, k), dtype=np.int32), np.empty((0, k), dtype=np.float32)
        columns, scores = self._top(rows, k)
        if columns.size and columns.max() >= len(self.classes_):
            raise ModelFileError("the model names labels that it does not have; it is damaged, train it again")
        return columns, scores

    def _new_text(self) -> TextFeatures:
        """How strings become weighted words for this method, before fitting."""
        return TextFeatures()

    def _training_rows(self, X: Any, targets: Targets) -> Rows:
        """X as `_fit` reads it; methods that choose their features use the labels."""
        self.text_ = None
        X = with_vectors(X)
        if is_text(X):
            if self.reads == "text":
                self.n_features_in_ = 0
                return list(X)
            self.text_ = self._new_text()
            rows = self.text_.fit_transform(X)
            self.n_features_in_ = rows.shape[1]
            return rows
        return self._matrix(X, reset=True)

    def _rows(self, X: Any) -> Rows:
        X = texts_of(with_vectors(X))
        if is_text(X):
            if self.reads == "text":
                return list(X)
            if self.text_ is None:
                raise DataError("this model was trained on a feature matrix, so it cannot read raw text")
            return self.text_.transform(X)
        if isinstance(X, list) and not X:
            return X if self.reads == "text" else sp.csr_matrix((0, self.n_features_in_), dtype=np.float32)
        if self.text_ is not None and not (sp.issparse(X) and X.shape[1] == self.n_features_in_):
            raise DataError("this model was trained on raw text: give it strings")
        return self._matrix(X, reset=False)

    def _matrix(self, X: Any, reset: bool) -> sp.csr_matrix:
        if self.reads == "text":
            raise DataError(f"{self.method} reads raw text, not a feature matrix: give it a list of strings")
        if not reset and self._is_ready(X):
            return X
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float32, reset=reset, ensure_min_features=1)
        rows = sp.csr_matrix(rows)
        if not rows.has_canonical_format:
            rows = rows.copy()  # the user's matrix stays as it is
            rows.sum_duplicates()
        return rows

    def _is_ready(self, X: Any) -> bool:
        """Whether X needs no conversion or check: scikit-learn's checks take longer than predicting a row."""
        return (
            isinstance(X, sp.csr_matrix)
            and X.dtype == np.float32
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and X.has_canonical_format
            and bool(np.isfinite(X.data).all())
        )

    def _learn(self, X: Any, Y: Any, *, reading: ReadingSettings | None = None, **given: Any) -> Self:
        """`fit`; further arguments are passed to `_training_rows` and to `_fit`."""
        if Y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        if isinstance(X, list | tuple) and not X:
            raise DataError("there are no rows to learn from")
        self.check_parameters()
        check_same_order(X, Y)
        X = texts_of(X)
        targets = Y if isinstance(Y, Targets) else label_matrix(Y)
        self.reading_ = reading
        with numpy_on_one_thread():
            return self._fit_targets(self._training_rows(X, targets, **given), targets, **given)

    def _learn_dataset(self, data: Dataset, **given: Any) -> Self:
        return self._learn(data.rows, named_targets(data), reading=data.reading, **given)

    def _fit_targets(self, rows: Rows, targets: Targets, **given: Any) -> Self:
        labels = targets.matrix
        if _length(rows) != labels.shape[0]:
            raise DataError(f"there are {_length(rows)} rows but {labels.shape[0]} rows of labels")
        if labels.shape[1] == 0:
            raise DataError("there are no labels to learn from")
        self.classes_, self.kind_ = targets.classes, targets.kind
        self.label_counts_ = np.bincount(labels.indices, minlength=labels.shape[1])
        self.training_rows_ = labels.shape[0]
        self.cuts_ = None
        self._held_out: HeldOut | None = None
        self._fit(rows, labels, **given)
        self._set_threshold(rows, labels)
        self._calibrate_on(self._held_out)
        del self._held_out
        self._log_training()
        return self

    def _log_training(self) -> None:
        """Log what `rankae train` prints to the logger `rankae`."""
        for name, one in getattr(self, "choices_", {}).items():
            log.info("%s: %s", name, describe(one))
        log.info("%s: %d rows, %d labels", self.method, self.training_rows_, len(self.classes_))

    def _set_threshold(self, rows: Rows, labels: sp.csr_matrix) -> None:
        """Set the threshold that gives training rows as many labels on average as they have."""
        sample = np.random.default_rng(0).permutation(labels.shape[0])[:2000]
        counts = np.diff(labels.indptr)[sample]
        self.most_labels_ = int(max(1, counts.max(initial=1)))
        picked = [rows[i] for i in sample] if isinstance(rows, list) else rows[sample]
        scores = self._top(picked, min(self.most_labels_, labels.shape[1]))[1].ravel()
        wanted = min(int(counts.sum()), int(np.isfinite(scores).sum()))
        self.threshold_ = float(np.partition(scores, -wanted)[-wanted]) if wanted else float("inf")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags()  # scikit-learn's checks of `predict_proba` read them
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = self.reads == "features"
        tags.input_tags.string = True
        return tags


def named_targets(data: Dataset) -> Targets:
    """The labels of a data set, with their names if it has any."""
    targets = label_matrix(data.labels)
    return targets if data.label_names is None else Targets(targets.matrix, name_array(data.label_names), "lists")


def none_of(unknown: dict[str, Any]) -> dict[str, Any]:
    """An empty dict; refuses arguments of `fit` that no method has, in one sentence."""
    if "sample_weight" in unknown:
        raise RankaeError("rows are not weighed: leave sample_weight out, and give a row twice if it is to count twice")
    if unknown:
        raise TypeError(f"fit has no argument {next(iter(unknown))!r}")
    return {}


def _length(rows: Rows) -> int:
    return len(rows) if isinstance(rows, list) else rows.shape[0]
