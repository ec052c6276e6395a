"""Map scores to probabilities by a monotone function, fitted on rows that the model was not trained on.

    p = P(the row is recorded with the label | score)

Platt scaling (a logistic curve) is the default and suits scores that are nearly log-odds, such as the stacker's.
Isotonic regression with linear interpolation between its steps replaces it if the likelihood of held-out rows is
better. The ranking of labels always follows the scores, so calibration does not change P@k.

If held-out rows support it, a separate curve or map is fitted for each range of ranks (a label that is ranked first was
selected as the maximum, which its score alone does not show), or a map for each band of label frequency. The
probabilities of a row are then made non-increasing along its ranking.

If training labels are missing, p is the probability that a label *is recorded*. With u the rate of missing labels and v
the rate of wrong ones, the label *is right* with probability (p - v) / (1 - u - v), averaged over rates u that differ
from label to label.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import betaincinv

from rankae.base.held_out import HeldOut
from rankae.errors import ModelFileError
from rankae.metrics import standard_error

FEWEST_ROWS = 20  # fewer rows are too few to fit a map
_COVARIATES = ("logistic", "place curves", "none", "place", "frequency")  # from few parameters to many
_PLACES = (1, 3, 10)  # the ranks at which one group ends and the next begins
_POINTS = 201  # of a logistic curve
_BANDS = 4  # of label frequency, with equal numbers of hits
_FEWEST_HITS = 100  # in a group; with fewer, its map would be too uncertain
_SURE_HITS = 0.03  # share of the highest probabilities whose labels are assumed to be right
_FEWEST_SURE = 20
_SHAPE = 2.0  # of the distribution of a rate of noise: the smaller, the more unevenly labels are missing
_RATES = 32  # quantiles that stand for the distribution of a rate of noise


@dataclass(frozen=True)
class Calibration:
    """
    Attributes
    ----------
    covariate : how the map of an entry is chosen: "logistic" or "none" (one curve, or isotonic map, for all), "place
        curves", "place" or "frequency".
    edges : the upper ends of the covariate's groups.
    maps : for each group, ascending scores and their probabilities.
    missing, wrong : estimated P(not recorded | right) and P(recorded | not right).
    rows : the number of rows it was fitted on; 0 if the scores are logits and nothing was fitted.
    """

    covariate: str
    edges: np.ndarray
    maps: list[tuple[np.ndarray, np.ndarray]]
    missing: float = 0.0
    wrong: float = 0.0
    rows: int = 0

    @classmethod
    def fit(cls, held_out: HeldOut, counts: np.ndarray) -> Calibration:
        """Fit on held-out rows; `counts` are the numbers of training rows with each label.

        The covariate is chosen by two-fold cross-validation of the log likelihood.
        """
        hits, places = held_out.hits, _place_edges(held_out.hits)
        candidates = dict.fromkeys(_COVARIATES, np.empty(0))
        candidates |= {"place curves": places, "place": places}
        candidates["frequency"] = _frequency_edges(counts[held_out.columns[hits]])
        likelihoods: dict[str, np.ndarray] = {}
        for covariate, edges in candidates.items():
            if covariate in ("logistic", "none") or len(edges):
                likelihoods[covariate] = _cross_checked(held_out, hits, counts, covariate, edges)
        best = "logistic"
        for covariate in likelihoods:
            gain = held_out.of_groups(likelihoods[covariate] - likelihoods[best])
            if gain.mean() > 2 * standard_error(gain):
                best = covariate
        edges = candidates[best]
        fitted = cls(best, edges, _maps(held_out, hits, counts, best, edges))
        probabilities = fitted.probability(held_out.scores, counts[held_out.columns])
        missing, wrong = noise_rates(probabilities, hits, held_out)
        return cls(best, edges, fitted.maps, missing, wrong, len(held_out))

    @classmethod
    def of_logits(cls) -> Calibration:
        """A calibration for scores that are log-odds, as in older model files, which kept no held-out rows."""
        scores = np.linspace(-12, 12, 97)
        return cls("none", np.empty(0), [(scores, 1 / (1 + np.exp(-scores)))])

    def probability(self, scores: np.ndarray, counts: np.ndarray | None = None) -> np.ndarray:
        """P(recorded) of entries; float32, 0 where the score is -inf.

        Parameters
        ----------
        scores : rows x k, best first; or one row.
        counts : for each entry, the number of training rows with its label.
        """
        scores = np.asarray(scores)
        group = _group(self.covariate, self.edges, scores.shape, counts)
        probabilities = np.zeros(scores.shape, dtype=np.float64)
        for g, (map_scores, map_values) in enumerate(self.maps):
            in_group = np.broadcast_to(group == g, scores.shape)
            probabilities[in_group] = np.interp(scores[in_group], map_scores, map_values)
        probabilities[np.isneginf(scores)] = 0
        if len(self.maps) > 1:  # the maps of different groups may cross
            probabilities = np.minimum.accumulate(probabilities, axis=-1)
        return probabilities.astype(np.float32)

    def true(self, probabilities: np.ndarray) -> np.ndarray:
        """P(right) from P(recorded), by the estimated rates of missing and wrong labels."""
        above = np.asarray(probabilities, dtype=np.float64) - self.wrong
        right = over_rates(self.missing, lambda missing: above / max(1 - missing - self.wrong, 1e-3))
        return right.astype(np.float32)

    def describe(self) -> str:
        """One sentence for `choices_` and the report."""
        if not self.rows:
            return "scores are read as log-odds (nothing was fitted)"
        by = {
            "logistic": "a logistic curve",
            "place curves": "a logistic curve for each place",
            "none": "one isotonic map",
            "place": "a map for each place",
            "frequency": "a map for each label frequency",
        }
        return f"{by[self.covariate]} from {self.rows} held-out rows"

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        sizes = [len(scores) for scores, _ in self.maps]
        settings = {"covariate": self.covariate, "missing": self.missing, "wrong": self.wrong, "rows": self.rows}
        return settings, {
            "edges": np.asarray(self.edges, dtype=np.float64),
            "starts": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            "scores": np.concatenate([scores for scores, _ in self.maps]).astype(np.float64),
            "probabilities": np.concatenate([values for _, values in self.maps]).astype(np.float64),
        }

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Calibration:
        starts, scores, values = arrays["starts"], arrays["scores"], arrays["probabilities"]
        sound = len(starts) == len(arrays["edges"]) + 2 and starts[0] == 0 and starts[-1] == len(scores) == len(values)
        sound = sound and bool((np.diff(starts) > 0).all()) and settings["covariate"] in _COVARIATES
        if not sound or not np.isfinite(scores).all() or values.min() < 0 or values.max() > 1:
            raise ModelFileError("the model's calibration is damaged; train it again")
        maps = [(scores[a:b], values[a:b]) for a, b in pairwise(starts.tolist())]
        rates = float(settings["missing"]), float(settings["wrong"])
        return cls(settings["covariate"], arrays["edges"], maps, *rates, int(settings["rows"]))


def over_rates(mean: float, probability: Callable[[float], np.ndarray]) -> np.ndarray:
    """The mean of a probability over rates of noise drawn from Beta(2, b) with this mean.

    Labels are not missing or wrong evenly. With one rate for all, whatever is more often recorded than that rate allows
    would be right for certain. Two: of 1/2, 1, 2, 4 and one rate, what suits audits of tmdb-plots and debtags best
    (2,000 rows, labels taken out and put in; docs/audit.md).
    """
    mean = min(max(mean, 1e-9), 0.95)
    rates = betaincinv(_SHAPE, _SHAPE * (1 / mean - 1), (np.arange(_RATES) + 0.5) / _RATES)
    values = np.clip(probability(float(rates[0])), 0, 1)
    for rate in rates[1:].tolist():
        values = values + np.clip(probability(rate), 0, 1)
    return values / _RATES


def noise_rates(probabilities: np.ndarray, hits: np.ndarray, held_out: HeldOut) -> tuple[float, float]:
    """Estimate the rates of missing and wrong labels from the two ends of the probabilities.

    Nearly all labels with the highest probabilities are right, so the share of them that is not recorded estimates the
    missing rate. Nearly no label beyond the list is right, so the share of them that is recorded estimates the wrong
    rate. Both are upper bounds, because errors of the model count as noise.
    """
    listed = held_out.columns >= 0
    ranked = hits[listed][np.argsort(-probabilities[listed], kind="stable")]
    sure = max(_FEWEST_SURE, int(_SURE_HITS * held_out.labels.nnz))
    missing = 1 - float(ranked[:sure].mean()) if len(ranked) else 0.0
    beyond = held_out.labels.shape[0] * held_out.labels.shape[1] - len(ranked)
    tail = ranked[len(ranked) // 2 :]
    unlisted = held_out.labels.nnz - int(ranked.sum())
    wrong = (float(tail.sum()) + unlisted) / max(1, len(tail) + beyond)
    return missing, min(wrong, float(tail.mean()) if len(tail) else wrong)


def isotonic_map(
    scores: np.ndarray, right: np.ndarray, weight: np.ndarray | None = None, evidence: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Ascending scores and their probabilities at the two ends of each step of the isotonic regression.

    weight : the number of entries that each score represents; 1 by default.
    evidence : how many independent entries each is worth, at most 1; near-duplicates share what one of them is worth.
    """
    from scipy.optimize import isotonic_regression

    known, place = np.unique(scores.astype(np.float64), return_inverse=True)
    each = np.ones(len(place)) if weight is None else weight.astype(np.float64)
    sizes = np.bincount(place, weights=each)
    fitted = isotonic_regression(np.bincount(place, weights=right * each) / sizes, weights=sizes)
    first = np.asarray(fitted.blocks[:-1])
    total = np.add.reduceat(sizes, first)
    # Add half a hit and half a miss, so that no probability is exactly 0 or 1.
    if evidence is not None:
        total = np.add.reduceat(np.bincount(place, weights=each * evidence), first)
    shares = np.maximum.accumulate((fitted.x[first] * total + 0.5) / (total + 1))
    last = np.append(first[1:], len(known)) - 1
    ends = np.unique(np.concatenate([first, last]))
    return known[ends], shares[np.searchsorted(first, ends, side="right") - 1]


