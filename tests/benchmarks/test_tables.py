"""What the benchmarks print, from figures that are known."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from rankae.experiments.summary import Score, Summary

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"
COSTS = {"train_cpu_seconds": 14.06, "predict_ms_per_row": 0.0416, "model_megabytes": 2.8}


def summary_of(figures: dict[str, dict[str, Score]]) -> Summary:
    """Data -> method -> a score that stands for all measures."""
    measures = [f"{family}@{k}" for family in ("P", "PSP") for k in (1, 3, 5)]
    places = [(data, method) for data, own in figures.items() for method in own]
    return Summary(
        list(figures),
        list(dict.fromkeys(method for _, method in places)),
        (1, 3, 5),
        {(data, method, m): figures[data][method] for data, method in places for m in measures},
        {},
        dict.fromkeys(places, COSTS),
        {},
        {("bibtex", "c2ae"): "it burst"},
        {("bibtex", "sleec"): {"dim": 100}},
    )


def script(name: str) -> dict[str, Any]:
    if str(BENCHMARKS) not in sys.path:  # as where it is run by its name
        sys.path.append(str(BENCHMARKS))
    return runpy.run_path(str(BENCHMARKS / name))


def test_rivals_stand_beside_their_published_scores() -> None:
    weak, strong = Score(60.0, None, 1), Score(65.0, 0.25, 3, is_best=True)
    page = script("rivals.py")["report"](summary_of({"bibtex": {"knn": weak, "sleec": strong}}))
    lines = [line for line in page.splitlines() if line.startswith("|")]
    best = "**65.00 ± 0.25**"
    assert lines[2] == (
        f"| sleec | 3 | {best} | {best} | {best} | 65.08 / 39.64 / 28.87 | -0.08 / +25.36 / +36.13 "
        "| 65.00 / 65.00 / 65.00 | 14.1 | 0.042 | 2.80 |"
    )
    assert lines[3].startswith("| knn | 1 | 60.00 | 60.00 | 60.00 | - | - | 60.00 / ")
    assert "| bibtex | sleec | dim = 100 |" in lines
    assert "| bibtex | c2ae | it burst |" in lines
    assert "another split" in page


@pytest.mark.parametrize(("rival_seeds", "shown"), [(3, "3"), (1, "3 / 1")])
def test_the_readmes_table_shows_the_best_and_the_seeds(rival_seeds: int, shown: str) -> None:
    ours, rival = Score(68.94, 0.1, 3), Score(66.6, None, rival_seeds)
    table = script("accuracy.py")["_short_table"](summary_of({"delicious": {"default": ours, "parabel": rival}}))
    assert table.splitlines()[-1] == f"| delicious | **68.9** / **68.9** / **68.9** | 66.6 / 66.6 / 66.6 | {shown} |"


def test_a_table_takes_the_place_of_the_old_one_and_nothing_else_changes(tmp_path: Path) -> None:
    put_between = script("measuring/pages.py")["put_between"]
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a -->\nold\n<!-- end of a -->\nafter <!-- b -->")
    put_between(page, "a", "| new |\n")
    assert page.read_text() == "before\n<!-- a -->\n| new |\n<!-- end of a -->\nafter <!-- b -->"
    with pytest.raises(SystemExit, match="no place for the table"):
        put_between(page, "b", "| new |")


def test_pages_have_a_place_for_every_table() -> None:
    wanted = [
        ("README.md", "results"),
        *(("docs/results/noise.md", data) for data in script("noise.py")["EXPERIMENTS"]),
    ]
    for page, name in wanted:
        text = (BENCHMARKS.parent / page).read_text()
        assert text.count(f"<!-- {name} -->") == text.count(f"<!-- end of {name} -->") == 1


def test_the_first_table_of_a_report_is_taken() -> None:
    report = "# Label noise\n\nA note.\n\n## P@1\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n## P@3\n\n| c |\n"
    assert script("noise.py")["first_table"](report) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
