"""Label correction: the probability of each label given the observed labels and the leave-one-out scores.

The leave-one-out scores of a row come from a fit that has not seen its labels, so they are independent evidence:

    p = P(observed | score, frequency of the label)     logistic regression over the shortlisted entries
    u = P(not observed | true)                          the missing rate
    v = P(observed | not true)                          the wrong rate
    q = (p - v) / (1 - u - v) = P(true | score)

    y~ = (1 - u) q / p          where the label was observed
         u q / (1 - p)          where it was not

At the highest scores nearly every label is true, so the share that is not observed there estimates the missing rate. At
the lowest scores nearly none is, so the share that is observed there estimates the wrong rate. Only observed and
shortlisted entries can change, so the dense matrix rows x labels is never built.

F and E are fitted again on y~. D is not: under symmetric noise, squared error against the observed labels keeps their
order, and on leave-one-out codes D cannot memorise them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from rankae.components.predictions import CodePredictions
from rankae.data.word_embeddings import WordEmbeddings
from rankae.numerics.shortlist import Shortlist
from rankae.paper.closed_form import WarmStart, warm_start

_MOST_ENTRIES = 200_000  # shortlisted entries that the calibration reads
_SURE_SHARE = 0.03  # the highest scores, as a share of the number of labels, are taken to be true
_FEWEST_SURE = 20
_BINS = 20
_LEAST_SIGNAL = 0.1  # of 1 - u - v; below it, labels carry too little information and are left as they are
_LEAST_LABEL = 0.05  # softer labels are dropped, to keep the matrix sparse
_PULL = 0.5  # weight of the penalty |D - start|^2, in multiples of the mean squared code


@dataclass(frozen=True)
class NoiseRates:
    """missing u = P(not observed | true), wrong v = P(observed | not true)."""

    missing: float
    wrong: float

    @property
    def signal(self) -> float:
        return 1 - self.missing - self.wrong

    def right(self, likely: np.ndarray, observed: np.ndarray | bool) -> np.ndarray:
        """y~ of entries that are observed with probability `likely`."""
        q = np.clip((likely - self.wrong) / self.signal, 0, 1)
        p = np.clip(self.wrong + self.signal * q, 1e-6, 1 - 1e-6)
        return np.where(observed, (1 - self.missing) * q / p, self.missing * q / (1 - p)).astype(np.float32)


def corrected_labels(labels: sp.csr_matrix, start: WarmStart, proposed: int = 40, seed: int = 0) -> sp.csr_matrix:
    """Soft labels within 0 and 1 from observed 0/1 labels and a fit's leave-one-out codes."""
    predicted = CodePredictions(start.loo_codes, start.label_table, np.zeros(labels.shape[1], dtype=np.float32))
    shortlist = Shortlist.union([predicted.propose(min(proposed, labels.shape[1]))])
    carried = Shortlist(labels.indptr.astype(np.int64), labels.indices)
    observed = shortlist.values_of(labels) > 0
    if observed.all() or not observed.any():
        return labels
    scores = predicted.scores(shortlist)
    calibration = _Calibration(labels, scores, shortlist.columns, observed, seed)
    likely = calibration.likely(scores, shortlist.columns)
    rates = noise_rates(likely, observed, labels)
    if rates.signal < _LEAST_SIGNAL:
        return labels
    kept = rates.right(calibration.likely(predicted.scores(carried), carried.columns), True)
    # An observed label of the shortlist is among the carried ones already.
    added = np.where(observed, np.float32(0), rates.right(likely, observed))
    soft = carried.matrix(kept, labels.shape[1]) + shortlist.matrix(added, labels.shape[1])
    soft.data[soft.data < _LEAST_LABEL] = 0
    soft.eliminate_zeros()
    return soft


def noise_rates(likely: np.ndarray, observed: np.ndarray, labels: sp.csr_matrix) -> NoiseRates:
    """The missing rate at the highest scores, the wrong rate at the lowest; entries outside all shortlists count as one
    more bin of low scores."""
    ranked = observed[np.argsort(-likely, kind="stable")]
    missing = 1 - ranked[: max(_FEWEST_SURE, int(_SURE_SHARE * labels.nnz))].mean()
    shares = [share.mean() for share in np.array_split(ranked, _BINS)]
    beyond = labels.shape[0] * labels.shape[1] - len(observed)
    if beyond > len(observed) / _BINS:
        shares.append((labels.nnz - observed.sum()) / beyond)
    return NoiseRates(float(missing), float(min(shares)))


def robust_decoder(codes: np.ndarray, table: np.ndarray, labels: sp.csr_matrix) -> np.ndarray:
    """D [L, h] fitted to the observed labels on leave-one-out codes, with a ridge penalty towards `table`.

    This is Breiman and Friedman's "curds and whey": D shrinks the directions of the code that noise makes unreliable.
    """
    energy = codes.T @ codes
    pull = np.float32(_PULL * np.trace(energy) / len(energy))
    wanted = (labels.T @ codes).T + pull * table.T
    return np.ascontiguousarray(np.linalg.solve(energy + pull * np.eye(len(energy), dtype=np.float32), wanted).T)


def denoised_start(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    code_size: int,
    ridge: float,
    rounds: int,
    proposed: int = 40,
    seed: int = 0,
    folds: Sequence[np.ndarray] = (),
    embeddings: WordEmbeddings | None = None,
    groups: np.ndarray | None = None,
    iterations: int = 12,
) -> WarmStart:
    """The closed-form start (see `warm_start`) after some rounds of correcting labels and fitting again.

    Every round corrects the observed labels anew, with the codes of the previous round's fit.
    """
    options = code_size, ridge, seed, folds, embeddings, groups, iterations
    start = warm_start(rows, labels, *options)
    for _ in range(rounds):
        start = warm_start(rows, corrected_labels(labels, start, proposed, seed), *options)
    return start


class _Calibration:
    """P(observed | score, frequency of the label)."""

    def __init__(
        self, labels: sp.csr_matrix, scores: np.ndarray, columns: np.ndarray, observed: np.ndarray, seed: int
    ) -> None:
        counts = np.bincount(labels.indices, minlength=labels.shape[1])
        self.log_odds = np.log((counts + 0.5) / (labels.shape[0] - counts + 0.5))
        picked = np.random.default_rng(seed).permutation(len(scores))[:_MOST_ENTRIES]
        self.model = LogisticRegression(C=1e3, max_iter=200)
        self.model.fit(self._facts(scores[picked], columns[picked]), observed[picked])

    def likely(self, scores: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self.model.predict_proba(self._facts(scores, columns))[:, 1]

    def _facts(self, scores: np.ndarray, columns: np.ndarray) -> np.ndarray:
        # The square root lets the odds rise faster at the low end than a line would.
        return np.stack([scores, np.sqrt(np.maximum(scores, 0)), self.log_odds[columns]], axis=1)
