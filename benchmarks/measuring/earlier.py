"""Figures of an earlier report, for tables whose finished cells are not all at hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankae.experiments.rank_score import rank_scores
from rankae.experiments.summary import FAMILIES, Score, Summary

_COPIED = ("costs", "by_frequency", "parameters", "provenance")
Lines = dict[tuple[str, str], dict[str, Score]]  # data and measure -> method -> score


def with_earlier(summary: Summary, report: Path) -> Summary:
    """The summary, with the figures of an earlier report's results.json where it has none of its own.

    Provenance is copied too, so that tables still mark the figures that are older than the code. Which method is best
    is found again. Differences to a method that is the best no more are left out: they need the rows of its cells.
    """
    earlier: dict[str, Any] = json.loads(report.read_text())["data"] if report.exists() else {}
    scores = dict(summary.scores)
    copied: dict[str, Any] = {name: dict(getattr(summary, name)) for name in _COPIED}
    for data, methods in earlier.items():
        for method, figures in methods.items():
            if (data, method) in summary.costs or "scores" not in figures:
                continue
            for measure, score in figures["scores"].items():
                scores[data, method, measure] = Score(score["mean"], score["std"], score["seeds"])
            for name in copied.keys() & figures.keys():
                copied[name][data, method] = figures[name]
    lines: Lines = {}
    for (data, method, measure), score in scores.items():
        lines.setdefault((data, measure), {})[method] = score
    marked = {
        (data, method, measure): score
        for (data, measure), line in lines.items()
        for method, score in _best_marked(line).items()
    }
    ranks = {family: _ranks(lines, family) for family in FAMILIES}
    names = {"data": [data for data, _, _ in scores], "methods": [method for _, method, _ in scores]}
    distinct = {name: list(dict.fromkeys([*getattr(summary, name), *found])) for name, found in names.items()}
    return replace(summary, scores=marked, rank_scores=ranks, **distinct, **copied)


def _best_marked(line: dict[str, Score]) -> dict[str, Score]:
    top = max(round(score.mean, 2) for score in line.values())
    as_before = any(score.is_best and round(score.mean, 2) == top for score in line.values())
    return {
        method: replace(score, is_best=round(score.mean, 2) == top, to_best=score.to_best if as_before else None)
        for method, score in line.items()
    }


def _ranks(lines: Lines, family: str) -> dict[str, float]:
    of_family = [line for (_, measure), line in lines.items() if measure.startswith(f"{family}@")]
    return rank_scores([{method: score.mean for method, score in line.items()} for line in of_family])
