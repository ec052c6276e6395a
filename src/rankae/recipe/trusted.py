"""Training with trusted rows: further rows with clean labels, for training rows whose labels are missing or wrong.

The components are trained on the training rows only. The trusted rows take the place of the held-out rows: they choose
the ridge, the rounds of label correction, the epoch of tuning and the cost of the rankers, they correct D, and the
stacker is trained on them. Every component is therefore trained once, not once more for each fold.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import choice
from rankae.base.held_out import HeldOut
from rankae.components.closed_form import ClosedForm
from rankae.components.joint_network import JointNetwork
from rankae.components.ranker_weights import RankerWeights
from rankae.components.rankers import Rankers, random_negatives
from rankae.components.registry import PlainComponent
from rankae.components.stack import ScoredShortlist, Stack
from rankae.data.near_duplicates import novel_rows
from rankae.data.word_embeddings import WordEmbeddings
from rankae.errors import DataError
from rankae.metrics import precisions, row_merits
from rankae.numerics.shortlist import Shortlist
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.top_k import top_k
from rankae.paper.closed_form import WarmStart, warm_start
from rankae.recipe import rules
from rankae.recipe.label_correction import corrected_labels, robust_decoder
from rankae.recipe.network_component import train_network
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings, enough_code, enough_proposed
from rankae.recipe.start_choice import StartChoice, best_embeddings
from rankae.recipe.start_codes import closed_form
from rankae.recipe.steps import State
from rankae.recipe.task import Task
from rankae.recipe.trusted_decoder import best_decoder, trusted_folds
from rankae.recipe.votes import Votes

FEWEST_TRUSTED = 20


@dataclass(frozen=True)
class Trusted:
    """Trusted rows and their labels, with the columns of the training rows."""

    rows: sp.csr_matrix
    labels: sp.csr_matrix

    def __post_init__(self) -> None:
        if self.rows.shape[0] != self.labels.shape[0]:
            raise DataError(f"there are {self.rows.shape[0]} trusted rows but {self.labels.shape[0]} rows of labels")
        if self.rows.shape[0] < FEWEST_TRUSTED:
            raise DataError(f"{self.rows.shape[0]} trusted rows cannot choose; give at least {FEWEST_TRUSTED}, or none")

    def __len__(self) -> int:
        return self.labels.shape[0]

    def novel(self, rows: sp.csr_matrix) -> np.ndarray:
        """Indices of the rows without a near-duplicate among the training rows, or of all rows if these are too few.

        Near-duplicates of training rows would favour settings that memorise.
        """
        places = novel_rows(self.rows, among=rows)
        return places if len(places) >= FEWEST_TRUSTED else np.arange(len(self))

    def taken(self, places: np.ndarray) -> Trusted:
        return Trusted(self.rows[places], self.labels[places])


def chosen_by_trusted(
    rows: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings, trusted: Trusted,
    candidates: Sequence[WordEmbeddings | None], training: Training,
) -> StartChoice:  # fmt: skip
    """The ridge, rounds of label correction and word embeddings whose closed-form start ranks trusted rows best."""
    began = time.perf_counter()
    size = settings.code_size or enough_code(labels, settings.effort)
    proposed = settings.proposed or enough_proposed(labels, settings.effort)
    ridges = rules.TRUSTED_RIDGES if settings.ridge is None else (settings.ridge,)
    rounds = range(rules.MOST_ROUNDS + 1) if settings.noise_rounds is None else (settings.noise_rounds,)
    merits: dict[WordEmbeddings | None, float] = dict.fromkeys(candidates, 0.0)
    trusted = trusted.taken(trusted.novel(rows))
    if len(candidates) > 1:
        precisions = {
            candidate: trusted_precision(rows, labels, trusted, ridges, settings.seed, candidate)
            for candidate in candidates
        }
        merits = {candidate: float(per_row.mean()) for candidate, per_row in precisions.items()}
    embeddings, embedding_choice = best_embeddings(merits)
    tried: dict[tuple[float, int], dict[str, float]] = {}
    halves = trusted_folds(len(trusted), 2)
    for ridge in ridges:
        start = warm_start(rows, labels, size, ridge, settings.seed, embeddings=embeddings)
        for done in range(max(rounds) + 1):
            if done:
                soft = corrected_labels(labels, start, proposed, settings.seed)
                start = warm_start(rows, soft, size, ridge, settings.seed, embeddings=embeddings)
            if done in rounds:
                table = robust_decoder(start.loo_codes, start.label_table, labels) if done else start.label_table
                component = ClosedForm(start.word_table, table, np.zeros(len(table), dtype=np.float32), {})
                codes = sparse_product(trusted.rows, start.word_table)
                tried[ridge, done] = best_decoder(component, codes, trusted.labels, halves, (0.1,)).figures
    ridge, done = max(tried, key=lambda pair: sum(tried[pair].values()))
    training.evidence |= {f"ridge {pair[0]:g}, {pair[1]} rounds": figures for pair, figures in tried.items()}
    training.timed("choice of ridge", began)
    chosen = {"ridge": ridge, "noise_rounds": done}
    choices = {
        name: choice(name, value, f"best on {len(trusted)} trusted rows")
        for name, value in chosen.items()
        if getattr(settings, name) is None
    }
    return StartChoice(ridge, done, embeddings, choices | embedding_choice)


def trusted_precision(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    trusted: Trusted,
    ridges: Sequence[float] = rules.TRUSTED_RIDGES,
    seed: int = 0,
    embeddings: WordEmbeddings | None = None,
) -> np.ndarray:
    """The precision of each trusted row by the closed-form start with the best ridge: the mean of its P@1, P@3, P@5.

    As in `leave_one_out_precision`, a short code is enough to compare settings.
    """
    per_ridge = []
    for ridge in ridges:
        start = warm_start(rows, labels, rules.SHORT_CODE, ridge, seed, embeddings=embeddings)
        top = top_k(sparse_product(trusted.rows, start.word_table), start.label_table, None, 5)[0]
        per_ridge.append(row_merits(top, trusted.labels))
    return max(per_ridge, key=np.mean)


class TrustedRows:
    """Trusted rows as validation rows: components are trained once, on all training rows.

    Only D is corrected on trusted rows, so only D needs a copy without each fold of them for out-of-fold scores.
    """

    def __init__(self, task: Task, votes: Votes | None, trusted: Trusted) -> None:
        self.task, self.votes, self.trusted = task, votes, trusted
        self.folds = trusted_folds(len(trusted))
        places = np.concatenate(self.folds)
        self.rows, self.labels = trusted.rows[places], trusted.labels[places]
        self.learnable, self.groups = np.ones(len(places), dtype=bool), None

    def label_counts(self) -> np.ndarray:
        return likely_counts(self.task.labels, self.trusted.labels)

    def fit_code(self) -> tuple[ClosedForm, np.ndarray]:
        values, arrays = self.task.steps.take("code", self._tuned_code)
        loo_codes = arrays.pop("loo_codes")
        self.loo_codes = loo_codes
        self.trained_code = code = ClosedForm.from_state(values, arrays)
        began = time.perf_counter()
        codes = sparse_product(self.trusted.rows, code.word_table)
        self.decoded = best_decoder(code, codes, self.trusted.labels, self.folds)
        self.task.training.timed("decoder", began)
        return self.decoded.component, loo_codes

    def _tuned_code(self) -> State:
        settings, trusted = self.task.settings, self.trusted
        start, (code,) = closed_form(self.task, [])
        if settings.tuning:
            began = time.perf_counter()
            codes = np.vstack([start.loo_codes, sparse_product(trusted.rows, start.word_table)])
            code = code.tuned(
                codes,
                sp.vstack([self.task.labels, trusted.labels], format="csr"),
                check=np.arange(len(start.loo_codes), len(codes)),
                epochs=settings.tuning_epochs,
                seed=settings.seed,
            )
            self.task.training.timed("tuning", began)
        values, arrays = code.state()
        return values, arrays | {"loo_codes": start.loo_codes}

    def ranked_by_code(self, k: int) -> HeldOut:
        ranked = [
            code.predict_codes(sparse_product(self.trusted.rows[fold], code.word_table)).best(k)
            for fold, code in zip(self.folds, self.decoded.without, strict=True)
        ]
        columns, scores = (np.concatenate(parts) for parts in zip(*ranked, strict=True))
        return HeldOut(columns, scores, self.labels)

    def fit_network(self) -> JointNetwork:
        began, code = time.perf_counter(), self.trained_code
        start = WarmStart(code.word_table, code.label_table, self.loo_codes, self.task.settings.ridge)
        network = train_network(self.task, "network", start, validation=(self.trusted.rows, self.trusted.labels))
        self.task.training.timed("network", began)
        return network

    def fit_plain(self, name: str, kind: type[PlainComponent]) -> Any:
        return self.task.fit_plain(name, kind)

    def fit_rankers(self, stack: Stack) -> Rankers:
        began = time.perf_counter()
        rankers = Rankers.from_state(*self.task.steps.take("rankers", lambda: self._rankers(stack)))
        self.task.training.timed("rankers", began)
        return rankers

    def _rankers(self, stack: Stack) -> State:
        """Rankers of the cost with the best precision on the shortlists of the trusted rows."""
        task, settings = self.task, self.task.settings
        proposals = [stack.code.predict_codes(self.loo_codes).propose(settings.proposed)]
        if self.votes is not None:
            proposals.append(self.votes.proposed(settings.proposed))
        proposals.append(random_negatives(task.labels, settings.random_negatives, settings.seed))
        shortlist = Shortlist.union(proposals)
        listed = stack.candidates(self.trusted.rows).shortlist
        costs = rules.TRUSTED_COSTS if settings.ranker_cost is None else (settings.ranker_cost,)
        tried: dict[float, tuple[float, Rankers]] = {}
        for cost in costs:
            rankers = Rankers.train(task.rows, task.labels, shortlist, cost=cost, seed=settings.seed)[0]
            best = listed.best(RankerWeights.of(rankers).scores(self.trusted.rows, listed), 5)[0]
            tried[cost] = sum(precisions(best, self.trusted.labels).values()), rankers
        cost = max(tried, key=lambda c: tried[c][0])
        if len(tried) > 1:
            merits = {c: merit for c, (merit, _) in tried.items()}
            reason = f"best on {len(self.trusted)} trusted rows"
            task.training.choices["ranker_cost"] = choice("ranker_cost", cost, reason, merits)
        return tried[cost][1].state()

    def score(self, stack: Stack) -> ScoredShortlist:
        pairs = zip(self.folds, self.decoded.without, strict=True)
        return ScoredShortlist.stacked(
            [replace(stack, code=code).candidates(self.trusted.rows[fold]) for fold, code in pairs]
        )


def likely_counts(labels: sp.csr_matrix, trusted: sp.csr_matrix) -> np.ndarray:
    """Estimated number of training rows that truly have each label, from noisy and trusted labels.

    Noise maps a label's frequency f to v + s f, with the same v and s for all labels (v is the rate of wrong labels,
    and s is 1 without noise). v and s are estimated from all labels of the trusted rows together. The estimate of one
    label is the mean of its noisy frequency, mapped back, and its frequency on trusted rows, weighted by their
    precision.
    """
    (n, L), m = labels.shape, trusted.shape[0]
    noisy = np.bincount(labels.indices, minlength=L) / n
    clean = np.bincount(trusted.indices, minlength=L) / m
    spread = noisy - noisy.mean()
    # Frequencies on trusted rows have the larger sampling error, so they are regressed on the noisy ones.
    slope = float(spread @ clean) / max(float(spread @ spread), 1e-12)
    if slope <= 0:
        return (n * clean).astype(np.float32)
    mapped = np.maximum(clean.mean() + slope * spread, 0)
    doubt_of_noisy = slope**2 * (noisy * (1 - noisy) + 1 / n) / n
    doubt_of_clean = (mapped * (1 - mapped) + 1 / m) / m
    share = doubt_of_clean / (doubt_of_noisy + doubt_of_clean)
    return (n * (share * mapped + (1 - share) * clean)).astype(np.float32)
