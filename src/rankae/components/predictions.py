"""A component's predictions for a block of rows: the labels that it proposes, and its score of any label."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from rankae.numerics.inner_products import inner_products
from rankae.numerics.label_index import ExactIndex, LabelIndex
from rankae.numerics.shortlist import Shortlist
from rankae.numerics.table import Table


class Predictions(Protocol):
    def propose(self, k: int) -> np.ndarray:
        """The k labels that it ranks highest: int32 [rows, k], padded with -1."""

    def scores(self, shortlist: Shortlist) -> np.ndarray:
        """The score of each entry of the shortlist, float32."""


class CodePredictions:
    """Codes against a table of labels: score = table @ code + bias.

    index : finds the labels with the highest scores; by default by scoring all of them.
    """

    def __init__(
        self, codes: np.ndarray, table: np.ndarray | Table, bias: np.ndarray, index: LabelIndex | None = None
    ) -> None:
        self.codes, self.table, self.bias = codes, table, bias
        self.index = ExactIndex(table, bias) if index is None else index

    def best(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k labels that score highest, best first, and their scores."""
        return self.index.search(self.codes, k)

    def propose(self, k: int) -> np.ndarray:
        return self.best(k)[0]

    def scores(self, shortlist: Shortlist) -> np.ndarray:
        return inner_products(shortlist.starts, shortlist.columns, self.codes, self.table, self.bias)


class SparsePredictions:
    """Sparse scores: `values` of the entries of `named`, and 0 for all other labels."""

    def __init__(self, named: Shortlist, values: np.ndarray) -> None:
        self.named, self.values = named, values

    def propose(self, k: int) -> np.ndarray:
        return self.named.best(self.values, k)[0]

    def scores(self, shortlist: Shortlist) -> np.ndarray:
        return shortlist.values_among(self.named, self.values)
