"""The default model: components that propose and score labels, and the stacker that joins their scores.

shortlist   the labels that the code, the network and the neighbours rank highest
candidates  every component's score of every shortlisted label
score       the stacker's, from those of the components
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

import numpy as np
import scipy.sparse as sp

from rankae.components.closed_form import ClosedForm
from rankae.components.label_names import LabelNames
from rankae.components.neighbours import Neighbours, VotePredictions
from rankae.components.network import NetworkComponent
from rankae.components.predictions import CodePredictions, Predictions
from rankae.components.ranker_weights import RankerWeights
from rankae.components.rankers import Rankers
from rankae.components.stacker import Stacker, evidence
from rankae.errors import ModelFileError
from rankae.numerics.label_index import ExactIndex, UsearchIndex
from rankae.numerics.shortlist import Shortlist
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.table import Table, packed, unpacked
from rankae.numerics.threads import each_on_one_thread, even_blocks

# Rows that are read at a time: bounds the memory of codes and shortlists.
_BLOCK = 8192
_MANY = 256  # rows that are shared out among threads as blocks; fewer share out every step, and one row none
COMPONENTS: dict[str, Any] = {
    component.name: component for component in (ClosedForm, NetworkComponent, Neighbours, LabelNames, Rankers)
}


@dataclass
class ScoredShortlist:
    """A shortlist and every component's scores of its entries.

    counts : of each entry, how many training rows carry the label, as far as those know who gave the scores.
    closest : of each entry, the cosine of the nearest training row that carries the label; 0 if nobody looked.
    nearest : of each row, the cosine of the nearest training row.
    """

    shortlist: Shortlist
    scores: dict[str, np.ndarray]
    counts: np.ndarray
    closest: np.ndarray
    nearest: np.ndarray

    def evidence(self) -> np.ndarray:
        """What the stacker reads."""
        return evidence(self.shortlist, list(self.scores.values()), self.closest, self.counts, self.nearest)

    @classmethod
    def stacked(cls, found: list[ScoredShortlist]) -> ScoredShortlist:
        """The rows of several, one after the other."""
        first = found[0]
        scores = {name: np.concatenate([o.scores[name] for o in found]) for name in first.scores}
        counts, closest, nearest = (
            np.concatenate([getattr(o, name) for o in found]) for name in ("counts", "closest", "nearest")
        )
        return cls(Shortlist.stacked([o.shortlist for o in found]), scores, counts, closest, nearest)


def closeness(votes: Predictions | None, shortlist: Shortlist) -> tuple[np.ndarray, np.ndarray]:
    """`closest` and `nearest` of `ScoredShortlist`."""
    if not isinstance(votes, VotePredictions):
        return np.zeros(len(shortlist.columns), dtype=np.float32), np.zeros(len(shortlist), dtype=np.float32)
    return shortlist.values_among(votes.named, votes.closest), votes.nearest


@dataclass
class Stack:
    """The trained components, in the order in which they are asked."""

    code: ClosedForm
    label_counts: np.ndarray
    proposed: int = 40
    network: NetworkComponent | None = None
    neighbours: Neighbours | None = None
    names: LabelNames | None = None
    rankers: Rankers | RankerWeights | None = None
    stacker: Stacker | None = None
    index: UsearchIndex | None = None  # over the code's labels; without one, all of them are looked at
    _prepared: tuple[Rankers, RankerWeights] | None = field(default=None, init=False, repr=False, compare=False)

    def predictions(self, rows: sp.csr_matrix) -> dict[str, Predictions]:
        """The predictions of the components that propose labels."""
        found: dict[str, Predictions] = {"code": self._read_code(rows)}
        return found | {
            component.name: component.predict(rows)
            for component in (self.network, self.neighbours, self.names)
            if component is not None
        }

    def candidates(self, rows: sp.csr_matrix, also: np.ndarray | None = None) -> ScoredShortlist:
        """The shortlist of each row, with scores; `also` are further labels for it, rows x m, padded with -1."""
        predictions = self.predictions(rows)
        proposals = [predicted.propose(self.proposed) for predicted in predictions.values()]
        shortlist = Shortlist.union(proposals if also is None else [*proposals, also])
        scores = self._scores(rows, predictions, shortlist)
        near = closeness(predictions.get("neighbours"), shortlist)
        return ScoredShortlist(shortlist, scores, self.label_counts[shortlist.columns], *near)

    def scores_by_component(self, rows: sp.csr_matrix, shortlist: Shortlist) -> dict[str, np.ndarray]:
        """Every component's scores of a shortlist that somebody else made."""
        return self._scores(rows, self.predictions(rows), shortlist)

    def _scores(
        self, rows: sp.csr_matrix, predictions: dict[str, Predictions], shortlist: Shortlist
    ) -> dict[str, np.ndarray]:
        scores = {name: predicted.scores(shortlist) for name, predicted in predictions.items()}
        if self.rankers is not None:
            scores["rankers"] = self._ranker_weights(self.rankers).scores(rows, shortlist)
        return scores

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
        own = list(candidates.scores.values())
        near = candidates.closest, candidates.counts, candidates.nearest
        return self.stacker.score_shortlist(candidates.shortlist, own, *near)

    def _read_code(self, rows: sp.csr_matrix) -> CodePredictions:
        predicted = self.code.predict(rows)
        if self.index is not None:
            predicted.index = self.index
        return predicted

    def _ranked_by_code(self, rows: sp.csr_matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k labels that the code scores highest, be they common or not."""
        index = ExactIndex(*self.decoder()) if self.index is None else self.index
        return index.search(self.codes_for_decoder(rows), min(k, len(self.label_counts)))

    def _ranker_weights(self, rankers: Rankers | RankerWeights) -> RankerWeights:
        """The rankers as prediction reads them; prepared once, when they are first asked."""
        if isinstance(rankers, RankerWeights):
            return rankers
        if self._prepared is None or self._prepared[0] is not rankers:
            self._prepared = rankers, RankerWeights.of(rankers)
        return self._prepared[1]

    def decoder(self) -> tuple[np.ndarray | Table, np.ndarray]:
        """The table and the bias of labels that `codes_for_decoder` are held against."""
        return self.code.label_table, self.code.bias

    def codes_for_decoder(self, rows: sp.csr_matrix) -> np.ndarray:
        return self.code.predict(rows).codes

    def codes_of_labels(self, labels: sp.csr_matrix) -> np.ndarray:
        """For the decoder, codes of rows that carry these labels, as far as labels alone can tell."""
        return self.code.predict_codes(sparse_product(labels, self.code.label_table)).codes

    def shrunk(self, precision: str) -> Stack:
        """The same model with tables of float16 or int8."""
        word_table, label_table = (
            cast(np.ndarray, Table.at_most(precision, table)) for table in (self.code.word_table, self.code.label_table)
        )
        code = ClosedForm(word_table, label_table, self.code.bias, self.code.residual, self.code.common)
        return replace(
            self,
            code=code,
            network=None if self.network is None else self.network.shrunk(precision),
            neighbours=None if self.neighbours is None else self.neighbours.shrunk(precision),
            rankers=None if self.rankers is None else self._ranker_weights(self.rankers).shrunk(precision),
            index=None if self.index is None else self.index.over(label_table, code.bias),
        )

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        settings: dict[str, Any] = {"proposed": self.proposed, "components": {}}
        arrays = {"label_counts": self.label_counts}
        for component in (self.code, self.network, self.neighbours, self.names, self.rankers):
            if component is not None:
                settings["components"][component.name], own = component.state()
                arrays |= {f"{component.name}.{name}": value for name, value in own.items()}
        if self.stacker is not None:
            arrays |= {f"stacker.{name}": value for name, value in self.stacker.weights.items()}
        if self.index is not None:
            arrays |= {f"index.{name}": value for name, value in self.index.arrays().items()}
        return settings, packed(arrays)

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        def own(name: str) -> dict[str, np.ndarray]:
            return unpacked({n.removeprefix(f"{name}."): v for n, v in arrays.items() if n.startswith(f"{name}.")})

        saved = settings["components"] if "components" in settings else settings["parts"]  # its name in format 1
        components = {name: _kind(name, of_it).from_state(of_it, own(name)) for name, of_it in saved.items()}
        of_stacker = own("stacker") or own("combiner")  # its name in models of format 1
        stacker = Stacker(of_stacker) if of_stacker else None
        index, code = own("index"), components["code"]
        known = {code.shape} | {
            component.shape for name, component in components.items() if name in ("neighbours", "names", "rankers")
        }
        if known != {(len(code.word_table), len(arrays["label_counts"]))}:
            raise ModelFileError("the model's components know different words or labels; train it again")
        return cls(
            **components,
            label_counts=arrays["label_counts"],
            proposed=settings["proposed"],
            stacker=stacker,
            index=UsearchIndex.restore(index, code.label_table, code.bias) if index else None,
        )


def _kind(name: str, settings: dict[str, Any]) -> Any:
    """The class that a component was saved from: shrunk rankers are kept as prediction reads them."""
    return RankerWeights if name == "rankers" and "vocabulary" in settings else COMPONENTS[name]


def _fill(columns: np.ndarray, best: np.ndarray, more: np.ndarray, more_scores: np.ndarray) -> None:
    """Put labels of `more` that are not ranked yet behind those that are, with scores below the last one."""
    for row in np.flatnonzero((columns < 0).any(axis=1)):
        ranked = columns[row] >= 0
        fresh = ~np.isin(more[row], columns[row][ranked])
        room = min((~ranked).sum(), fresh.sum())
        place = np.flatnonzero(~ranked)[:room]
        floor = best[row][ranked].min(initial=0.0)
        found = more_scores[row][fresh][:room]
        columns[row, place] = more[row][fresh][:room]
        best[row, place] = floor - 1 - (found[:1] - found)
