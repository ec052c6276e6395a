"""A look at every link of a label graph before the library walks it, for it trusts what it reads.

usearch 2 writes vectors, a header, the level of every node, then the nodes: a key, a level, the links of level 0, and
the links of each level above. A link must name a node that has the level on which it is followed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankae.errors import ModelFileError

_REFUSED = "the model's label index is damaged, forged or of another version of usearch; build it anew: `rankae index`"
_HEADER = 64
_KINDS = bytes([105, 12, 14, 15])  # inner product, float16, keys of 64 bits, slots of 32
_KEY = 8
_MOST_LEVELS = 64
_MOST_LINKS = 1024
_BLOCK = 1 << 16  # nodes that are looked at together


@dataclass(frozen=True)
class _Graph:
    """Levels of the nodes, where each begins, and how many links a node may have on level 0 and above."""

    blob: np.ndarray
    levels: np.ndarray
    starts: np.ndarray
    links: int
    base_links: int


def check_graph(blob: np.ndarray, labels: int, dimensions: int) -> None:
    """Refuse bytes that are no sound graph of so many vectors of so many float16 numbers."""
    try:
        _check(blob, labels, dimensions)
    except (ValueError, IndexError, OverflowError):  # of a part that is not there
        raise ModelFileError(_REFUSED) from None


def _check(blob: np.ndarray, labels: int, dimensions: int) -> None:
    vectors = _numbers(blob, 8, labels * dimensions, np.float16)
    at = 8 + vectors.nbytes
    header = blob[at : at + _HEADER]
    sizes = _numbers(header, 17, 3, np.uint64).tolist()
    index = _numbers(blob, at + _HEADER, 5, np.uint64).tolist()
    _ask(_numbers(blob, 0, 2, np.uint32).tolist() == [labels, 2 * dimensions])
    _ask(header[:7].tobytes() == b"usearch" and int(_numbers(header, 7, 1, np.uint16)[0]) == 2)
    _ask(header[13:17].tobytes() == _KINDS and sizes == [labels, 0, dimensions] and not header[41])
    _ask(bool(np.isfinite(vectors).all()))
    size, links, base_links, highest, entry = index
    _ask(size == labels and 0 < links <= _MOST_LINKS and 0 < base_links <= _MOST_LINKS and entry < labels)
    at += _HEADER + 40
    levels = _numbers(blob, at, labels, np.int16).astype(np.int64)
    _ask(bool((levels >= 0).all()) and levels.max() == highest == levels[entry] and highest < _MOST_LEVELS)
    base, above = _KEY + 2 + 4 * (1 + base_links), 4 * (1 + links)
    ends = at + levels.size * 2 + np.cumsum(base + above * levels)
    _ask(int(ends[-1]) == blob.size)
    graph = _Graph(blob, levels, ends - base - above * levels, links, base_links)
    nodes = np.arange(labels)
    for level in range(highest + 1):
        there = nodes[levels >= level]
        for start in range(0, len(there), _BLOCK):
            _check_links(graph, there[start : start + _BLOCK], level)


def _check_links(graph: _Graph, nodes: np.ndarray, level: int) -> None:
    starts, most = graph.starts[nodes], graph.base_links
    if level == 0:
        _ask(bool((_gather(graph.blob, starts + _KEY, 2).view(np.int16)[:, 0] == graph.levels[nodes]).all()))
        at = starts + _KEY + 2
    else:
        at = starts + _KEY + 2 + 4 * (1 + graph.base_links) + 4 * (1 + graph.links) * (level - 1)
        most = graph.links
    records = _gather(graph.blob, at, 4 * (1 + most)).view(np.uint32)
    counts, slots = records[:, 0], records[:, 1:]
    _ask(bool((counts <= most).all()))
    linked = slots[np.arange(most) < counts[:, None]]
    _ask(bool((linked < len(graph.levels)).all()) and bool((graph.levels[linked] >= level).all()))


def _gather(blob: np.ndarray, at: np.ndarray, size: int) -> np.ndarray:
    """The bytes from each place on, a line each."""
    return np.ascontiguousarray(blob[at[:, None] + np.arange(size)])


def _numbers(blob: np.ndarray, at: int, count: int, kind: type) -> np.ndarray:
    """So many numbers from a place on, which need not be a multiple of their size."""
    return np.frombuffer(blob[at : at + count * np.dtype(kind).itemsize].tobytes(), dtype=kind, count=count)


def _ask(sound: bool) -> None:
    if not sound:
        raise ModelFileError(_REFUSED)
