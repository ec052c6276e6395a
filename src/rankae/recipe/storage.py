"""Stores the tables of a finished model as small as precision on validation rows allows.

For each component the forms are tried from the smallest on, and the first that loses less than a tenth of a point of
P@1, P@3 and P@5 is taken. To measure a form, the change that it makes to the component's scores is added to the
out-of-fold scores of the validation rows, and the stacker ranks these rows again. The smallest forms also drop the
vectors of words that hardly any row has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import Choice, choice
from rankae.components.closed_form import ClosedForm
from rankae.components.joint_network import JointNetwork
from rankae.components.ranker_weights import RankerWeights
from rankae.components.rankers import Rankers
from rankae.components.stack import ScoredShortlist, Stack
from rankae.metrics import precisions
from rankae.numerics.ascending import pieces
from rankae.numerics.table import Table
from rankae.recipe.rules import rule

MOST_LOST = rule("storage.most_lost", 0.1, "points that a smaller table may cost at any k", "issue 29; by hand")
RARE = rule("storage.rare_word", 2, "most rows of a word whose vector may be dropped", "docs/scale.md, debtags")
_LEAST = rule("storage.least_weights", (0.05, 0.03), "ranker weights below are dropped", "docs/scale.md, debtags")
_MOST_ROWS = 4000


@dataclass(frozen=True)
class _Form:
    """A way to store a component, and the change that it makes to each component's scores of the validation rows."""

    name: str
    component: Any
    difference: Callable[[], dict[str, np.ndarray]]


def stored_small(
    stack: Stack, rows: sp.csr_matrix, labels: sp.csr_matrix, scored: ScoredShortlist
) -> tuple[Stack, dict[str, Choice]]:
    """The stack with smaller tables, and a choice for each component.

    Parameters
    ----------
    rows, labels : validation rows.
    scored : out-of-fold scores of these rows.
    """
    if stack.stacker is None or len(scored.shortlist) != rows.shape[0]:
        return stack, {}
    validation = _ValidationScores(stack, rows, labels, scored)
    small = replace(stack, neighbours=None if stack.neighbours is None else stack.neighbours.shrunk("float16"))
    chosen: dict[str, Choice] = {}
    for name, forms_of in (("code", _code_forms), ("network", _network_forms), ("rankers", _ranker_forms)):
        evidence: dict[str, float] = {}
        for form in forms_of(small, validation):
            lost = validation.lost_with(form.difference())
            evidence[form.name] = round(lost, 3)
            if lost < MOST_LOST:
                small = replace(small, **{name: form.component})
                chosen[f"storage of {name}"] = choice(
                    f"storage of {name}", form.name, "points lost on validation rows", evidence
                )
                break
    return small, chosen


class _ValidationScores:
    """Scores of (a sample of) the validation rows by component; the changes of accepted forms add up in them."""

    def __init__(self, stack: Stack, rows: sp.csr_matrix, labels: sp.csr_matrix, scored: ScoredShortlist) -> None:
        picked = np.sort(np.random.default_rng(0).permutation(rows.shape[0])[:_MOST_ROWS])
        entries = scored.shortlist.entries_of(picked)
        self.stacker, self.rows, self.labels = stack.stacker, rows[picked], labels[picked]
        self.shortlist = scored.shortlist.taken(picked)
        self.scores = {name: own[entries] for name, own in scored.scores.items()}
        self.counts, self.closest = scored.counts[entries], scored.closest[entries]
        self.nearest = scored.nearest[picked]
        self.before = self._precisions(self.scores)

    def lost_with(self, difference: dict[str, np.ndarray]) -> float:
        """The largest loss in precision at any k; the changed scores are kept if it is small enough."""
        scores = self.scores | {name: self.scores[name] + change for name, change in difference.items()}
        after = self._precisions(scores)
        lost = max(self.before[k] - after[k] for k in self.before)
        if lost < MOST_LOST:
            self.scores = scores
        return float(lost)

    def _precisions(self, scores: dict[str, np.ndarray]) -> dict[str, float]:
        assert self.stacker is not None
        given = list(scores.values()), self.closest, self.counts, self.nearest
        joined = self.stacker.score_shortlist(self.shortlist, *given)
        return precisions(self.shortlist.best(joined, 5)[0], self.labels)


