"""Tables keep the figures of the last report where finished cells are not at hand."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from rankae.experiments.differences import Difference
from rankae.experiments.summary import Score, Summary

EARLIER = Path(__file__).parent.parent.parent / "benchmarks" / "measuring" / "earlier.py"
OLD = {"mean": 60.0, "std": 0.5, "seeds": 3}


@pytest.fixture
def merged(tmp_path: Path) -> Any:
    """New figures of one method, and a report with older ones of it and of another."""
    report = tmp_path / "results.json"
    of_rival = {"scores": {"P@1": OLD}, "costs": {"train_seconds": 2.0}, "provenance": [{"commit": "abc"}]}
    of_ours = {"scores": {"P@1": OLD | {"mean": 99.0}}, "costs": {"train_seconds": 1.0}}
    report.write_text(json.dumps({"data": {"bibtex": {"rival": of_rival, "ours": of_ours}}}))
    new = {
        ("bibtex", "ours", "P@1"): Score(61.0, None, 1, True),
        ("bibtex", "weak", "P@1"): Score(50.0, None, 1, False),
    }
    new["bibtex", "weak", "P@1"] = Score(50.0, None, 1, False, Difference(11.0, 10.0, 12.0))
    costs = {("bibtex", method): {"train_seconds": 5.0} for method in ("ours", "weak")}
    summary = Summary(["bibtex"], ["ours", "weak"], (1,), new, {}, costs, {}, {})
    return lambda: runpy.run_path(str(EARLIER))["with_earlier"](summary, report)


def test_what_is_measured_again_replaces_what_was(merged: Any) -> None:
    summary = merged()
    assert summary.scores["bibtex", "ours", "P@1"].mean == 61
    assert summary.costs["bibtex", "ours"] == {"train_seconds": 5.0}


def test_the_rest_stays_with_its_provenance(merged: Any) -> None:
    summary = merged()
    kept = summary.scores["bibtex", "rival", "P@1"]
    assert (kept.mean, kept.std, kept.seeds, kept.is_best) == (60.0, 0.5, 3, False)
    assert summary.provenance["bibtex", "rival"] == [{"commit": "abc"}]
    assert summary.methods == ["ours", "weak", "rival"]
    assert summary.rank_scores["P"]["ours"] < summary.rank_scores["P"]["rival"] < summary.rank_scores["P"]["weak"]
    assert summary.scores["bibtex", "weak", "P@1"].to_best is not None


def test_a_difference_to_a_method_that_is_the_best_no_more_is_left_out(merged: Any, tmp_path: Path) -> None:
    report = tmp_path / "results.json"
    report.write_text(report.read_text().replace("60.0", "70.0"))
    summary = merged()
    assert summary.scores["bibtex", "rival", "P@1"].is_best
    assert not summary.scores["bibtex", "ours", "P@1"].is_best
    assert summary.scores["bibtex", "weak", "P@1"].to_best is None