def logistic_map(
    scores: np.ndarray, right: np.ndarray, evidence: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Points on the curve 1 / (1 + exp(-(a score + b))) with a >= 0 of Platt scaling.

    As Platt did, hits count as (n + 1) / (n + 2) and misses as 1 / (m + 2), for n hits and m misses: where scores
    separate them, the likelihood alone would ask for probabilities of 0 and 1. No probability is beyond these two.

    evidence : how many independent entries each is worth, as in `isotonic_map`.
    """
    x, worth = scores.astype(np.float64), np.ones(len(scores)) if evidence is None else evidence
    lowest, highest = 1 / (worth[~right].sum() + 2), 1 - 1 / (worth[right].sum() + 2)
    y = np.where(right, highest, lowest)
    middle, unit = float(x.mean()), float(x.std()) or 1.0
    x = (x - middle) / unit
    share = float(y.mean())
    a, b = 0.0, float(np.log(share / (1 - share)))
    for _ in range(30):  # Newton's method; the likelihood is concave
        p = 1 / (1 + np.exp(-np.clip(a * x + b, -30, 30)))
        slack, curvature = y - p, p * (1 - p) + 1e-9
        gradient = np.array([slack @ x, slack.sum()])
        hessian = np.array([[curvature @ x**2, curvature @ x], [curvature @ x, curvature.sum()]])
        step = np.linalg.solve(hessian + 1e-6 * np.eye(2), gradient)
        step *= min(1.0, 5 / max(1e-9, np.abs(step).max()))
        a, b = a + step[0], b + step[1]
        if np.abs(step).max() < 1e-6:
            break
    grid = np.linspace(x.min(), x.max(), _POINTS) if len(x) else np.zeros(1)
    values = 1 / (1 + np.exp(-np.clip(max(a, 0.0) * grid + b, -30, 30)))
    return grid * unit + middle, np.clip(values, lowest, highest)


def _maps(
    held_out: HeldOut, hits: np.ndarray, counts: np.ndarray, covariate: str, edges: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    listed = np.isfinite(held_out.scores) & (held_out.columns >= 0)
    if not listed.any():
        return [(np.zeros(1), np.full(1, 0.5))] * (len(edges) + 1)
    evidence = np.broadcast_to(held_out.evidence()[:, None], hits.shape)
    if covariate == "logistic":
        return [logistic_map(held_out.scores[listed], hits[listed], evidence[listed])]
    group = np.broadcast_to(_group(covariate, edges, hits.shape, counts[held_out.columns]), hits.shape)
    maps = []
    for g in range(len(edges) + 1):
        own = listed & (group == g)
        own = own if own.any() else listed
        if covariate == "place curves":
            maps.append(logistic_map(held_out.scores[own], hits[own], evidence[own]))
        else:
            maps.append(isotonic_map(held_out.scores[own], hits[own], evidence=evidence[own]))
    return maps


def _group(covariate: str, edges: np.ndarray, shape: tuple[int, ...], counts: np.ndarray | None) -> np.ndarray:
    if covariate in ("place", "place curves"):
        return np.searchsorted(edges, np.arange(shape[-1]), side="right")
    if covariate == "frequency":
        if counts is None:
            raise ValueError("this calibration reads label counts; give them")
        return np.searchsorted(edges, counts, side="right")
    return np.zeros(1, dtype=np.int64)


def _place_edges(hits: np.ndarray) -> np.ndarray:
    """The ranks at which groups end; each group has enough hits."""
    edges: list[int] = []
    for edge in _PLACES:
        before = hits[:, edges[-1] if edges else 0 : edge].sum()
        if min(before, hits[:, edge:].sum()) >= _FEWEST_HITS:
            edges.append(edge)
    return np.array(edges, dtype=np.float64)


def _frequency_edges(counts_of_hits: np.ndarray) -> np.ndarray:
    bands = min(_BANDS, len(counts_of_hits) // _FEWEST_HITS)
    if bands < 2:
        return np.empty(0)
    return np.unique(np.quantile(counts_of_hits, np.arange(1, bands) / bands)) + 0.5


def _cross_checked(
    held_out: HeldOut, hits: np.ndarray, counts: np.ndarray, covariate: str, edges: np.ndarray
) -> np.ndarray:
    """Log likelihood of each row, where each half of the rows uses the maps fitted on the other half."""
    found = np.zeros(len(held_out))
    first = held_out.first_half()
    for learn, check in ((first, ~first), (~first, first)):
        maps = _maps(held_out.taken(learn), hits[learn], counts, covariate, edges)
        own = Calibration(covariate, edges, maps)
        p = own.probability(held_out.scores[check], counts[held_out.columns[check]])
        listed = held_out.columns[check] >= 0
        found[check] = np.where(listed, log_likelihood(p, hits[check]), 0).sum(axis=1)
    return found


def log_likelihood(probabilities: np.ndarray, hits: np.ndarray) -> np.ndarray:
    """Log likelihood of each entry, with probabilities clipped so that it is finite."""
    p = np.clip(probabilities.astype(np.float64), 1e-7, 1 - 1e-7)
    return np.where(hits, np.log(p), np.log1p(-p))
