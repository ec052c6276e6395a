"""Summarises finished cells: means and deviations over seeds, the best, rank scores, differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from rankae.experiments.cells import Store
from rankae.experiments.differences import Difference, paired_bootstrap
from rankae.experiments.plan import Outcome
from rankae.experiments.provenance import is_older
from rankae.experiments.rank_score import rank_scores

FAMILIES = ("P", "nDCG", "PSP")
# Costs of a cell: field, heading, decimals.
COSTS = (
    ("train_seconds", "training, s", 1),
    ("train_cpu_seconds", "training, CPU s", 1),
    ("predict_ms_per_row", "prediction, ms/row", 3),
    ("model_megabytes", "model, MB", 2),
    ("peak_megabytes", "peak memory, MB", 0),
)


@dataclass(frozen=True)
class Score:
    """A measure of one method on one data set: mean and standard deviation over seeds, in percent.

    to_best : how far below the best method it lies; None for the best itself.
    """

    mean: float
    std: float | None
    seeds: int
    is_best: bool = False
    to_best: Difference | None = None

    @property
    def like_best(self) -> bool:
        """Whether the method is not the best, but not significantly worse."""
        return self.to_best is not None and not self.is_best and not self.to_best.real


@dataclass(frozen=True)
class Summary:
    """Everything that tables and plots show; data sets and methods are identified by the names shown."""

    data: list[str]
    methods: list[str]
    k: tuple[int, ...]
    scores: dict[tuple[str, str, str], Score]  # data, method, measure
    rank_scores: dict[str, dict[str, float]]  # family -> method -> average rank
    costs: dict[tuple[str, str], dict[str, float]]  # data, method -> mean over seeds
    by_frequency: dict[tuple[str, str], dict[str, dict[str, float]]]
    reasons: dict[tuple[str, str], str]
    parameters: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    provenance: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)  # of each seed's cell

    def measures(self, family: str) -> list[str]:
        return [f"{family}@{place}" for place in self.k]

    def seeds(self, data: str, method: str) -> int:
        """Number of seeds of a method's figures; 0 if there are none."""
        score = self.scores.get((data, method, f"P@{self.k[0]}"))
        return 0 if score is None else score.seeds

    def is_older(self, data: str, method: str) -> bool:
        """Whether some of these figures were measured by older code than this."""
        cells = self.provenance.get((data, method), [])
        return any(is_older(cell.get("version"), cell.get("commit")) for cell in cells)

    def to_dict(self) -> dict[str, Any]:
        """JSON values, nested by data set and method."""
        nested: dict[str, Any] = {name: {method: {} for method in self.methods} for name in self.data}
        for (data, method, measure), score in self.scores.items():
            shown = _rounded({**asdict(score), "like_best": score.like_best})
            nested[data][method].setdefault("scores", {})[measure] = shown
        for name in ("costs", "by_frequency", "reasons", "parameters", "provenance"):
            for (data, method), value in getattr(self, name).items():
                nested[data][method][name.removesuffix("s") if name == "reasons" else name] = value
        return {"data": nested, "rank_scores": self.rank_scores, "k": list(self.k)}


def _rounded(value: Any) -> Any:
    """Rounded to six decimals, so that reports from different machines are the same."""
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return round(value, 6) if isinstance(value, float) else value


def summarise(outcomes: Sequence[Outcome], store: Store) -> Summary:
    """Summarise the outcomes of a plan, in which each data set and method occur together at most once."""
    data = list(dict.fromkeys(o.series.label for o in outcomes))
    methods = list(dict.fromkeys(o.series.contender.name for o in outcomes))
    k = outcomes[0].series.k
    scores: dict[tuple[str, str, str], Score] = {}
    for name in data:
        done = {o.series.contender.name: o for o in outcomes if o.series.label == name and o.results}
        for measure in (f"{family}@{place}" for family in FAMILIES for place in k):
            for method, score in _line(done, measure, store).items():
                scores[name, method, measure] = score
    place = {(o.series.label, o.series.contender.name): o for o in outcomes}
    done_places = {key: o for key, o in place.items() if o.results}
    return Summary(
        data,
        methods,
        k,
        scores,
        {family: _ranks(scores, data, methods, [f"{family}@{p}" for p in k]) for family in FAMILIES},
        {key: _mean_costs(o) for key, o in done_places.items()},
        {key: _mean_by_frequency(o) for key, o in done_places.items()},
        {key: o.reason for key, o in place.items() if o.reason},
        {key: o.parameters for key, o in done_places.items() if o.parameters},
        {key: [result.get("provenance", {}) for result in o.results] for key, o in done_places.items()},
    )


def _line(outcomes: dict[str, Outcome], measure: str, store: Store) -> dict[str, Score]:
    """One measure on one data set, for all methods that have it."""
    if not outcomes:
        return {}
    values = {method: [result["scores"][measure] for result in o.results] for method, o in outcomes.items()}
    best = max(values, key=lambda method: float(np.mean(values[method])))
    top = round(float(np.mean(values[best])), 2)
    rows = {method: mean_rows(outcome, measure, store) for method, outcome in outcomes.items()}
    others = [method for method in values if method != best]
    gaps = dict(zip(others, paired_bootstrap(rows[best], [rows[m] for m in others]), strict=True))
    return {
        method: Score(
            mean=float(np.mean(seed_values)),
            std=float(np.std(seed_values, ddof=1)) if len(seed_values) > 1 else None,
            seeds=len(seed_values),
            is_best=round(float(np.mean(seed_values)), 2) == top,
            to_best=gaps.get(method),
        )
        for method, seed_values in values.items()
    }


def mean_rows(outcome: Outcome, measure: str, store: Store) -> np.ndarray:
    """A measure's contribution of every test row, averaged over seeds, since the bootstrap is over test rows."""
    return np.stack([store.rows(cell)[measure] for cell in outcome.cells]).mean(0, dtype=np.float64)


def _ranks(
    scores: dict[tuple[str, str, str], Score], data: list[str], methods: list[str], measures: list[str]
) -> dict[str, float]:
    lines = [
        {method: scores[name, method, measure].mean for method in methods if (name, method, measure) in scores}
        for name in data
        for measure in measures
    ]
    return rank_scores([line for line in lines if line])


def _mean_costs(outcome: Outcome) -> dict[str, float]:
    known = {name: [r[name] for r in outcome.results if r.get(name) is not None] for name, _, _ in COSTS}
    return {name: float(np.mean(values)) for name, values in known.items() if values}


def _mean_by_frequency(outcome: Outcome) -> dict[str, dict[str, float]]:
    first = outcome.results[0]["by_frequency"]
    return {
        group: {name: float(np.mean([r["by_frequency"][group][name] for r in outcome.results])) for name in figures}
        for group, figures in first.items()
    }
