"""Ablation: Figure 4 of the paper, and the same for the components of the default recipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankae.base.choices import value_of
from rankae.data import load_dataset, splits_of
from rankae.experiments.compare import refuse_same_names, write_files, write_report
from rankae.experiments.plan import Contender, Outcome, Running, Series, run_series
from rankae.experiments.summary import Summary, summarise
from rankae.report.page import html_plots
from rankae.report.svg import Line, bar_chart

TITLE = "Ablation"
PAPER = [
    Contender("No attn", "no-attn"),
    Contender("No loss", "bce-ae"),
    Contender("Rank-AE (paper)", "rank-ae-paper"),
]
FULL = Contender("Rank-AE (default)", "rank-ae")
# The default recipe's own additions, each switched off alone.
ADDITIONS = [
    Contender("without tuned decoder", "rank-ae", {"tuning": False}),
    Contender("without network", "rank-ae", {"network": 0}),
    Contender("without channel attention", "rank-ae", {"attention": False}),
    Contender("without rankers", "rank-ae", {"rankers": False}),
    Contender("without neighbours", "rank-ae", {"neighbours": False}),
    Contender("without embeddings of words", "rank-ae", {"word_vectors": "none"}),
]
TEXT_ADDITIONS = [
    Contender("without word pairs", "rank-ae", {"ngrams": [1, 1]}),
    Contender("without titles", "rank-ae", {"title": 0}),
    Contender("without pieces of words", "rank-ae", {"pieces": False}),
]
# The value of a setting at which the default does without the addition; also its value if it was not chosen.
DOES_WITHOUT: dict[str, Any] = {
    "network": 0, "tuning": False, "rankers": False, "neighbours": False, "ngrams": [1, 1], "title": 0.0,
    "pieces": False, "word_vectors": "none",
}  # fmt: skip


def ablate(
    data: Sequence[str], running: Running, seeds: int = 1, tune_trials: int = 0, k: tuple[int, ...] = (1, 3, 5)
) -> Summary:
    """Run the paper's three variants and the recipe with and without each addition; write tables and figures.

    An addition that the default does not use on some data is left out there, since the result would be the same.

    tune_trials : tuning of the paper's variants; the default recipe makes its own choices on held-out rows.
    """
    refuse_same_names(data)
    outcomes = run_series([Series(source, FULL, seeds, None, 0, k) for source in data], running)
    full = {outcome.series.data: outcome for outcome in outcomes}
    plan = [Series(source, variant, seeds, None, tune_trials, k) for source in data for variant in PAPER]
    for source in data:
        for variant in [*ADDITIONS, *(TEXT_ADDITIONS if _is_text(source, running.reading) else [])]:
            series = Series(source, variant, seeds, None, 0, k)
            if source in full and does_without(variant, full[source]):
                outcomes.append(Outcome(series, [], [], "the default does without it here"))
            else:
                plan.append(series)
    outcomes += run_series(plan, running)
    shown = [*PAPER, FULL, *ADDITIONS, *TEXT_ADDITIONS]
    outcomes.sort(key=lambda outcome: (data.index(outcome.series.data), shown.index(outcome.series.contender)))
    summary = summarise(outcomes, running.store)
    paper = {name: paper_figure(summary, name) for name in summary.data}
    recipe = {name: additions_figure(summary, name) for name in summary.data}
    sections = [
        html_plots("The paper's model: without attention, without its loss, and whole", list(paper.values())),
        html_plots("The default recipe: change when one addition is switched off", list(recipe.values())),
    ]
    write_report(summary, running.folder, TITLE, sections)
    figures = {f"{name}.paper.svg": plot for name, plot in paper.items()}
    write_files(running.folder, figures | {f"{name}.additions.svg": plot for name, plot in recipe.items()})
    return summary


def does_without(variant: Contender, full: Outcome) -> bool:
    """Whether the default, with every seed, chose the value that the variant sets."""
    (name,) = variant.parameters
    setting = "network" if name == "attention" else name
    off = DOES_WITHOUT[setting]
    chosen = [value_of(result["choices"], setting) for result in full.results]
    # Older cells hold choices as text.
    return bool(chosen) and all(one in (None, off) or one == str(_plain(off)) for one in chosen)


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def paper_figure(summary: Summary, data: str) -> str:
    """P@k of the three variants, as in the paper."""
    return _bars(summary, data, [variant.name for variant in PAPER], None, f"{data}: P@k", "P@k, percent")


def additions_figure(summary: Summary, data: str) -> str:
    """Points of P@k won or lost without each addition: bars below 0 say that the addition helps."""
    names = [variant.name for variant in [*ADDITIONS, *TEXT_ADDITIONS]]
    return _bars(summary, data, names, FULL.name, f"{data}: without one addition", "change in P@k, points")


def _bars(summary: Summary, data: str, methods: list[str], against: str | None, title: str, y_label: str) -> str:
    measures = summary.measures("P")
    base = [summary.scores.get((data, against, measure)) if against else None for measure in measures]
    bars = []
    for i, method in enumerate(methods):
        scores = [summary.scores.get((data, method, measure)) for measure in measures]
        if any(score is None for score in scores) or (against and any(b is None for b in base)):
            continue
        means = [s.mean - (b.mean if b else 0.0) for s, b in zip(scores, base, strict=True) if s is not None]
        spreads = [(s.std or 0.0) if s is not None else 0.0 for s in scores]
        low, high = ([m + side * s for m, s in zip(means, spreads, strict=True)] for side in (-1, 1))
        bars.append(Line(method, [], means, low, high, style=i))
    return bar_chart(measures, bars, title, y_label)


def _is_text(source: str, reading: dict[str, Any]) -> bool:
    splits = splits_of(source)
    return load_dataset(source, "test" if "test" in splits else splits[0], **reading).texts is not None
