"""Update a trained stack with new rows and new labels.

    code        recursive least squares: W + dW, with (A'A + X'X + ridge I) dW = X'(Z - X W). A are the old rows that
                the neighbours store; only their words are used. If there are many, a sample of them estimates the
                off-diagonal of A'A, and the diagonal is kept exactly
    new labels  get columns of their own in the code, by the closed form: the singular vectors of the new labels, and
                a ridge regression of these on the new rows alone, because the old rows do not record them. A
                network's D gets the ridge regression of the new labels on its codes
    rankers     the SVMs of known labels are trained again, on the stored old rows and the new ones (see
                `updated_rankers`); those of new labels on the new rows alone
    neighbours  the new rows can vote; words that they do not follow are remembered in `FrequentWords`, without which
                the rankers of known labels would be trained on rows that lack their most frequent words
    network     trains some more epochs, on the new rows alone

The stacker is not changed: one trained on rows with all of these labels ranked no better (docs/desk.md).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
import torch

from rankae.components.closed_form import ClosedForm
from rankae.components.joint_network import JointNetwork
from rankae.components.legacy_network import NetworkComponent
from rankae.components.neighbours import Neighbours
from rankae.components.ranker_weights import RankerWeights
from rankae.components.rankers import Rankers
from rankae.components.stack import Stack
from rankae.components.updated_rankers import updated_rankers
from rankae.numerics.conjugate_gradients import RidgeSolver
from rankae.numerics.singular_vectors import leading_vectors
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.table import Table

_RIDGE = 1.0  # of the regression that gives a network's D its new labels
_OLD_ROWS = (2_000, 10)  # old rows in the sample for A'A: at least, and for each new row
_TINY = 1e-3  # columns shorter than this are rounding errors
_EPOCHS = 3
_MOST_NEW_COLUMNS = 128  # in the code
_SAMPLE = 2_000  # rows that estimate the mean score of a network for right labels and for others


def updated(
    stack: Stack, rows: sp.csr_matrix, labels: sp.csr_matrix, *, ridge: float = 1.0, cost: float = 1.0, seed: int = 0
) -> Stack:
    """The stack after training on some more rows; columns of `labels` beyond those that it knows are new labels.

    ridge, cost : of the code and of the rankers, the same as in their first training.
    """
    if isinstance(stack.rankers, RankerWeights):  # of a shrunk model
        stack = replace(stack, rankers=stack.rankers.rankers())
    known = len(stack.label_counts)
    new_counts = np.bincount(labels.indices, minlength=labels.shape[1]).astype(np.float32)
    counts = new_counts.copy()
    counts[:known] += stack.label_counts
    # The stacker is reliable only for counts in the range that it was trained on.
    met = stack.label_counts[stack.label_counts > 0]
    counts[known:] = (
        np.clip(counts[known:], met.min(initial=np.inf), met.max(initial=0)) if len(met) else counts[known:]
    )
    wide = _with_new_labels(stack, rows, labels, counts, seed)
    neighbours = None if wide.neighbours is None else wide.neighbours.updated(rows, labels)
    rankers = wide.rankers
    if isinstance(rankers, Rankers):
        rankers = updated_rankers(wide, neighbours, rows, labels, stack.label_counts, cost=cost, seed=seed)
    code = _updated_code(wide, rows, labels, ridge, seed)
    new = replace(
        wide,
        code=code,
        network=None if wide.network is None else _updated_network(wide.network, code, rows, labels, seed),
        neighbours=neighbours,
        rankers=rankers,
    )
    # No row is held out here to tell what a coarser precision would cost.
    return new.shrunk("float16") if isinstance(stack.code.word_table, Table) else new


def _with_new_labels(stack: Stack, rows: sp.csr_matrix, labels: sp.csr_matrix, counts: np.ndarray, seed: int) -> Stack:
    """Every component with empty columns for the new labels; its scores of known labels do not change."""
    known, fresh = len(stack.label_counts), labels.shape[1] - len(stack.label_counts)
    if not fresh:
        return replace(stack, label_counts=counts)
    rankers, neighbours, since = stack.rankers, stack.neighbours, stack.first_rows()
    if isinstance(rankers, Rankers):
        empty = sp.csr_matrix((fresh, rankers.weights.shape[1]), dtype=np.float32)
        weights = sp.vstack([rankers.weights, empty], format="csr")
        rankers = Rankers(weights, np.concatenate([rankers.biases, np.full(fresh, -1, np.float32)]))
    if neighbours is not None:
        old = sp.csr_matrix(neighbours.labels)
        wide = sp.csr_matrix((old.data, old.indices, old.indptr), shape=(old.shape[0], labels.shape[1]))
        neighbours = Neighbours(neighbours.search, wide, neighbours.count, neighbours.frequent)
    names = stack.names
    if names is not None and names.shape[1] < labels.shape[1]:  # the caller may have added the names already
        names = names.with_more(sp.csr_matrix((labels.shape[1] - names.shape[1], names.shape[0]), dtype=np.float32))
    return replace(
        stack,
        names=names,
        code=_code_with(stack.code, labels[:, known:], counts, seed),
        network=None if stack.network is None else _network_with(stack, rows, labels),
        neighbours=neighbours,
        rankers=rankers,
        label_counts=counts,
        known_since=np.concatenate([since, np.full(fresh, _next_row(stack), dtype=np.int64)]),
        index=None,  # it was built for fewer labels
    )


def _next_row(stack: Stack) -> int:
    """The index of the first new row; `known_since` of the labels that this update adds."""
    return int(stack.first_rows().max(initial=0)) + 1 if stack.neighbours is None else stack.neighbours.search.size


def _code_with(code: ClosedForm, fresh: sp.csr_matrix, counts: np.ndarray, seed: int) -> ClosedForm:
    """The code with columns for new labels; the word table of these columns is still zero."""
    known, h = code.label_table.shape
    vectors = leading_vectors(fresh, _MOST_NEW_COLUMNS, seed)
    label_table = np.zeros((known + fresh.shape[1], h + vectors.shape[1]), dtype=np.float32)
    label_table[:known, :h], label_table[known:, h:] = code.label_table, vectors
    word_table = np.pad(np.asarray(code.word_table), ((0, 0), (0, vectors.shape[1])))
    residual = dict(code.residual)
    if residual:
        residual["in"] = np.pad(residual["in"], ((0, 0), (0, vectors.shape[1])))
        residual["out"] = np.pad(residual["out"], ((0, vectors.shape[1]), (0, 0)))
    common = code.common
    if common is not None:  # a label is common if it has as many rows as the rarest common one
        least = counts[common].min(initial=np.inf)
        common = np.concatenate([common, known + np.flatnonzero(counts[known:] >= least)]).astype(common.dtype)
    bias = np.concatenate([code.bias, np.zeros(fresh.shape[1], np.float32)])
    return ClosedForm(word_table, label_table, bias, residual, common)


def _label_rows(codes: np.ndarray, labels: sp.csr_matrix) -> np.ndarray:
    """The ridge regression of each label on the codes: labels x h."""
    gram = codes.T.astype(np.float64) @ codes
    gram[np.diag_indices_from(gram)] += _RIDGE * max(np.trace(gram) / len(gram), 1e-6) * 0.1
    return np.linalg.solve(gram, (labels.T @ codes).T).T.astype(np.float32)


def _updated_code(stack: Stack, rows: sp.csr_matrix, labels: sp.csr_matrix, ridge: float, seed: int) -> ClosedForm:
    """The code after these rows; columns of labels that an update added use only the rows since that update."""
    code, neighbours = stack.code, stack.neighbours
    # D may have been fine-tuned, so the target code of a row is computed from D, not from the label table.
    label_table = np.asarray(code.label_table)
    target = labels @ np.linalg.pinv(label_table).T if code.residual else sparse_product(labels, label_table)
    wanted = np.asarray(target, dtype=np.float32) - sparse_product(rows, code.word_table)
    word_table = np.array(code.word_table, dtype=np.float32)
    since = stack.first_rows()[np.abs(label_table).argmax(0)]  # of each column
    most = max(_OLD_ROWS[0], _OLD_ROWS[1] * rows.shape[0])
    for first in np.unique(since):
        columns = np.flatnonzero(since == first)
        old = _old_rows(neighbours, rows.shape[1], most, seed, first)
        nothing_left = np.zeros((old.shape[0], len(columns)), dtype=np.float32)
        together = sp.vstack([old, rows], format="csr", dtype=np.float32)
        word_table[:, columns] += RidgeSolver(together, ridge).solve(np.vstack([nothing_left, wanted[:, columns]]))
    return ClosedForm(word_table, code.label_table, code.bias, code.residual, code.common)


def _old_rows(neighbours: Neighbours | None, words: int, most: int, seed: int, first: int) -> sp.csr_matrix:
    """A sample of the rows that the neighbours store, from the row `first` on.

    The rows outside the sample are replaced by one row per word, of the same total squared weight: the diagonal of
    A'A stays exact. Words too frequent for the neighbours to store get the weight of the most frequent stored word.
    Without neighbours there are no rows.
    """
    if neighbours is None or first >= neighbours.search.size:
        return sp.csr_matrix((0, words), dtype=np.float32)
    old = neighbours.remembered()[first:]
    squares = _column_squares(old)
    if neighbours.frequent is None:
        squares[~neighbours.search.followed] = squares.max(initial=0.0)
    if old.shape[0] > most:
        old = old[np.sort(np.random.default_rng(seed).permutation(old.shape[0])[:most])]
    rest = np.sqrt(np.maximum(squares - _column_squares(old), 0)).astype(np.float32)
    longer = np.flatnonzero(rest > _TINY)
    of_words = sp.csr_matrix((rest[longer], (np.arange(len(longer)), longer)), shape=(len(longer), words))
    return sp.vstack([old, of_words], format="csr", dtype=np.float32)


def _column_squares(rows: sp.csr_matrix) -> np.ndarray:
    return np.bincount(rows.indices, np.square(rows.data, dtype=np.float64), minlength=rows.shape[1])


def _network_with(stack: Stack, rows: sp.csr_matrix, labels: sp.csr_matrix) -> JointNetwork | NetworkComponent:
    """The network with a row of D for each new label, scaled to the range of its scores of known labels."""
    component = stack.network
    if isinstance(component, JointNetwork):
        predicted = component.predict(rows, stack.code.linear_codes(rows))
        vectors, biases = _rows_of_new_labels(predicted.codes, np.asarray(predicted.table), predicted.bias, labels)
        return component.with_labels(vectors, biases)
    assert component is not None
    members = []
    for member, gates in zip(component.members, component._gates, strict=True):
        grown = type(member)(len(member.word_vectors), labels.shape[1], component.settings)
        values = dict(member.state_dict())
        with torch.no_grad():
            codes = component._codes(member, gates, rows)
            table, bias = values["label_vectors"].cpu().numpy(), values["label_bias"].cpu().numpy()
            vectors, biases = _rows_of_new_labels(codes, table, bias, labels)
            values["label_vectors"] = torch.cat([values["label_vectors"], torch.from_numpy(vectors)])
            values["label_bias"] = torch.cat([values["label_bias"], torch.from_numpy(biases)])
        grown.load_state_dict(values)
        members.append(grown.to(component.settings.device).eval())
    return NetworkComponent(members, component.settings)


def _rows_of_new_labels(
    codes: np.ndarray, table: np.ndarray, bias: np.ndarray, labels: sp.csr_matrix
) -> tuple[np.ndarray, np.ndarray]:
    """Vectors and biases in D for the labels beyond those of `table`, from the codes of rows that carry them."""
    known, sample = len(bias), np.arange(len(codes))[:_SAMPLE]
    scores = codes[sample] @ table.T + bias
    carried = labels[sample][:, :known].toarray() > 0
    low = float(np.median(scores))
    high = float(scores[carried].mean()) if carried.any() else low + 1
    mean = codes.mean(0)
    vectors = _label_rows(codes - mean, labels[:, known:]) * np.float32(high - low)
    shares = np.asarray(labels[:, known:].mean(0), dtype=np.float32).ravel()
    biases = np.float32(low) + (high - low) * shares - vectors @ mean
    return vectors, biases.astype(np.float32)


def _updated_network(
    component: JointNetwork | NetworkComponent, code: ClosedForm, rows: sp.csr_matrix, labels: sp.csr_matrix, seed: int
) -> JointNetwork | NetworkComponent:
    """The linear path follows the code and the other weights train a little; networks of older files do not change."""
    if not isinstance(component, JointNetwork):
        return component
    return component.trained_further(rows, code.linear_codes(rows), labels, epochs=_EPOCHS, seed=seed)
