"""Stores the tables of a finished model as small as precision on validation rows allows.

For each component the forms are tried from the smallest on, and the first that loses less than a tenth of a point, or
less than chance explains, is taken: in the mean of P@1, P@3 and P@5. To measure a form, the change that it makes to the
component's scores is added to the out-of-fold scores of the validation rows, and the stacker ranks these rows again.
The smallest forms also drop the vectors of words that hardly any row has.
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
from rankae.metrics import row_merits, standard_error
from rankae.numerics.ascending import pieces
from rankae.numerics.table import Table
from rankae.recipe.rules import rule

_MOST_LOST = rule("storage.most_lost", 0.1, "points that a smaller table may cost", "issue 29; by hand")
_RARE = rule(
    "storage.rare_words", (8, 4, 2), "most rows of the words whose vectors may be dropped", "docs/scale.md, debtags"
)
_LEAST = rule("storage.least_weights", (0.05, 0.03), "ranker weights below are dropped", "docs/scale.md, debtags")
_MOST_ROWS = 4000


@dataclass(frozen=True)
class _Form:
    """A way to store a component, and the change that it makes to each component's scores of the validation rows.

    component : makes it; called for the form that is chosen.
    """

    name: str
    component: Callable[[], Any]
    difference: Callable[[], dict[str, np.ndarray]]


def stored_small(
    stack: Stack, rows: sp.csr_matrix, labels: sp.csr_matrix, scored: ScoredShortlist
) -> tuple[Stack, dict[str, Choice]]:
    """The stack with smaller tables, and a choice for each component.

    Parameters
    ----------
    stack : of no use afterwards, because its rankers are emptied: memory need not hold their weights twice.
    rows, labels : validation rows.
    scored : out-of-fold scores of these rows.
    """
    if stack.stacker is None or len(scored.shortlist) != rows.shape[0]:
        return stack, {}
    validation = _ValidationScores(stack, rows, labels, scored)
    stack._prepared = None
    small = replace(stack, neighbours=None if stack.neighbours is None else stack.neighbours.shrunk("float16"))
    chosen: dict[str, Choice] = {}
    for name, forms_of in (("code", _code_forms), ("network", _network_forms), ("rankers", _ranker_forms)):
        evidence: dict[str, float] = {}
        for form in forms_of(small, validation):
            lost, is_small = validation.lost_with(form.difference())
            evidence[form.name] = round(lost, 3)
            if is_small:
                small = replace(small, **{name: form.component()})
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
        self.before = self._precision(self.scores)

    def lost_with(self, difference: dict[str, np.ndarray]) -> tuple[float, bool]:
        """The loss in precision, and whether it is small enough; if so, the changed scores are kept."""
        scores = self.scores | {name: self.scores[name] + change for name, change in difference.items()}
        lost = self.before - self._precision(scores)
        self.lost, is_small = float(lost.mean()), little_is_lost(lost)
        if is_small:
            self.scores = scores
        return self.lost, is_small

    def _precision(self, scores: dict[str, np.ndarray]) -> np.ndarray:
        """The mean of P@1, P@3 and P@5 of each row, in percent."""
        assert self.stacker is not None
        given = list(scores.values()), self.closest, self.counts, self.nearest
        joined = self.stacker.score_shortlist(self.shortlist, *given)
        return row_merits(self.shortlist.best(joined, 5)[0], self.labels)


def _code_forms(stack: Stack, validation: _ValidationScores) -> Iterator[_Form]:
    code = stack.code
    if isinstance(code.word_table, Table):
        return
    before = _code_scores(stack, code, validation)

    def difference(smaller: ClosedForm) -> dict[str, np.ndarray]:
        scores = _code_scores(stack, smaller, validation)
        return {name: after - before[name] for name, after in scores.items()}

    whole = [(precision, precision, None) for precision in ("int4", "int8", "float16")]
    without = [(without_rare(most), "int4", rare) for most, rare in _rare_words(stack).items()]
    for name, precision, zeroed in [*without, *whole]:
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
        yield _Form(name, partial(_itself, smaller), partial(difference, smaller))


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
    codes = stack.code.linear_codes(validation.rows)
    before = network.predict(validation.rows, codes).scores(validation.shortlist)

    def difference(smaller: JointNetwork) -> dict[str, np.ndarray]:
        return {"network": smaller.predict(validation.rows, codes).scores(validation.shortlist) - before}

    for most, rare in _rare_words(stack).items():
        smaller = network.shrunk("int4", without=rare)
        yield _Form(without_rare(most), partial(_itself, smaller), partial(difference, smaller))
    for precision in ("int4", "int8", "float16"):
        smaller = network.shrunk(precision)
        yield _Form(precision, partial(_itself, smaller), partial(difference, smaller))


def little_is_lost(lost: np.ndarray) -> bool:
    """lost : points that each row loses."""
    return bool(lost.mean() < max(_MOST_LOST, standard_error(lost)))


def without_rare(most: int) -> str:
    """The name of a form that drops words of at most so many rows."""
    return f"int4 without words of {most} rows"


def _rare_words(stack: Stack) -> dict[int, np.ndarray]:
    if stack.neighbours is None:
        return {}
    # The search ignores frequent words; their count is 0 there.
    return rare_if_many(np.diff(stack.neighbours.search.weights.starts))


def rare_if_many(frequencies: np.ndarray) -> dict[int, np.ndarray]:
    """Columns of the words that at most so many rows have, where these are over a fifth of all words.

    frequencies : the rows of each word.
    """
    rare = {most: np.flatnonzero((frequencies > 0) & (frequencies <= most)) for most in _RARE}
    return {most: columns for most, columns in rare.items() if 5 * len(columns) > len(frequencies)}


def _ranker_forms(stack: Stack, validation: _ValidationScores) -> Iterator[_Form]:
    rankers = stack.rankers
    if not isinstance(rankers, Rankers):
        return
    before = _ranker_scores(rankers, validation)

    def form(least: float, precision: str) -> _Form:
        def component() -> RankerWeights:
            rankers.weights = _at_least(least, rankers.weights)
            smaller = RankerWeights.of(rankers)
            smaller.weights = smaller.weights.at(precision)
            rankers.weights = sp.csr_matrix(rankers.weights.shape, dtype=np.float32)
            return smaller.shrunk(precision)

        def difference() -> dict[str, np.ndarray]:
            return {"rankers": _ranker_scores(rankers, validation, least, precision) - before}

        return _Form(f"{precision}, weights from {least:g}" if least else precision, component, difference)

    for least in (*_LEAST, 0.0):
        yield form(least, "int8")
        if validation.lost < 2 * _MOST_LOST:  # else it is not the rounding that costs
            yield form(least, "float16")


def _ranker_scores(
    rankers: Rankers, validation: _ValidationScores, least: float = 0.0, precision: str | None = None
) -> np.ndarray:
    """Scores of the validation rows by rankers in a smaller form, some labels at a time, so that memory holds no copy
    of all weights."""
    shortlist, weights = validation.shortlist, rankers.weights
    scores = np.empty(len(shortlist.columns), dtype=np.float32)
    for first, last in pieces(weights.indptr):
        chosen = (shortlist.columns >= first) & (shortlist.columns < last)
        if chosen.any():
            some = Rankers(_at_least(least, weights[first:last]), rankers.biases[first:last])
            read = RankerWeights.of(some)
            read = read if precision is None else read.shrunk(precision)
            scores[chosen] = read.scores(validation.rows, shortlist.between(first, last))
    return scores


def _itself(component: Any) -> Any:
    return component


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
