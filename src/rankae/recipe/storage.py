"""How small the tables of a finished model may be: as small as rows that it has not learnt from let them.

What a smaller table changes in a component's score is added to the score that the component without those rows gave
them; the stacker then ranks them again. The smallest form is taken that loses less than a tenth of a point of P@1, P@3
and P@5. Rows of words that hardly any row has are what a table of words can do without first.
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
from rankae.numerics.table import Table
from rankae.recipe.rules import rule

_MOST_LOST = rule("storage.most_lost", 0.1, "points that a smaller table may cost at any k", "issue 29; by hand")
_RARE = rule("storage.rare_word", 2, "rows of a word that the table of words may do without", "docs/scale.md, debtags")
_LEAST = rule("storage.least_weights", (0.05, 0.03), "ranker weights below are dropped", "docs/scale.md, debtags")
_MOST_ROWS = 4000


@dataclass(frozen=True)
class _Form:
    """A way to store a component: its name, the component, and what each component then scores the judged rows more."""

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
    scored : what components that have not learnt from them score these rows.
    """
    if stack.stacker is None or len(scored.shortlist) != rows.shape[0]:
        return stack, {}
    judge = _Judge(stack, rows, labels, scored)
    small = replace(stack, neighbours=None if stack.neighbours is None else stack.neighbours.shrunk("float16"))
    chosen: dict[str, Choice] = {}
    for name, forms_of in (("code", _code_forms), ("network", _network_forms), ("rankers", _ranker_forms)):
        evidence: dict[str, float] = {}
        for form in forms_of(small, judge):
            lost = judge.lost_with(form.difference())
            evidence[form.name] = round(lost, 3)
            if lost < _MOST_LOST:
                small = replace(small, **{name: form.component})
                chosen[f"storage of {name}"] = choice(
                    f"storage of {name}", form.name, "points lost on validation rows", evidence
                )
                break
    return small, chosen


class _Judge:
    """Validation rows, and what each component scores them; changes of scores add up as forms are accepted."""

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
        """Most points that are lost at any k; scores with the differences stay if that is little enough."""
        scores = self.scores | {name: self.scores[name] + own for name, own in difference.items()}
        found = self._precisions(scores)
        lost = max(self.before[k] - found[k] for k in self.before)
        if lost < _MOST_LOST:
            self.scores = scores
        return float(lost)

    def _precisions(self, scores: dict[str, np.ndarray]) -> dict[str, float]:
        assert self.stacker is not None
        given = list(scores.values()), self.closest, self.counts, self.nearest
        joined = self.stacker.score_shortlist(self.shortlist, *given)
        return precisions(self.shortlist.best(joined, 5)[0], self.labels)


def _code_forms(stack: Stack, judge: _Judge) -> Iterator[_Form]:
    code = stack.code
    if isinstance(code.word_table, Table):
        return
    before = _code_scores(stack, code, judge)
    rare = _rare_words(stack)
    for name, precision, zeroed in (
        (f"int4 without words of {_RARE} rows", "int4", rare),
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
        # Labels are fewer than words, and every score is made of one of their rows.
        of_labels = "int8" if precision == "int4" else precision
        word_table, label_table = (
            cast(Any, Table.at(precision, words)),
            cast(Any, Table.at(of_labels, code.label_table)),
        )
        smaller = ClosedForm(word_table, label_table, code.bias, code.residual, code.common)
        yield _Form(name, smaller, lambda own=smaller: _more(_code_scores(stack, own, judge), before))  # type: ignore[misc]


def _code_scores(stack: Stack, code: ClosedForm, judge: _Judge) -> dict[str, np.ndarray]:
    """What the code scores the judged rows, and the network, whose linear path the code is."""
    codes = code.linear_codes(judge.rows)
    scores = {"code": code.predict_codes(codes).scores(judge.shortlist)}
    if isinstance(stack.network, JointNetwork):
        scores["network"] = stack.network.predict(judge.rows, codes).scores(judge.shortlist)
    return scores


def _network_forms(stack: Stack, judge: _Judge) -> Iterator[_Form]:
    network = stack.network
    if not isinstance(network, JointNetwork):
        return
    codes, rare = stack.code.linear_codes(judge.rows), _rare_words(stack)
    before = network.predict(judge.rows, codes).scores(judge.shortlist)

    def difference(own: JointNetwork) -> dict[str, np.ndarray]:
        return {"network": own.predict(judge.rows, codes).scores(judge.shortlist) - before}

    if rare is not None:
        smaller = network.shrunk("int4", without=rare)
        yield _Form(f"int4 without words of {_RARE} rows", smaller, partial(difference, smaller))
    for precision in ("int4", "int8", "float16"):
        smaller = network.shrunk(precision)
        yield _Form(precision, smaller, partial(difference, smaller))


def _more(scores: dict[str, np.ndarray], before: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: own - before[name] for name, own in scores.items()}


def _rare_words(stack: Stack) -> np.ndarray | None:
    """Places of words that hardly any row has, if neighbours know; None if there are few of them."""
    if stack.neighbours is None:
        return None
    often = np.diff(stack.neighbours.search.weights.starts)  # 0 for those that are not followed: the frequent ones
    rare = np.flatnonzero((often > 0) & (often <= _RARE))
    return rare if 5 * len(rare) > len(often) else None


def _ranker_forms(stack: Stack, judge: _Judge) -> Iterator[_Form]:
    rankers = stack.rankers
    if not isinstance(rankers, Rankers):
        return
    before = RankerWeights.of(rankers).scores(judge.rows, judge.shortlist)
    for least, precision in [(least, kind) for least in (*_LEAST, 0.0) for kind in ("int8", "float16")]:
        weights = rankers.weights
        if least:
            weights = weights.copy()
            weights.data[np.abs(weights.data) < least] = 0
            weights.eliminate_zeros()
        smaller = RankerWeights.of(Rankers(weights, rankers.biases)).shrunk(precision)
        name = f"{precision}, weights from {least:g}" if least else precision
        yield _Form(name, smaller, lambda own=smaller: {"rankers": own.scores(judge.rows, judge.shortlist) - before})  # type: ignore[misc]
