"""From scores to the probability that a label is wrong or missing.

    p = P(recorded | what models and the row's other labels say)    over all cells of the label matrix
    u = P(not recorded | right)          the missing rate
    v = P(recorded | not right)          the rate at which cells that are not right carry the label
    q = (p - v) / (1 - u - v)            P(right | the same)

    wrong    v (1 - q) / p               of a recorded label
    missing  u q / (1 - p)               of a label that is not recorded

p is learnt by boosted trees. u is read off the highest scores, where nearly every label is right; v off the lowest p,
where nearly none is. How many those are is found by the share that is least up to its own chance (best bin estimation,
Garg and others 2021). Rows that nobody can predict count as noise, so both are upper bounds. u is read off scores, not
off p: labels that others imply are seldom missing, and would tell too little of the rest.

Labels are not missing or wrong evenly: of what p is surest of, fewer labels are missing than u says. So a cell's own u
(or v) is taken to be drawn from a distribution with that mean (`over_rates`). With one u for all cells, every label
with p > 1 - u would be missing for certain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from rankae.audit.co_occurrence import co_occurrence
from rankae.audit.out_of_fold import Entries
from rankae.base.calibration import over_rates

_FEWEST_SURE = 50  # of the surest cells
_FEWEST_LOW = 1000  # of the least sure cells
_MOST_LOW = 0.9  # of all cells
_PARTS = 5
_MOST_LEARNT = 400_000  # entries that the trees of a part learn from
_TRIED = 500  # shares that are looked at
_Z, _Z_OF_MANY = 1.96, 4.0


@dataclass(frozen=True)
class Rate:
    """A share, and the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    def rounded(self) -> dict[str, float]:
        return {"rate": round(self.value, 4), "low": round(self.low, 4), "high": round(self.high, 4)}


@dataclass(frozen=True)
class NoiseModel:
    """
    missing : of the labels that are right, the share that is not recorded (u).
    wrong : of the labels that are recorded, the share that is not right.
    cell : of the cells that are not right, the share that is recorded (v).

    Probabilities take the middles of the intervals: a rate of 0 would say that no label can be wrong or missing.
    """

    missing: Rate
    wrong: Rate
    cell: Rate

    def is_wrong(self, p: np.ndarray) -> np.ndarray:
        """Probability that a recorded label is not right."""
        share = (1 - self.right(p)) / np.maximum(p, 1e-9)
        return over_rates(self.cell.middle, lambda v: v * share)

    def is_missing(self, p: np.ndarray) -> np.ndarray:
        """Probability that a label that is not recorded is right."""
        share = self.right(p) / np.maximum(1 - p, 1e-9)
        return over_rates(self.missing.middle, lambda u: u * share)

    def right(self, p: np.ndarray) -> np.ndarray:
        """q, from p."""
        signal = max(1 - self.missing.middle - self.cell.middle, 0.05)
        return np.clip((p - self.cell.middle) / signal, 0, 1)


