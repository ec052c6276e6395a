"""What an audit found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rankae.audit.conflicts import Conflict
from rankae.audit.flags import Flags
from rankae.audit.noise_rates import NoiseModel, Rate
from rankae.audit.relations import Relation


@dataclass(frozen=True)
class Flag:
    """A label that is probably missing or wrong.

    probability : that it is so. recorded : that a row like this is recorded with the label.
    words : of the row that speak for the label, the strongest first.
    nearest : rows {"row", "cosine", "carries"}, nearest first, some that carry the label and some that lack it.
    labels : what the row carries. text : of the row, None for features.
    """

    row: int
    id: Any
    label: str
    kind: str
    probability: float
    recorded: float
    words: list[str]
    nearest: list[dict[str, Any]]
    labels: list[str]
    text: str | None = None

    def record(self) -> dict[str, Any]:
        """JSON values, without the text."""
        return {
            "row": self.row,
            "id": self.id,
            "label": self.label,
            "kind": self.kind,
            "probability": round(self.probability, 4),
            "recorded": round(self.recorded, 6),
            "words": self.words,
            "nearest": self.nearest,
            "labels": self.labels,
        }


@dataclass(frozen=True)
class AuditReport:
    """
    flags : the reported ones of both kinds, the most probable first.
    noise : rates of missing and wrong labels with intervals.
    label_rates : of each label with enough rows, "missing" and "wrong".
    conflicts, relations, unpredictable : see their modules.
    ranked : for each kind all flags, as arrays.
    """

    data: str
    rows: int
    labels: int
    recorded: int
    noise: NoiseModel
    label_names: list[str]
    label_rates: dict[int, dict[str, Rate]]
    flags: list[Flag]
    conflicts: list[Conflict]
    relations: list[Relation]
    unpredictable: list[tuple[int, int, float]]
    ranked: dict[str, Flags] = field(repr=False)
    ids: list[Any] | None = field(default=None, repr=False)

    def records(self) -> list[dict[str, Any]]:
        """The flags as dicts: `pandas.DataFrame(report.records())`."""
        return [flag.record() for flag in self.flags]

    def label_records(self) -> list[dict[str, Any]]:
        """Estimated rates of each label with enough rows, the noisiest first."""
        found = []
        for label, rates in self.label_rates.items():
            line: dict[str, Any] = {"label": self.label_names[label]}
            for kind, rate in rates.items():
                line |= {f"{kind}{'' if name == 'rate' else '_' + name}": v for name, v in rate.rounded().items()}
            found.append(line)
        return sorted(found, key=lambda line: -(line["missing"] + line["wrong"]))

    def conflict_records(self) -> list[dict[str, Any]]:
        names = self.label_names
        return [
            {
                "row": c.row,
                "other": c.other,
                "id": self._id(c.row),
                "other_id": self._id(c.other),
                "cosine": round(c.cosine, 4),
                "only": [names[i] for i in c.only],
                "other_only": [names[i] for i in c.other_only],
            }
            for c in self.conflicts
        ]

    def relation_records(self) -> list[dict[str, Any]]:
        names = self.label_names
        return [
            {
                "kind": r.kind,
                "label": names[r.label],
                "other": names[r.other],
                "shared_rows": r.rows,
                "share": round(r.shared, 4),
                "same_words": round(r.words, 4),
                "spelling": round(r.spelling, 4),
            }
            for r in self.relations
        ]

    def unpredictable_records(self) -> list[dict[str, Any]]:
        return [
            {"label": self.label_names[label], "rows": rows, "found": round(share, 4)}
            for label, rows, share in self.unpredictable
        ]

    def summary(self) -> dict[str, Any]:
        """All but the flags, as JSON values."""
        return {
            "data": self.data,
            "rows": self.rows,
            "labels": self.labels,
            "recorded": self.recorded,
            "noise": {"missing": self.noise.missing.rounded(), "wrong": self.noise.wrong.rounded()},
            "flags": {kind: sum(flag.kind == kind for flag in self.flags) for kind in self.ranked},
            "label_rates": self.label_records(),
            "conflicts": self.conflict_records(),
            "relations": self.relation_records(),
            "unpredictable": self.unpredictable_records(),
        }

    def _id(self, row: int) -> Any:
        return row if self.ids is None else self.ids[row]
