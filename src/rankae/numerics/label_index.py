"""Finds the labels with the highest scores for a code, exactly or by an approximate nearest-neighbour graph.

The exact index is the default. The graph (HNSW, by usearch) pays if there are so many labels that scoring all of them
takes too long. Its results are scored exactly, so it may miss a label but never returns a wrong score.
"""

from __future__ import annotations

from copy import copy
from time import perf_counter
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp

from rankae.errors import MissingExtra, ModelFileError
from rankae.numerics.graph_check import check_graph
from rankae.numerics.inner_products import inner_products
from rankae.numerics.keep_largest import keep_largest
from rankae.numerics.table import Table
from rankae.numerics.top_k import top_k

_MOST_EXPANSION = 4096
_BLOCK = 2**16  # label vectors that are given to the graph at a time


class LabelIndex(Protocol):
    def search(self, codes: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k labels of largest table @ code + bias, best first: int32 columns and scores, padded with -1, -inf."""


class ExactIndex:
    """Scores all labels, or those of some columns."""

    def __init__(self, table: np.ndarray | Table, bias: np.ndarray, columns: np.ndarray | None = None) -> None:
        self.columns = columns
        self.table = table if columns is None else table[columns]
        self.bias = bias if columns is None else bias[columns]

    def search(self, codes: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        places, scores = top_k(codes, self.table, self.bias, k)
        return (places if self.columns is None else self.columns[places]), scores


class UsearchIndex:
    """Searches a graph in which every label is linked to labels with similar vectors.

    A label's vector is its row of the table with the bias appended, a query is the code with a 1 appended: their inner
    product is the score. (Normalising the vectors to equal length, as is often advised, loses most of the recall here.)

    expansion : number of candidates of a search; more raise recall and cost time.
    """

    def __init__(self, graph: Any, table: np.ndarray | Table, bias: np.ndarray) -> None:
        self.graph, self.table, self.bias = graph, table, bias
        self._buffer: np.ndarray | None = None

    @classmethod
    def build(cls, table: np.ndarray | Table, bias: np.ndarray, connectivity: int = 16, threads: int = 1) -> Self:
        usearch = _usearch()
        graph = usearch.Index(
            ndim=table.shape[1] + 1, metric="ip", dtype="f16", connectivity=connectivity, enable_key_lookups=False
        )
        for start in range(0, len(table), _BLOCK):
            block = slice(start, min(len(table), start + _BLOCK))
            graph.add(np.arange(start, block.stop, dtype=np.uint64), _with(table[block], bias[block]), threads=threads)
        return cls(graph, table, bias)

    @property
    def expansion(self) -> int:
        return int(self.graph.expansion_search)

    @expansion.setter
    def expansion(self, expansion: int) -> None:
        self.graph.expansion_search = expansion

    def search(self, codes: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        k = min(k, len(self.bias))
        # float16 may swap the last ranks; exact scores settle them.
        wider = min(k + 8 + k // 4, len(self.bias))
        matches = self.graph.search(_with(codes, np.ones(len(codes), dtype=np.float32)), wider, threads=1)
        keys = np.atleast_2d(matches.keys)
        counts = (
            matches.counts if len(codes) != 1 else np.array([len(matches)])
        )  # for one row usearch returns another type
        valid = (np.arange(keys.shape[1]) < counts[:, None]) & (keys < len(self.bias))
        columns = np.where(valid, keys, len(self.bias)).astype(np.int32)
        columns.sort(axis=1)  # equal scores go in the order of columns, as in `top_k`
        valid = columns < len(self.bias)
        columns[~valid] = 0
        starts = np.arange(len(columns) + 1, dtype=np.int64) * columns.shape[1]
        scores = inner_products(starts, columns.ravel(), codes, self.table, self.bias)
        scores[~valid.ravel()] = -np.inf
        columns[~valid] = -1
        return keep_largest(starts, columns.ravel(), scores, k)

    def over(self, table: np.ndarray | Table, bias: np.ndarray) -> UsearchIndex:
        """The same graph over the table at another precision."""
        index = copy(self)
        index.table, index.bias = table, bias
        return index

    def tuned(self, codes: np.ndarray, k: int, target: float) -> float:
        """Widen the search until it finds the target share of the k best labels; returns the share that it finds."""
        exact = ExactIndex(self.table, self.bias).search(codes, k)[0]
        self.expansion = max(k, 16)
        while (reached := recall(self.search(codes, k)[0], exact)) < target and self.expansion < _MOST_EXPANSION:
            self.expansion *= 2
        return reached

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            "graph": np.frombuffer(self.graph.save(), dtype=np.uint8),
            "expansion": np.array(self.expansion, dtype=np.int64),
        }

    @classmethod
    def restore(cls, arrays: dict[str, np.ndarray], table: np.ndarray | Table, bias: np.ndarray) -> Self:
        """The index that `arrays` came from; the graph is used in place, not copied."""
        usearch = _usearch()
        expansion = int(arrays["expansion"])
        if not 1 <= expansion <= max(2 * _MOST_EXPANSION, len(table)):
            raise ModelFileError(f"the model's label index looks at {expansion} labels; build it anew: `rankae index`")
        check_graph(arrays["graph"], len(table), table.shape[1] + 1)
        index = cls(usearch.Index.restore(arrays["graph"], view=True), table, bias)
        index._buffer = arrays["graph"]  # which usearch reads but does not keep alive
        index.expansion = expansion
        return index


def measured_index(
    table: np.ndarray | Table, bias: np.ndarray, codes: np.ndarray, k: int, target: float, threads: int
) -> tuple[UsearchIndex, dict[str, Any]]:
    """An index that finds the target share of the k best labels of these codes, and figures of its cost and recall."""
    k, began = min(k, len(bias)), perf_counter()
    index = UsearchIndex.build(table, bias, threads=threads)
    built = perf_counter() - began
    reached = index.tuned(codes, k, target)
    return index, {
        f"recall@{k}": round(reached, 4),
        "expansion": index.expansion,
        "build_seconds": round(built, 2),
        "rows": len(codes),
        "exact_us": round(_microseconds(ExactIndex(table, bias), codes, k), 1),
        "index_us": round(_microseconds(index, codes, k), 1),
    }


def _microseconds(index: LabelIndex, codes: np.ndarray, k: int) -> float:
    """Microseconds per row when rows are searched one by one, as in a server."""
    began = perf_counter()
    for i in range(len(codes)):
        index.search(codes[i : i + 1], k)
    return (perf_counter() - began) / max(1, len(codes)) * 1e6


def made_up_rows(label_counts: np.ndarray, rows: int, seed: int) -> sp.csr_matrix:
    """Random label rows with three labels each, drawn with the frequencies of training."""
    chance = label_counts / max(1, label_counts.sum())
    drawn = np.random.default_rng(seed).choice(len(chance), (rows, 3), p=chance if chance.any() else None)
    entries = (np.ones(drawn.size, np.float32), (np.repeat(np.arange(rows), 3), drawn.ravel()))
    matrix = sp.csr_matrix(entries, shape=(rows, len(chance)))
    matrix.data[:] = 1
    return matrix


def recall(approximate: np.ndarray, exact: np.ndarray) -> float:
    """The mean share of each row's exact labels that the index finds; both int32 [rows, k], padded with -1."""
    hits = [len(np.intersect1d(a[a >= 0], b)) / max(1, len(b)) for a, b in zip(approximate, exact, strict=True)]
    return float(np.mean(hits))


def _with(vectors: np.ndarray, last: np.ndarray) -> np.ndarray:
    return np.concatenate([vectors, last[:, None]], axis=1, dtype=np.float32)


def _usearch() -> Any:
    try:
        from usearch import index
    except ImportError:
        raise MissingExtra("an approximate index of labels", "ann") from None
    return index
