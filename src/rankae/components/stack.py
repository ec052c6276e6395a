"""The default model: components that propose and score labels, and the stacker that joins their scores.

shortlist   the labels that the code, the network and the neighbours rank highest
candidates  every component's score of every shortlisted label
score       of the stacker, computed from the scores of the components
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from rankae.components.closed_form import ClosedForm
from rankae.components.joint_network import JointNetwork
from rankae.components.label_names import LabelNames
from rankae.components.legacy_network import NetworkComponent
from rankae.components.neighbours import Neighbours, VotePredictions
from rankae.components.predictions import CodePredictions, Predictions
from rankae.components.ranker_weights import RankerWeights
from rankae.components.rankers import Rankers
from rankae.components.registry import COMPONENTS, restored
from rankae.components.stacker import Stacker, evidence
from rankae.errors import ModelFileError
from rankae.numerics.label_index import ExactIndex, UsearchIndex
from rankae.numerics.shortlist import Shortlist
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.table import Table, packed, unpacked
from rankae.numerics.threads import each_on_one_thread, even_blocks

# Rows in a batch: bounds the memory of codes and shortlists.
_BLOCK = 8192
_MANY = 256  # from so many rows on, threads work on blocks of rows; below, on the parts of each step
_FIELDS = ("code", "network", "neighbours", "names", "rankers")  # components that have a field of their own


@dataclass
class ScoredShortlist:
    """A shortlist and every component's scores of its entries.

    counts : for each entry, the number of training rows (of the components that gave the scores) with the label.
    closest : for each entry, the cosine of the nearest training row that carries the label; 0 if there is none among
        the neighbours.
    nearest : for each row, the cosine of the nearest training row.
    """

    shortlist: Shortlist
    scores: dict[str, np.ndarray]
    counts: np.ndarray
    closest: np.ndarray
    nearest: np.ndarray

    def evidence(self) -> np.ndarray:
        """The features that the stacker reads."""
        return evidence(self.shortlist, list(self.scores.values()), self.closest, self.counts, self.nearest)

    @classmethod
    def stacked(cls, shortlists: list[ScoredShortlist]) -> ScoredShortlist:
        """Concatenate the rows of several scored shortlists."""
        first = shortlists[0]
        scores = {name: np.concatenate([o.scores[name] for o in shortlists]) for name in first.scores}
        counts, closest, nearest = (
            np.concatenate([getattr(o, name) for o in shortlists]) for name in ("counts", "closest", "nearest")
        )
        return cls(Shortlist.stacked([o.shortlist for o in shortlists]), scores, counts, closest, nearest)


def closeness(predictions: Iterable[Predictions], shortlist: Shortlist) -> tuple[np.ndarray, np.ndarray]:
    """`closest` and `nearest` of `ScoredShortlist`, from the component that votes, if there is one."""
    votes = next((predicted for predicted in predictions if isinstance(predicted, VotePredictions)), None)
    if votes is None:
        return np.zeros(len(shortlist.columns), dtype=np.float32), np.zeros(len(shortlist), dtype=np.float32)
    return shortlist.values_among(votes.named, votes.closest), votes.nearest


@dataclass
class Stack:
    """The trained components, the stacker that joins their scores, and the label counts that both need.

    others : registered components that have no field of their own here.
    known_since : for each label, the index of the first training row that could carry it. A label added by an update
        may be missing from all rows before that update. None if all labels have been there from the start.
    """

    code: ClosedForm
    label_counts: np.ndarray
    proposed: int = 40
    network: JointNetwork | NetworkComponent | None = None  # the second in models of older files
    neighbours: Neighbours | None = None
    names: LabelNames | None = None
    rankers: Rankers | RankerWeights | None = None
    others: dict[str, Any] = field(default_factory=dict)
    known_since: np.ndarray | None = None
    stacker: Stacker | None = None
    index: UsearchIndex | None = None  # over the code's labels; without one, all of them are looked at
    _prepared: tuple[Rankers, RankerWeights] | None = field(default=None, init=False, repr=False, compare=False)

    def components(self) -> dict[str, Any]:
        """All components of this model, in the order of the registry."""
        known = {name: getattr(self, name) for name in _FIELDS} | self.others
        return {name: known[name] for name in COMPONENTS if known.get(name) is not None}

    def first_rows(self) -> np.ndarray:
        """`known_since`, or zeros for a model that was never updated."""
        return np.zeros(len(self.label_counts), dtype=np.int64) if self.known_since is None else self.known_since

    def with_components(self, components: dict[str, Any]) -> Stack:
        """A copy of the stack in which these components replace those of the same name."""
        others = {name: component for name, component in components.items() if name not in _FIELDS}
        fields = {name: component for name, component in components.items() if name in _FIELDS}
        return replace(self, **fields, others=self.others | others)

    def predictions(self, rows: sp.csr_matrix) -> dict[str, Predictions]:
        """The predictions of the components that propose labels."""
        predictions: dict[str, Predictions] = {}
        for name, component in self.components().items():
            if isinstance(component, JointNetwork):  # its linear path is the code
                by_code = cast(CodePredictions, predictions["code"]).codes
                predictions[name] = component.predict(
                    rows, self.code.linear_codes(rows) if self.code.residual else by_code
                )
            elif hasattr(component, "predict"):
                predictions[name] = component.predict(rows)
        if self.index is not None:
            cast(CodePredictions, predictions["code"]).index = self.index
        return predictions

    def candidates(self, rows: sp.csr_matrix, also: np.ndarray | None = None) -> ScoredShortlist:
        """The shortlist of each row, with scores; `also` adds labels to it (rows x m, padded with -1)."""
        predictions = self.predictions(rows)
        proposals = [predicted.propose(self.proposed) for predicted in predictions.values()]
        shortlist = Shortlist.union(proposals if also is None else [*proposals, also])
        scores = self._scores(rows, predictions, shortlist)
        near = closeness(predictions.values(), shortlist)
        return ScoredShortlist(shortlist, scores, self.label_counts[shortlist.columns], *near)

    def scores_by_component(self, rows: sp.csr_matrix, shortlist: Shortlist) -> dict[str, np.ndarray]:
        """Every component's scores of a given shortlist."""
        return self._scores(rows, self.predictions(rows), shortlist)

    def _scores(
        self, rows: sp.csr_matrix, predictions: dict[str, Predictions], shortlist: Shortlist
    ) -> dict[str, np.ndarray]:
        scores = {name: predicted.scores(shortlist) for name, predicted in predictions.items()}
        for name, component in self.components().items():
            if name not in predictions:
                scores[name] = self._as_read(component).scores(rows, shortlist)
        return {name: scores[name] for name in self.components()}

    def top(self, rows: sp.csr_matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k best labels of each row. Labels beyond the shortlist follow in the order of the code's scores."""
        n = rows.shape[0]
        if n < _MANY:
            return self._top(rows, k)
        columns = np.full((n, k), -1, dtype=np.int32)
        scores = np.full((n, k), -np.inf, dtype=np.float32)

        def fill(block: slice) -> None:
            columns[block], scores[block] = self._top(rows[block], k)

        each_on_one_thread(fill, even_blocks(n, _BLOCK))
        return columns, scores

    def _top(self, rows: sp.csr_matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        if self.stacker is None:
            return self._ranked_by_code(rows, k)
        candidates = self.candidates(rows)
        columns, best = candidates.shortlist.best(self.scores_of(candidates), k)
        if k > np.diff(candidates.shortlist.starts).min(initial=k):
            _fill(columns, best, *self._ranked_by_code(rows, 2 * k))
        return columns, best

    def scores_of(self, candidates: ScoredShortlist) -> np.ndarray:
        """The model's score of each entry of a shortlist."""
        if self.stacker is None:
            return candidates.scores["code"]
        scores = list(candidates.scores.values())
        near = candidates.closest, candidates.counts, candidates.nearest
        return self.stacker.score_shortlist(candidates.shortlist, scores, *near)

    def _ranked_by_code(self, rows: sp.csr_matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k labels that the code scores highest, common and rare ones alike."""
        index = ExactIndex(*self.decoder()) if self.index is None else self.index
        return index.search(self.codes_for_decoder(rows), min(k, len(self.label_counts)))

    def _as_read(self, component: Any) -> Any:
        """The component in the form that prediction reads; rankers are prepared once, at their first use."""
        if not isinstance(component, Rankers):
            return component
        if self._prepared is None or self._prepared[0] is not component:
            self._prepared = component, RankerWeights.of(component)
        return self._prepared[1]

    def decoder(self) -> tuple[np.ndarray | Table, np.ndarray]:
        """The label table and bias that `codes_for_decoder` are multiplied with."""
        return self.code.label_table, self.code.bias

    def codes_for_decoder(self, rows: sp.csr_matrix) -> np.ndarray:
        return self.code.predict(rows).codes

    def codes_of_labels(self, labels: sp.csr_matrix) -> np.ndarray:
        """Codes for the decoder of rows that carry these labels, computed from the labels alone."""
        return self.code.predict_codes(sparse_product(labels, self.code.label_table)).codes

    def shrunk(self, precision: str) -> Stack:
        """A copy of the model with tables of float16 or int8."""
        word_table, label_table = (
            cast(np.ndarray, Table.at_most(precision, table)) for table in (self.code.word_table, self.code.label_table)
        )
        code = ClosedForm(word_table, label_table, self.code.bias, self.code.residual, self.code.common)
        read = {name: self._as_read(component) for name, component in self.components().items()}
        small = {name: component.shrunk(precision) for name, component in read.items() if hasattr(component, "shrunk")}
        index = None if self.index is None else self.index.over(label_table, code.bias)
        return replace(self.with_components(small | {"code": code}), index=index)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        settings: dict[str, Any] = {"proposed": self.proposed, "components": {}}
        arrays = {"label_counts": self.label_counts}
        if self.known_since is not None:
            arrays["known_since"] = self.known_since
        for name, component in self.components().items():
            settings["components"][name], component_arrays = component.state()
            arrays |= {f"{name}.{array}": value for array, value in component_arrays.items()}
        if self.stacker is not None:
            settings["stacker"], component_arrays = self.stacker.state()
            arrays |= {f"stacker.{name}": value for name, value in component_arrays.items()}
        if self.index is not None:
            arrays |= {f"index.{name}": value for name, value in self.index.arrays().items()}
        return settings, packed(arrays)

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Stack:
        def arrays_of(name: str) -> dict[str, np.ndarray]:
            return unpacked({n.removeprefix(f"{name}."): v for n, v in arrays.items() if n.startswith(f"{name}.")})

        saved = settings["components"] if "components" in settings else settings["parts"]  # its name in format 1
        if unknown := sorted(set(saved) - set(COMPONENTS)):
            raise ModelFileError(f"the model has a component {unknown[0]!r} that is not known here; update rankae")
        components = {name: restored(name, of_it, arrays_of(name)) for name, of_it in saved.items()}
        of_stacker = arrays_of("stacker") or arrays_of("combiner")  # its name in models of format 1
        inputs = list(components)
        stacker = Stacker.from_state(settings.get("stacker", {}), of_stacker, inputs) if of_stacker else None
        index, code = arrays_of("index"), components["code"]
        known = {component.shape for component in components.values() if hasattr(component, "shape")}
        if known != {(len(code.word_table), len(arrays["label_counts"]))}:
            raise ModelFileError("the model's components know different words or labels; train it again")
        stack = cls(
            code,
            arrays["label_counts"],
            settings["proposed"],
            known_since=_checked_since(arrays),
            stacker=stacker,
            index=UsearchIndex.restore(index, code.label_table, code.bias) if index else None,
        )
        return stack.with_components(components)


def _checked_since(arrays: dict[str, np.ndarray]) -> np.ndarray | None:
    since = arrays.get("known_since")
    if since is not None and (
        since.shape != arrays["label_counts"].shape or since.dtype != np.int64 or (since < 0).any()
    ):
        raise ModelFileError("the model's labels and its updates do not fit; train it again")
    return since


def _fill(columns: np.ndarray, best: np.ndarray, more: np.ndarray, more_scores: np.ndarray) -> None:
    """Append the labels of `more` that are not ranked yet, with scores below the last ranked one."""
    for row in np.flatnonzero((columns < 0).any(axis=1)):
        ranked = columns[row] >= 0
        fresh = (more[row] >= 0) & ~np.isin(more[row], columns[row][ranked])
        room = min((~ranked).sum(), fresh.sum())
        place = np.flatnonzero(~ranked)[:room]
        floor = best[row][ranked].min(initial=0.0)
        new_scores = more_scores[row][fresh][:room]
        columns[row, place] = more[row][fresh][:room]
        best[row, place] = floor - 1 - (new_scores[:1] - new_scores)