def probabilities(entries: Entries, labels: sp.csr_matrix, seed: int = 0) -> np.ndarray:
    """P(recorded) of each entry, by trees that have learnt from other rows.

    They read what the scores come from, and what the row's other labels say. Models never learn to order what is
    unlikely, for nothing unlikely is on a shortlist; the trees learn it from the sample of all cells. Its weights would
    make their first steps too long, so they learn without, and what they say of cells like those is corrected.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(seed)
    part = rng.integers(0, _PARTS, labels.shape[0])
    others = co_occurrence(entries.rows, entries.columns, labels, part)
    facts = np.column_stack([entries.facts, entries.listed, others])
    part_of_entry = part[entries.rows]
    found = np.zeros(len(facts))
    for own in range(_PARTS):
        mine = part_of_entry == own
        if not mine.any():
            continue
        learn = rng.permutation(np.flatnonzero(~mine))[:_MOST_LEARNT]
        if entries.observed[learn].all() or not entries.observed[learn].any():
            found[mine] = entries.observed[learn].mean() if len(learn) else 0
            continue
        trees = HistGradientBoostingClassifier(
            max_iter=min(150, 40 + len(learn) // 200),  # few entries need few trees
            learning_rate=0.08,
            max_leaf_nodes=15,
            min_samples_leaf=min(100, 1 + len(learn) // 50),
            l2_regularization=1.0,
            early_stopping=False,
            random_state=seed,
        )
        trees.fit(facts[learn], entries.observed[learn])
        found[mine] = trees.predict_proba(facts[mine])[:, 1]
    return found / (found + (1 - found) * _cells_for_each(entries))


def _cells_for_each(entries: Entries) -> np.ndarray:
    """For each entry, how many unrecorded cells of its row stand behind one that is like it: 1 on the shortlist."""
    sample = ~entries.listed & ~entries.observed
    size = int(entries.rows.max()) + 1
    count = np.bincount(entries.rows[sample], minlength=size)
    total = np.bincount(entries.rows[sample], weights=entries.weight[sample], minlength=size)
    of_row = np.where(count > 0, total / np.maximum(count, 1), total.sum() / max(1, count.sum()))
    return np.where(entries.listed, 1, np.maximum(1, of_row[entries.rows]))


def noise_model(entries: Entries, p: np.ndarray, cells: int) -> NoiseModel:
    """The rates, from all entries; `cells` is rows x labels."""
    recorded = int(entries.observed.sum())
    # From above: what is not recorded among the surest cells, at most as many as there are recorded labels.
    falling = np.argsort(np.where(entries.listed, -entries.scores, np.inf), kind="stable")[: entries.listed.sum()]
    u = _least_share(~entries.observed[falling], np.ones(len(falling)), _FEWEST_SURE, recorded)
    # From below: what is recorded among the least sure cells. Where these are nearly all, right labels are among them.
    rising = np.argsort(p, kind="stable")
    weight = entries.weight[rising].astype(np.float64)
    v = _least_share(entries.observed[rising].astype(np.float64), weight, _FEWEST_LOW, _MOST_LOW * weight.sum())
    # Cells that are not right: all but the recorded that are right and what is missing of them.
    right = recorded - v.value * cells
    not_right = cells - max(0.0, right) / max(0.05, 1 - u.value)
    share = not_right / max(1, recorded)
    wrong = Rate(*(min(1.0, float(x * share)) for x in (v.value, v.low, v.high)))
    most = recorded / cells
    return NoiseModel(u, wrong, Rate(*(min(most, x) for x in (v.value, v.low, v.high))))


def _least_share(counted: np.ndarray, cells: np.ndarray, fewest: float, most: float) -> Rate:
    """The least share of counted cells among the first ones, however many those are, by its upper limit.

    fewest, most : of cells, between which the share is looked at.
    """
    hits, total = np.cumsum(counted), np.cumsum(cells)
    places = np.flatnonzero((total >= fewest) & (total <= most))
    if not len(places):
        places = np.array([min(len(total) - 1, int(fewest))])
    places = np.unique(places[np.linspace(0, len(places) - 1, _TRIED).astype(np.int64)])
    # One of many shares is low by luck, so the least one is looked for with wider intervals than it is told with.
    best = min(places, key=lambda place: wilson(float(hits[place]), float(total[place]), _Z_OF_MANY).high)
    return wilson(float(hits[best]), float(total[best]))


def wilson(hits: float, n: float, z: float = _Z) -> Rate:
    """A share of n, with Wilson's interval."""
    if n <= 0:
        return Rate(0.0, 0.0, 1.0)
    share = hits / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return Rate(float(share), float(max(0.0, centre - half)), float(min(1.0, centre + half)))


def rates_of_labels(
    entries: Entries, p: np.ndarray, noise: NoiseModel, labels: int, fewest: int = 30
) -> dict[int, dict[str, Rate]]:
    """Missing and wrong rates of each label that at least `fewest` rows carry: expected numbers of such labels.

    Their intervals hold for the rows' own chance, given that the probabilities are right.
    """
    seen = entries.observed
    wrong, missing = noise.is_wrong(p), noise.is_missing(p)
    columns = entries.columns
    counts = np.bincount(columns[seen], minlength=labels)

    def total(values: np.ndarray, of: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        own = values[of] if weight is None else values[of] * weight[of]
        return np.bincount(columns[of], weights=own, minlength=labels)

    expected_wrong, spread_wrong = total(wrong, seen), total(wrong * (1 - wrong), seen)
    expected, spread = (total(x, ~seen, entries.weight) for x in (missing, missing * (1 - missing)))
    found: dict[int, dict[str, Rate]] = {}
    for label in np.flatnonzero(counts >= fewest):
        right = counts[label] - expected_wrong[label]
        found[int(label)] = {
            "missing": _expected(expected[label], spread[label], right + expected[label]),
            "wrong": _expected(expected_wrong[label], spread_wrong[label], counts[label]),
        }
    return found


def _expected(count: float, variance: float, of: float) -> Rate:
    half = _Z * float(np.sqrt(variance))
    of = max(of, 1e-9)
    return Rate(float(count / of), float(max(0.0, (count - half) / of)), float(min(1.0, (count + half) / of)))
