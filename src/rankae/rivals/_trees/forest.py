"""Many trees as one set of flat arrays: grown in threads, asked row by row."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import scipy.sparse as sp
from numba import njit

from rankae.progress import track
from rankae.rivals._trees.growth import LEAF, Tree, grow_tree
from rankae.rivals._votes import in_chunks, rank_votes

Forest = Tree  # the trees' arrays end to end; `roots` says where each begins


def grow_forest(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    label_weight: np.ndarray,
    seeds: np.ndarray,
    *,
    most_in_leaf: int,
    labels_per_leaf: int,
    cost: float,
    tolerance: float,
) -> tuple[Forest, np.ndarray]:
    """A tree for each seed, and the node number of every root.

    A row without labels teaches no ranking and is left out.
    """
    labelled = np.flatnonzero(np.diff(labels.indptr))

    def grow(seed: int) -> Tree:
        return grow_tree(
            seed,
            rows.indptr,
            rows.indices,
            rows.data,
            rows.shape[1],
            labels.indptr,
            labels.indices,
            label_weight,
            labelled.copy(),
            most_in_leaf,
            labels_per_leaf,
            cost,
            tolerance,
        )

    with ThreadPoolExecutor(numba.get_num_threads()) as pool:
        trees = list(track(pool.map(grow, seeds.tolist()), "growing trees", total=len(seeds)))
    return _join(trees)


def _join(trees: list[Tree]) -> tuple[Forest, np.ndarray]:
    roots = np.cumsum([0] + [len(tree.child) for tree in trees])[:-1]
    child = [np.where(tree.child == LEAF, LEAF, tree.child + root) for tree, root in zip(trees, roots, strict=True)]

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(tree, name) for tree in trees])

    def joined_starts(name: str) -> np.ndarray:
        return np.cumsum(np.concatenate([[0]] + [np.diff(getattr(tree, name)) for tree in trees]))

    forest = Forest(
        np.concatenate(child).astype(np.int32),
        joined("bias"),
        joined_starts("weight_start"),
        joined("weight_feature"),
        joined("weight_value"),
        joined_starts("label_start"),
        joined("label"),
        joined("label_score"),
    )
    return forest, roots.astype(np.int64)


def ends_in_leaves(forest: Forest) -> bool:
    """Whether every way down a tree ends: children stand behind their parents, and both of them exist."""
    inner = np.flatnonzero(forest.child != LEAF)
    children = forest.child[inner]
    return bool((children > inner).all() and (children + 1 < len(forest.child)).all())


def forest_top(
    forest: Forest, roots: np.ndarray, popular: np.ndarray, rows: sp.csr_matrix, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k labels with the largest mean of leaf vectors: columns and scores, best first."""

    def top(first: int, last: int, columns: np.ndarray, scores: np.ndarray) -> None:
        part = rows[first:last]
        _top(forest, roots, popular, part.indptr, part.indices, part.data, rows.shape[1], columns, scores)

    return in_chunks(top, rows.shape[0], k)


@njit(cache=True, nogil=True)
def _top(forest, roots, popular, row_start, row_feature, row_value, n_features, columns, scores) -> None:
    x = np.zeros(n_features, dtype=np.float32)
    votes = np.zeros(len(popular))
    voted = np.empty(len(popular), dtype=np.int32)
    for i in range(len(row_start) - 1):
        span = slice(row_start[i], row_start[i + 1])
        x[row_feature[span]] = row_value[span]
        n_voted = collect_votes(forest, roots, x, votes, voted)
        rank_votes(votes, voted[:n_voted], popular, columns[i], scores[i])
        x[row_feature[span]] = 0.0


@njit(cache=True, nogil=True)
def collect_votes(forest: Forest, roots: np.ndarray, x: np.ndarray, votes: np.ndarray, voted: np.ndarray) -> int:
    """Add the mean of the leaf vectors of a dense row x to `votes`, list their labels in `voted`; returns how many."""
    n_voted = 0
    for root in roots:
        leaf = _leaf(forest, root, x)
        for e in range(forest.label_start[leaf], forest.label_start[leaf + 1]):
            label = forest.label[e]
            if votes[label] == 0 and n_voted < len(voted):
                voted[n_voted] = label
                n_voted += 1
            votes[label] += forest.label_score[e] / len(roots)
    return n_voted


@njit(cache=True, nogil=True)
def _leaf(forest, node, x) -> int:
    while forest.child[node] != LEAF:
        score = np.float64(forest.bias[node])
        for e in range(forest.weight_start[node], forest.weight_start[node + 1]):
            score += forest.weight_value[e] * x[forest.weight_feature[e]]
        node = forest.child[node] + (1 if score > 0 else 0)
    return node
