"""The rank score must be the paper's: its own tables give its own last lines."""

from __future__ import annotations

from rankae.experiments.rank_score import rank_scores

METHODS = ["SLEEC", "FastXML", "PD-Sparse", "FastText", "Bow-CNN", "XML-CNN", "Rank-AE"]

# Table 2 (a) and (b) of the paper; None is its "-".
PRECISION = """
67.59 69.61 51.82 - - - 69.26 | 61.38 64.12 44.18 - - - 62.72 | 56.56 59.27 38.95 - - - 57.63
87.82 84.22 81.86 - - - 86.53 | 73.45 67.33 62.52 - - - 70.17 | 59.17 53.04 45.11 - - - 55.44
90.25 91.23 90.08 - - - 90.90 | 72.42 73.51 72.03 - - - 72.82 | 51.88 53.31 51.09 - - - 52.05
51.37 66.45 66.84 69.55 66.59 75.55 75.91 | 34.46 48.32 46.29 48.76 48.42 52.59 52.66
27.34 36.28 35.04 36.53 36.56 38.90 38.48 | 79.26 71.36 76.43 71.51 64.99 76.38 79.52
64.30 59.90 60.37 60.37 51.68 62.81 65.14 | 52.33 50.39 49.72 50.41 42.32 51.41 53.18
85.88 83.03 81.03 68.86 81.16 84.11 83.60 | 72.98 67.47 57.36 54.65 50.67 70.24 72.07
62.70 57.76 44.10 47.61 36.03 59.87 62.07
"""
GAIN = """
67.59 69.61 51.82 - - - 69.26 | 62.87 65.47 46.00 - - - 64.16 | 59.28 61.90 42.02 - - - 60.39
87.82 84.22 81.86 - - - 86.53 | 81.50 75.41 70.21 - - - 78.36 | 79.22 72.37 63.71 - - - 75.28
90.25 91.23 90.08 - - - 90.90 | 88.86 89.63 88.50 - - - 89.29 | 89.49 90.33 88.79 - - - 89.75
51.37 66.45 66.84 69.55 66.59 75.55 75.91 | 49.75 67.14 64.84 68.47 67.26 74.02 73.50
54.43 71.72 69.69 72.99 72.07 78.48 77.37 | 79.26 71.36 76.43 71.51 64.99 76.38 79.52
68.13 62.87 64.31 63.32 55.03 66.28 68.76 | 61.60 58.06 58.78 58.56 49.92 60.32 62.33
85.88 83.03 81.03 68.86 81.16 84.11 83.60 | 76.02 75.35 62.62 56.72 56.14 73.52 74.78
68.13 63.36 52.03 51.19 45.29 65.50 67.18
"""


def lines(table: str) -> list[dict[str, float]]:
    rows = [part.split() for part in table.replace("|", "\n").strip().splitlines() if part.strip()]
    return [{m: float(v) for m, v in zip(METHODS, row, strict=True) if v != "-"} for row in rows]


def test_there_are_eighteen_lines() -> None:
    assert len(lines(PRECISION)) == len(lines(GAIN)) == 18


def test_the_papers_precisions_give_the_papers_rank_scores() -> None:
    found = rank_scores(lines(PRECISION))
    assert [round(found[m], 2) for m in METHODS] == [2.83, 3.33, 4.56, 4.56, 5.78, 2.56, 1.78]


def test_the_papers_gains_give_its_rank_scores_within_a_slip() -> None:
    """Table (b) prints 3.22, 4.33, 4.67 and 5.78 for the second to fifth method: its own figures give a rank more."""
    found = rank_scores(lines(GAIN))
    assert [round(found[m], 2) for m in METHODS] == [2.83, 3.28, 4.39, 4.78, 5.89, 2.56, 1.89]


def test_a_method_is_averaged_only_over_lines_that_have_it() -> None:
    assert rank_scores([{"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 2.0, "c": 3.0}]) == {"a": 2.0, "b": 2.0, "c": 1.0}
