"""The files of `rankae evaluate`: a page with a reliability diagram, and a table of labels as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankae.data.writing import written
from rankae.metrics import Selection, judge, reliability
from rankae.report.formulas import escape_formula
from rankae.report.grids import Grid
from rankae.report.page import html_note, html_page, html_plots, html_table
from rankae.report.svg import Line, line_chart

if TYPE_CHECKING:
    from rankae.cli.measuring import Measured


def write_evaluation(path: Path, result: Measured, figures: dict[str, Any], places: Sequence[int]) -> None:
    """The page: figures, and how often predictions of each probability are right."""
    ranked = [f"{name}@{k}" for name in ("P", "nDCG", "PSP", "recall", "ECE", "Brier") for k in places]
    names = [name for name in [*ranked, "NLL", *_OF_SETS] if name in figures]
    grid = Grid("Measures", ["measure", "value"], [[name, f"{figures[name]:.2f}"] for name in names], set(), 1)
    sections = [html_table(grid)]
    if result.probabilities is None:
        sections.append(html_note("The model was not calibrated, so there is no reliability diagram."))
    else:
        sections.insert(0, html_plots("Reliability", [reliability_diagram(result, k) for k in places]))
        sections.insert(1, html_note(_HOW_TO_READ))
    title = f"{figures['method']} on {figures['data']}, {figures['rows']:,} rows"
    with written(path) as stream:
        stream.write(html_page(title, sections).encode())


def reliability_diagram(result: Measured, k: int) -> str:
    """Share of true labels against probability, over the first k labels of each row; the dashed line is perfect."""
    assert result.probabilities is not None
    listed = result.columns[:, :k] >= 0
    true = judge(result.columns[:, :k], result.labels).hits
    bins = reliability(result.probabilities[:, :k][listed], true[listed])
    filled = bins.predictions > 0
    x, y, n = bins.probability[filled], bins.true[filled], bins.predictions[filled]
    spread = 1.96 * np.sqrt(np.maximum(y * (1 - y), 0.25 / n) / n)
    low, high = np.maximum(y - spread, 0), np.minimum(y + spread, 1)
    perfect = Line("perfect", [0.0, 1.0], [0.0, 1.0], style=8)
    own = Line(f"first {k}" if k > 1 else "first", x.tolist(), y.tolist(), low.tolist(), high.tolist())
    return line_chart([perfect, own], f"ECE@{k} {100 * bins.error:.2f}", "probability", "share that is true")


def write_per_label(path: Path, result: Measured) -> None:
    """label, support, given, precision, recall, F1 and the label most often given in its stead, in percent."""
    selection = Selection.of(result.columns, result.given, result.labels)
    support, given, hits = selection.by_label
    confused = selection.confused_with()
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["label", "support", "given", "precision", "recall", "F1", "most_confused_with"])
    for label in np.argsort(-support, kind="stable").tolist():
        if not support[label] and not given[label]:
            continue
        s, g, h = int(support[label]), int(given[label]), int(hits[label])
        shares = [f"{100 * h / g:.2f}" if g else "", f"{100 * h / s:.2f}" if s else "", f"{200 * h / (s + g):.2f}"]
        other = result.names[confused[label]] if confused[label] >= 0 else ""
        table.writerow([escape_formula(result.names[label]), s, g, *shares, escape_formula(other)])
    with written(path) as stream:
        stream.write(text.getvalue().encode("utf-8", "replace"))


_OF_SETS = ("micro-F1", "macro-F1", "weighted-F1", "example-F1", "precision", "recall", "labels_per_row")
_HOW_TO_READ = (
    "Predictions are put into ten bins by their probability. A point on the dashed line says that the share of true "
    "labels in its bin is the probability; bands are 95 % of chance."
)
