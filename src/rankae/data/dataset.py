"""Dataset: rows (sparse features or raw texts), their labels, and names for both."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.data.reading import ReadingSettings
from rankae.errors import DataError


@dataclass(frozen=True)
class Dataset:
    """Rows and labels of one split.

    Attributes
    ----------
    features : CSR float32, rows x features, or None where rows are texts.
    texts : one string a row, or None where rows are features.
    labels : CSR float32, rows x labels, every stored value 1; rows x 0 if the source has no labels.
    label_names, feature_names : a name for each column, or None if columns have only numbers.
    name : of the data in messages and tables.
    reading : which columns of the file are text, labels and id; None for data that is not from a file.
    carried : further cells of the rows, such as ids, by the name of their column.
    """

    labels: sp.csr_matrix
    features: sp.csr_matrix | None = None
    texts: list[str] | None = None
    label_names: list[str] | None = None
    feature_names: list[str] | None = None
    name: str = "data"
    reading: ReadingSettings | None = None
    carried: dict[str, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.features is None) == (self.texts is None):
            raise DataError(f"{self.name}: a data set holds either features or texts")
        if self.n_rows != self.labels.shape[0]:
            raise DataError(f"{self.name}: there are {self.n_rows} rows but {self.labels.shape[0]} rows of labels")
        if self.label_names is not None and len(self.label_names) != self.n_labels:
            raise DataError(f"{self.name}: {self.n_labels} labels have {len(self.label_names)} names")
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise DataError(f"{self.name}: {self.n_features} features have {len(self.feature_names)} names")

    @property
    def rows(self) -> sp.csr_matrix | list[str]:
        """The model's input: the texts or the feature matrix."""
        return self.texts if self.features is None else self.features  # type: ignore[return-value]

    @property
    def n_rows(self) -> int:
        return len(self.texts) if self.texts is not None else self.features.shape[0]  # type: ignore[union-attr]

    @property
    def n_labels(self) -> int:
        return self.labels.shape[1]

    @property
    def n_features(self) -> int:
        """Feature columns; 0 for texts, whose words are counted only when a model is fitted."""
        return 0 if self.features is None else self.features.shape[1]

    @property
    def ids(self) -> list[Any] | None:
        """What each row is called, if the file has a column of ids."""
        return None if self.reading is None else self.carried.get(self.reading.id_column or "")

    def __len__(self) -> int:
        return self.n_rows

    def take(self, index: Any) -> Dataset:
        """The rows at `index` (positions, a slice or a boolean mask), in that order."""
        positions = np.arange(self.n_rows)[index]
        return replace(
            self,
            labels=self.labels[positions],
            features=None if self.features is None else self.features[positions],
            texts=None if self.texts is None else [self.texts[i] for i in positions],
            carried={column: [cells[i] for i in positions] for column, cells in self.carried.items()},
        )

    def aligned_to(self, names: Sequence[Hashable]) -> Dataset:
        """The data with its label columns in the order of `names`; other labels follow in extra columns.

        Extra columns are never predicted, so labels unseen in training count as misses. Without label names, columns
        are identified by their numbers.
        """
        first = [name.item() if isinstance(name, np.generic) else name for name in names]
        current: Sequence[Hashable] = self.label_names if self.label_names is not None else range(self.n_labels)
        column: dict[Hashable, int] = {name: i for i, name in enumerate(first)}
        extra = [name for name in current if name not in column]
        column |= {name: len(first) + i for i, name in enumerate(extra)}
        to = np.fromiter((column[name] for name in current), dtype=np.int32, count=len(current))
        labels = sp.csr_matrix(
            (self.labels.data, to[self.labels.indices], self.labels.indptr), shape=(self.n_rows, len(column))
        )
        labels.sort_indices()
        names_known = self.label_names is not None
        return replace(self, labels=labels, label_names=[str(n) for n in [*first, *extra]] if names_known else None)

    def with_features(self, n_features: int) -> Dataset:
        """The data with exactly `n_features` feature columns.

        A file without a header has only the features that occur in it: missing ones become empty columns, and those
        beyond `n_features`, which a model has never seen, are dropped.
        """
        if self.features is None or self.n_features == n_features:
            return self
        if self.n_features > n_features:
            features, names = self.features[:, :n_features], (self.feature_names or [])[:n_features] or None
        else:
            f = self.features
            features, names = sp.csr_matrix((f.data, f.indices, f.indptr), shape=(self.n_rows, n_features)), None
        return replace(self, features=features, feature_names=names)