def _code_forms(stack: Stack, validation: _ValidationScores) -> Iterator[_Form]:
    code = stack.code
    if isinstance(code.word_table, Table):
        return
    before = _code_scores(stack, code, validation)
    rare = _rare_words(stack)

    def difference(smaller: ClosedForm) -> dict[str, np.ndarray]:
        scores = _code_scores(stack, smaller, validation)
        return {name: after - before[name] for name, after in scores.items()}

    for name, precision, zeroed in (
        (f"int4 without words of {RARE} rows", "int4", rare),
        ("int4", "int4", None),
        ("int8", "int8", None),
        ("float16", "float16", None),
    ):
        if name.startswith("int4 ") and rare is None:
            continue
        words = code.word_table
        if zeroed is not None:
            words = words.copy()
            words[zeroed] = 0
        # The label table is smaller than the word table, and errors in it affect scores most.
        of_labels = "int8" if precision == "int4" else precision
        word_table, label_table = (
            cast(Any, Table.at(precision, words)),
            cast(Any, Table.at(of_labels, code.label_table)),
        )
        smaller = ClosedForm(word_table, label_table, code.bias, code.residual, code.common)
        yield _Form(name, smaller, partial(difference, smaller))


def _code_scores(stack: Stack, code: ClosedForm, validation: _ValidationScores) -> dict[str, np.ndarray]:
    """Scores of the validation rows by the code, and by the network, whose linear path reads the code."""
    codes = code.linear_codes(validation.rows)
    scores = {"code": code.predict_codes(codes).scores(validation.shortlist)}
    if isinstance(stack.network, JointNetwork):
        scores["network"] = stack.network.predict(validation.rows, codes).scores(validation.shortlist)
    return scores


def _network_forms(stack: Stack, validation: _ValidationScores) -> Iterator[_Form]:
    network = stack.network
    if not isinstance(network, JointNetwork):
        return
    codes, rare = stack.code.linear_codes(validation.rows), _rare_words(stack)
    before = network.predict(validation.rows, codes).scores(validation.shortlist)

    def difference(smaller: JointNetwork) -> dict[str, np.ndarray]:
        return {"network": smaller.predict(validation.rows, codes).scores(validation.shortlist) - before}

    if rare is not None:
        smaller = network.shrunk("int4", without=rare)
        yield _Form(f"int4 without words of {RARE} rows", smaller, partial(difference, smaller))
    for precision in ("int4", "int8", "float16"):
        smaller = network.shrunk(precision)
        yield _Form(precision, smaller, partial(difference, smaller))


def _rare_words(stack: Stack) -> np.ndarray | None:
    """Columns of the words that hardly any row has; None if they are few, or there are no neighbours to count rows."""
    if stack.neighbours is None:
        return None
    # The search ignores frequent words; their count is 0 there.
    return rare_if_many(np.diff(stack.neighbours.search.weights.starts))


def rare_if_many(frequencies: np.ndarray) -> np.ndarray | None:
    """Columns of the words that hardly any row has, given the rows of each word; None if they are few."""
    rare = np.flatnonzero((frequencies > 0) & (frequencies <= RARE))
    return rare if 5 * len(rare) > len(frequencies) else None


def _ranker_forms(stack: Stack, validation: _ValidationScores) -> Iterator[_Form]:
    rankers = stack.rankers
    if not isinstance(rankers, Rankers):
        return
    before = RankerWeights.of(rankers).scores(validation.rows, validation.shortlist)

    def difference(smaller: RankerWeights) -> dict[str, np.ndarray]:
        return {"rankers": smaller.scores(validation.rows, validation.shortlist) - before}

    for least, precision in [(least, kind) for least in (*_LEAST, 0.0) for kind in ("int8", "float16")]:
        weights = _at_least(least, rankers.weights)
        smaller = RankerWeights.of(Rankers(weights, rankers.biases)).shrunk(precision)
        name = f"{precision}, weights from {least:g}" if least else precision
        yield _Form(name, smaller, partial(difference, smaller))


def _at_least(least: float, weights: sp.csr_matrix) -> sp.csr_matrix:
    """The weights of at least this size, without a second copy of all weights on the way."""
    if not least:
        return weights
    data, starts = weights.data, weights.indptr
    kept = (data >= least) | (data <= -least)
    sizes = []
    for first, last in pieces(starts):
        before = np.concatenate([[0], np.cumsum(kept[starts[first] : starts[last]])])
        sizes.append(np.diff(before[starts[first : last + 1] - starts[first]]))
    ends = np.concatenate([[0], np.cumsum(np.concatenate(sizes), dtype=np.int64)])
    return sp.csr_matrix((data[kept], weights.indices[kept], ends), shape=weights.shape)
