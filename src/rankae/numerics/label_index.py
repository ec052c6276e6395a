"""Which labels score highest for a code: by looking at all of them, or by walking a graph of label vectors.

The exact index is the default. The graph (HNSW, by usearch) pays where labels are so many that one look at each takes
too long; what it finds is scored exactly, so it may miss a label but never gives a wrong score.
"""

from __future__ import annotations

from copy import copy
from time import perf_counter
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp

from rankae.errors import MissingExtra, ModelFileError
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
    """Looks at all labels, or at those of some columns."""

    def __init__(self, table: np.ndarray | Table, bias: np.ndarray, columns: np.ndarray | None = None) -> None:
        self.columns = columns
        self.table = table if columns is None else table[columns]
        self.bias = bias if columns is None else bias[columns]

    def search(self, codes: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        places, scores = top_k(codes, self.table, self.bias, k)
        return (places if self.columns is None else self.columns[places]), scores


class UsearchIndex:
    """Walks a graph in which every label is linked to those whose vectors are like its own.

    A label's vector is its row of the table with the bias behind it, a query the code with a 1 behind it: their inner
    product is the score. (To make all vectors equally long first, as is often advised, loses most of the recall here.)

    expansion : how many labels a search keeps in sight; more of them cost time and raise recall.
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
        wider = min(
            k + 8 + k // 4, len(self.bias)
        )  # float16 may confuse the last places; exact scores then settle them
        found = self.graph.search(_with(codes, np.ones(len(codes), dtype=np.float32)), wider, threads=1)
        keys = np.atleast_2d(found.keys)
        counts = found.counts if len(codes) != 1 else np.array([len(found)])  # usearch's answer to one row is another
        there = (np.arange(keys.shape[1]) < counts[:, None]) & (keys < len(self.bias))
        columns = np.where(there, keys, len(self.bias)).astype(np.int32)
        columns.sort(axis=1)  # equal scores go in the order of columns, as in `top_k`
        there = columns < len(self.bias)
        columns[~there] = 0
        starts = np.arange(len(columns) + 1, dtype=np.int64) * columns.shape[1]
        scores = inner_products(starts, columns.ravel(), codes, self.table, self.bias)
        scores[~there.ravel()] = -np.inf
        columns[~there] = -1
        return keep_largest(starts, columns.ravel(), scores, k)

    def over(self, table: np.ndarray | Table, bias: np.ndarray) -> UsearchIndex:
        """The same graph, with scores from another table: the same one at another precision."""
        index = copy(self)
        index.table, index.bias = table, bias
        return index

    def tuned(self, codes: np.ndarray, k: int, wanted: float) -> float:
        """Widen the search until it finds this share of the k best labels of some codes; gives the share found."""
        exact = ExactIndex(self.table, self.bias).search(codes, k)[0]
        self.expansion = max(k, 16)
        while (found := recall(self.search(codes, k)[0], exact)) < wanted and self.expansion < _MOST_EXPANSION:
            self.expansion *= 2
        return found

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            "graph": np.frombuffer(self.graph.save(), dtype=np.uint8),
            "expansion": np.array(self.expansion, dtype=np.int64),
        }

    @classmethod
    def restore(cls, arrays: dict[str, np.ndarray], table: np.ndarray | Table, bias: np.ndarray) -> Self:
        """The index that `arrays` came from; the graph is used in place, not copied."""
        usearch = _usearch()
        said = usearch.Index.metadata(arrays["graph"])
        if said is None or (said["dimensions"], said["count_present"]) != (table.shape[1] + 1, len(table)):
            raise ModelFileError("the model's label index does not fit its labels; build it again with `rankae index`")
        index = cls(usearch.Index.restore(arrays["graph"], view=True), table, bias)
        index._buffer = arrays["graph"]  # which usearch reads but does not keep alive
        index.expansion = int(arrays["expansion"])
        return index


def measured_index(
    table: np.ndarray | Table, bias: np.ndarray, codes: np.ndarray, k: int, wanted: float, threads: int
) -> tuple[UsearchIndex, dict[str, Any]]:
    """An index that finds the wanted share of the k best labels of these codes, and what it cost and what it gives."""
    k, began = min(k, len(bias)), perf_counter()
    index = UsearchIndex.build(table, bias, threads=threads)
    built = perf_counter() - began
    found = index.tuned(codes, k, wanted)
    return index, {
        f"recall@{k}": round(found, 4),
        "expansion": index.expansion,
        "build_seconds": round(built, 2),
        "rows": len(codes),
        "exact_us": round(_microseconds(ExactIndex(table, bias), codes, k), 1),
        "index_us": round(_microseconds(index, codes, k), 1),
    }


def _microseconds(index: LabelIndex, codes: np.ndarray, k: int) -> float:
    """The time of one search after the other, as a server has them, a row."""
    began = perf_counter()
    for i in range(len(codes)):
        index.search(codes[i : i + 1], k)
    return (perf_counter() - began) / max(1, len(codes)) * 1e6


def made_up_rows(label_counts: np.ndarray, rows: int, seed: int) -> sp.csr_matrix:
    """Label rows that nobody wrote, three labels each, in which labels are as frequent as they were in training."""
    chance = label_counts / max(1, label_counts.sum())
    drawn = np.random.default_rng(seed).choice(len(chance), (rows, 3), p=chance if chance.any() else None)
    together = (np.ones(drawn.size, np.float32), (np.repeat(np.arange(rows), 3), drawn.ravel()))
    matrix = sp.csr_matrix(together, shape=(rows, len(chance)))
    matrix.data[:] = 1
    return matrix


def recall(found: np.ndarray, exact: np.ndarray) -> float:
    """The share of each row's exact labels that were found, on average; both int32 rows x k, padded with -1."""
    hits = [len(np.intersect1d(a[a >= 0], b)) / max(1, len(b)) for a, b in zip(found, exact, strict=True)]
    return float(np.mean(hits))


def _with(vectors: np.ndarray, last: np.ndarray) -> np.ndarray:
    return np.concatenate([vectors, last[:, None]], axis=1, dtype=np.float32)


def _usearch() -> Any:
    try:
        from usearch import index
    except ImportError:
        raise MissingExtra("an approximate index of labels", "ann") from None
    return index
