"""The HTML page of a training: measures, training curves, example predictions, and automatic choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

from rankae.base.choices import describe
from rankae.base.ranker import LabelRanker
from rankae.data.writing import written
from rankae.report.grids import Grid
from rankae.report.page import html_note, html_page, html_plots, html_table
from rankae.report.svg import Line, line_chart

History: TypeAlias = Sequence[Mapping[str, Any]]

SHOWN_CHARACTERS = 160
MEASURES = ("P", "nDCG", "PSP")
STYLE = """
ol { margin: 0; padding-left: 1.2rem; }
td:has(ol), td.text { white-space: normal; text-align: left; vertical-align: top; }
li.hit { color: #00734f; font-weight: 600; } li.hit::after { content: " \\2713"; } li.miss, small { color: #666; }
"""


@dataclass(frozen=True)
class Example:
    """A row of data and the model's predictions for it."""

    text: str
    true: list[str]
    predicted: list[str]
    scores: list[float]


def write_report(
    path: str | Path,
    model: LabelRanker,
    facts: Mapping[str, Any],
    measures: Mapping[str, Mapping[str, Any]] | None = None,
    examples: Sequence[Example] = (),
    histories: Mapping[str, History] | None = None,
) -> None:
    """Write the self-contained page.

    Parameters
    ----------
    facts : of the training: data, rows, labels, features, seconds, choices, fingerprint.
    measures : of one or more models on rows that were not trained on, by the model's name.
    examples : example predictions.
    histories : figures of each epoch by the title of their chart; by default those of the model.
    """
    summary = (
        f"{facts['rows']:,} training rows, {facts['labels']:,} labels, {facts['features']:,} features; "
        f"trained in {facts['seconds']:.1f} seconds. Fingerprint of the data: {facts['fingerprint'][:16]}."
    )
    sections = [html_note(summary)]
    if measures is None and "held_out" in facts:
        measures = {"on a held-out fifth": facts["held_out"]}
    if measures:
        columns = [name for kind in MEASURES for name in next(iter(measures.values())) if name.startswith(f"{kind}@")]
        sections.append(html_table(_figures("How good is it?", columns, measures)))
    histories = {"Training": getattr(model, "history_", [])} if histories is None else histories
    sections += [_curves(title, history) for title, history in histories.items()]
    if evidence := getattr(model, "evidence_", None):
        columns = [
            name for name in next(iter(evidence.values())) if all(name in figures for figures in evidence.values())
        ]
        sections.append(html_table(_figures("Its components on held-out rows", columns, evidence)))
    if examples:
        sections.append(_examples(examples))
    if facts["choices"]:
        choices = [[name, describe(choice)] for name, choice in facts["choices"].items()]
        sections.append(html_table(Grid("What was chosen, and why", ["setting", "choice"], choices, set())))
    page = html_page(f"{model.method} on {facts['data']}", sections, STYLE)
    with written(path) as stream:
        stream.write(page.encode(errors="replace"))


def _figures(title: str, columns: Sequence[str], measures: Mapping[str, Mapping[str, Any]]) -> Grid:
    lines = [
        [name, *(f"{figures[column]:.2f}" if column in figures else "-" for column in columns)]
        for name, figures in measures.items()
    ]
    return Grid(title, ["", *columns], lines, set())


def _curves(heading: str, history: History) -> str:
    """The loss by epoch and, if rows were held out, the precision on them by epoch."""
    epochs = [figures for figures in history if "epoch" in figures]
    charts = [("loss", _loss_lines(epochs)), ("precision on held-out rows", _lines(epochs, ("P@1", "P@3", "P@5")))]
    drawn = [line_chart(lines, title.capitalize(), "epoch", title) for title, lines in charts if lines]
    if not drawn:
        closed_form = "This model was fitted in closed form: there are no epochs to draw."
        return f"<h2>{escape(heading)}</h2>{html_note(closed_form)}"
    return html_plots(heading, drawn)


def _loss_lines(epochs: History) -> list[Line]:
    """The loss and its terms; if several networks were trained, the loss of each."""
    runs = _runs(epochs)
    if len(runs) < 2:
        return _lines(epochs, ("loss", "L_h", "L_ae", "direct"))
    return [line for i, run in enumerate(runs) for line in _lines(run, ("loss",), f"network {i + 1}", i)]


def _runs(epochs: History) -> list[list[Mapping[str, Any]]]:
    """The epochs of each network: a new one begins with another member, or if a member's epochs start again."""
    runs: list[list[Mapping[str, Any]]] = []
    current: dict[Any, list[Mapping[str, Any]]] = {}
    for figures in epochs:
        run = current.get(figures.get("member"))
        if run is None or run[-1]["epoch"] >= figures["epoch"]:
            run = current[figures.get("member")] = []
            runs.append(run)
        run.append(figures)
    return runs


def _lines(epochs: History, names: Sequence[str], called: str | None = None, style: int = 0) -> list[Line]:
    lines = []
    for i, name in enumerate(names):
        if points := [(figures["epoch"], figures[name]) for figures in epochs if name in figures]:
            x, y = zip(*points, strict=True)
            lines.append(Line(called or name, x, y, style=style + i))
    return lines


def _examples(examples: Sequence[Example]) -> str:
    head = "<tr><th>row</th><th>its labels</th><th>predicted, best first</th></tr>"
    body = "".join(_example(example) for example in examples)
    return f'<h2>What it predicts</h2><div class="scroll"><table>{head}{body}</table></div>'


def _example(example: Example) -> str:
    text = example.text[:SHOWN_CHARACTERS] + ("…" if len(example.text) > SHOWN_CHARACTERS else "")
    predicted = [
        f'<li class="{"hit" if label in example.true else "miss"}">{escape(label)} <small>{score:.3g}</small></li>'
        for label, score in zip(example.predicted, example.scores, strict=True)
    ]
    return (
        f'<tr><td class="text">{escape(text)}</td><td class="text">{escape(", ".join(example.true))}</td>'
        f"<td><ol>{''.join(predicted)}</ol></td></tr>"
    )
