"""The default model: parts that propose labels and give opinions, and the combiner that has the last word.

shortlist   the labels that the code, the network and the neighbours rank highest
opinions    what each part, and each label's ranker, says of every shortlisted label
score       what the combiner makes of the opinions
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from rankae.refine.code import CodePart
from rankae.refine.combine import Combiner, evidence
from rankae.refine.neighbours import Neighbours, VoteReading
from rankae.refine.rankers import Rankers
from rankae.refine.readings import CodeReading, Reading
from rankae.refine.shortlist import Shortlist
from rankae.refine.words_network import NetworkPart

# Rows that are read at a time: bounds the memory of codes and shortlists.
_BLOCK = 2048
_PARTS: dict[str, Any] = {part.name: part for part in (CodePart, NetworkPart, Neighbours, Rankers)}


@dataclass
class Opinions:
    """A shortlist and what each part says of its entries; `proposals` keeps who named which label."""

    shortlist: Shortlist
    said: dict[str, np.ndarray]
    nearest: np.ndarray  # of each row, the cosine of the nearest training row; 0 if nobody looked
    proposals: dict[str, np.ndarray] = field(default_factory=dict)

    def evidence(self, label_counts: np.ndarray) -> np.ndarray:
        """What the combiner reads."""
        return evidence(self.shortlist, list(self.said.values()), label_counts, self.nearest)

    @classmethod
    def stacked(cls, found: list[Opinions]) -> Opinions:
        """The rows of several, one after the other."""
        first = found[0]
        said = {name: np.concatenate([o.said[name] for o in found]) for name in first.said}
        proposals = {name: np.concatenate([o.proposals[name] for o in found]) for name in first.proposals}
        nearest = np.concatenate([o.nearest for o in found])
        return cls(Shortlist.stacked([o.shortlist for o in found]), said, nearest, proposals)

    def of(self, parts: list[str], labels: int) -> Opinions:
        """What would be known if only these parts had been asked."""
        proposers = [name for name in parts if name in self.proposals]
        shortlist = Shortlist.union([self.proposals[name] for name in proposers])
        said = {name: shortlist.values_of(self.shortlist.matrix(self.said[name], labels)) for name in parts}
        return Opinions(shortlist, said, self.nearest if "neighbours" in parts else np.zeros_like(self.nearest))


@dataclass
class Parts:
    """The trained parts, in the order in which they are asked."""

    code: CodePart
    label_counts: np.ndarray
    proposed: int = 40
    network: NetworkPart | None = None
    neighbours: Neighbours | None = None
    rankers: Rankers | None = None
    combiner: Combiner | None = None

    def only(self, names: list[str]) -> Parts:
        """These parts, without a combiner."""
        return Parts(
            self.code,
            self.label_counts,
            self.proposed,
            network=self.network if "network" in names else None,
            neighbours=self.neighbours if "neighbours" in names else None,
            rankers=self.rankers if "rankers" in names else None,
        )

    def readings(self, rows: sp.csr_matrix) -> dict[str, Reading]:
        """What the parts that can propose labels say of some rows."""
        proposers = (self.code, self.network, self.neighbours)
        return {part.name: part.read(rows) for part in proposers if part is not None}

    def opinions(self, rows: sp.csr_matrix) -> Opinions:
        readings = self.readings(rows)
        proposals = {name: reading.propose(self.proposed) for name, reading in readings.items()}
        shortlist = Shortlist.union(list(proposals.values()))
        said = {name: reading.scores(shortlist) for name, reading in readings.items()}
        if self.rankers is not None:
            said["rankers"] = self.rankers.scores(rows, shortlist)
        votes = readings.get("neighbours")
        nearest = votes.nearest if isinstance(votes, VoteReading) else np.zeros(rows.shape[0], dtype=np.float32)
        return Opinions(shortlist, said, nearest, proposals)

    def top(self, rows: sp.csr_matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k best labels of each row. Labels beyond the shortlist follow in the order of the code's scores."""
        n = rows.shape[0]
        columns = np.full((n, k), -1, dtype=np.int32)
        scores = np.full((n, k), -np.inf, dtype=np.float32)
        for start in range(0, n, _BLOCK):
            block = slice(start, min(n, start + _BLOCK))
            columns[block], scores[block] = self._top(rows[block], k)
        return columns, scores

    def _top(self, rows: sp.csr_matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        if self.combiner is None:
            return _best_codes(self.code.read(rows), k)
        opinions = self.opinions(rows)
        scores = self.combiner.scores(opinions.evidence(self.label_counts))
        columns, best = opinions.shortlist.best(scores, k)
        if k > np.diff(opinions.shortlist.starts).min(initial=k):
            _fill(columns, best, *_best_codes(self.code.read(rows), min(len(self.label_counts), 2 * k)))
        return columns, best

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        settings: dict[str, Any] = {"proposed": self.proposed, "parts": {}}
        arrays = {"label_counts": self.label_counts}
        for part in (self.code, self.network, self.neighbours, self.rankers):
            if part is not None:
                settings["parts"][part.name], own = part.state()
                arrays |= {f"{part.name}.{name}": value for name, value in own.items()}
        if self.combiner is not None:
            arrays |= {f"combiner.{name}": value for name, value in self.combiner.weights.items()}
        return settings, arrays

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        def own(name: str) -> dict[str, np.ndarray]:
            return {n.removeprefix(f"{name}."): v for n, v in arrays.items() if n.startswith(f"{name}.")}

        parts = {name: _PARTS[name].from_state(said, own(name)) for name, said in settings["parts"].items()}
        combiner = Combiner(own("combiner")) if own("combiner") else None
        return cls(**parts, label_counts=arrays["label_counts"], proposed=settings["proposed"], combiner=combiner)


def _best_codes(reading: CodeReading, k: int) -> tuple[np.ndarray, np.ndarray]:
    from rankae.network.top_k import top_k

    return top_k(reading.codes, reading.table, reading.bias, k)


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
