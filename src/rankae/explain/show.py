"""Shows an explanation as coloured text on a terminal, or as a self-contained HTML page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from rankae.explain.explanation import Explanation
from rankae.explain.faithfulness import DeletionCurve

if TYPE_CHECKING:
    from rich.text import Text

RISES, FALLS = "0,114,178", "213,94,0"  # Okabe and Ito's blue and vermillion
_WEAKEST = 0.05  # a word with less than this share of the strongest one's weight stays plain

MEANINGS = {
    "removal": "A word's weight is how far the label's score falls when the word is taken out of the document.",
    "contribution": "A word's weight is its summand of the label's score; the base is the score without any word.",
}
NO_WORD_COUNTS = (
    "No word of this document makes a difference to the model, as where it has learnt from none of them: these are the "
    "labels that it gives to any such document."
)
HOW_COLOURED = "Blue words raise it, underlined orange ones lower it."
OF_ATTENTION = (
    "A word's weight is its channel attention, summed over channels: how much of the word the network lets through, "
    "whatever the label. Colours run from the document's least attended word to its most."
)


def colours(weights: np.ndarray) -> list[float]:
    """The colour strength of each word, between -1 (vermillion) and 1 (blue)."""
    strongest = float(np.abs(weights).max(initial=0.0))
    shares = weights / strongest if strongest else np.zeros(len(weights))
    return [round(float(share), 3) if abs(share) >= _WEAKEST else 0.0 for share in shares]


def terminal_text(explanation: Explanation, label: int = 0) -> Text:
    """The document with words coloured for one label; words that lower the score are also underlined."""
    from rich.text import Text

    shares = colours(explanation.contributions[:, label])
    text = Text()
    for piece, word in explanation.document.pieces():
        share = shares[word] if word >= 0 else 0.0
        if share == 0:
            text.append(piece)
            continue
        red, green, blue = (int(level) for level in (RISES if share > 0 else FALLS).split(","))
        mixed = [round(255 + abs(share) * (level - 255)) for level in (red, green, blue)]
        ink = "white" if abs(share) > 0.5 else "black"
        underline = " underline" if share < 0 else ""
        text.append(piece, style=f"{ink} on rgb({mixed[0]},{mixed[1]},{mixed[2]}){underline}")
    return text


def html_explanation(explanation: Explanation, title: str, curves: Sequence[DeletionCurve] = ()) -> str:
    """A page on which choosing a label colours the words that raise or lower its score."""
    from rankae.report.page import html_note, html_page, html_plots
    from rankae.report.svg import Line, line_chart

    views: list[dict[str, Any]] = [
        {
            "name": name,
            "score": f"{score:.3f}",
            "meaning": f"{MEANINGS[explanation.view]} {HOW_COLOURED}",
            "weights": [round(float(w), 4) for w in weights],
            "shares": colours(weights),
        }
        for name, score, weights in zip(
            explanation.labels, explanation.scores, explanation.contributions.T, strict=True
        )
    ]
    if explanation.base is not None:
        for view, base in zip(views, explanation.base, strict=True):
            view["base"] = round(float(base), 4)
    if explanation.attention is not None:
        gates = explanation.attention
        shown = colours((gates - gates.min()) / max(float(np.ptp(gates)), 1e-9)) if len(gates) else []
        weights = [round(float(g), 4) for g in gates]
        views.append(
            {
                "name": "channel attention",
                "score": "all labels",
                "meaning": OF_ATTENTION,
                "weights": weights,
                "shares": shown,
            }
        )
    buttons = "".join(
        f'<button type="button" role="radio" aria-checked="{"true" if i == 0 else "false"}" data-view="{i}">'
        f"{escape(view['name'])} <small>{escape(view['score'])}</small></button>"
        for i, view in enumerate(views)
    )
    # The first label is coloured in the HTML itself, for readers without scripts.
    shares = views[0]["shares"] if views else [0.0] * len(explanation.words)
    pieces = "".join(
        escape(piece) if word < 0 else f'<span data-word="{word}"{_coloured(shares[word])}>{escape(piece)}</span>'
        for piece, word in explanation.document.pieces()
    )
    # A "<" in the data could end the script element, so it is escaped.
    data = json.dumps({"views": views, "words": explanation.words}).replace("<", "\\u003c")
    hint = NO_WORD_COUNTS if explanation.says_nothing else "Choose a label to see which words made its score."
    sections = [
        html_note(hint),
        f'<div id="labels" role="radiogroup" aria-label="label">{buttons}</div>',
        f'<p class="note" id="meaning" aria-live="polite">{escape(MEANINGS[explanation.view])} {HOW_COLOURED}</p>',
        f'<p id="document">{pieces}</p>',
        '<div class="scroll"><table><thead><tr><th>word</th><th>weight</th><th></th></tr></thead>'
        f'<tbody id="strongest">{_strongest_rows(explanation)}</tbody></table></div>',
        f'<script type="application/json" id="data">{data}</script>',
    ]
    if curves:
        plots = []
        for curve in curves:
            low, high = (
                [m + side * s for m, s in zip(curve.random, curve.random_std, strict=True)] for side in (-1, 1)
            )
            lines = [
                Line("words named by the explanation", curve.deleted, curve.named),
                Line("random words, ± standard deviation", curve.deleted, curve.random, low, high, style=1),
            ]
            plots.append(line_chart(lines, f"Label: {curve.label}", "words deleted", "score of the label"))
        sections.append(html_plots("Is it true to the model? Score as words are deleted", plots))
    return html_page(title, sections, _STYLE, _SCRIPT)


def _strongest_rows(explanation: Explanation) -> str:
    named = explanation.strongest(0, 15) if explanation.labels else []
    return "".join(f"<tr><td>{escape(word)}</td><td>{weight:.4f}</td><td></td></tr>" for word, weight in named)


def _coloured(share: float) -> str:
    if share == 0:
        return ""
    colour = RISES if share > 0 else FALLS
    kind = "rises" if share > 0 else "falls"
    return f' class="{kind}" style="background:rgba({colour},{abs(share) * 0.75:.3f})"'


_STYLE = """
#labels { display: flex; flex-wrap: wrap; gap: .4rem; margin: 1rem 0; }
#labels button { font: inherit; padding: .25rem .7rem; border: 1px solid #999; border-radius: 1rem; background: #fff;
  cursor: pointer; } #labels button[aria-checked=true] { background: #222; color: #fff; }
#document { white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.9; max-width: 80ch; }
#document span { border-radius: 3px; padding: 1px 2px; } #document span.falls { text-decoration: underline; }
table th, #strongest td { text-align: left; } #strongest td:nth-child(2) { text-align: right; }
#strongest i { display: inline-block; height: .7em; }
"""

_SCRIPT = """
const found = JSON.parse(document.getElementById("data").textContent);
const blue = "0,114,178", orange = "213,94,0", spans = [...document.querySelectorAll("#document span")];
const buttons = [...document.querySelectorAll("#labels button")], table = document.getElementById("strongest");
function show(number) {
  const view = found.views[number];
  document.getElementById("meaning").textContent = view.meaning;
  buttons.forEach((button, i) => {
    button.setAttribute("aria-checked", i === number);
    button.tabIndex = i === number ? 0 : -1;
  });
  for (const span of spans) {
    const word = +span.dataset.word, share = view.shares[word];
    span.style.background = share ? `rgba(${share > 0 ? blue : orange},${Math.abs(share) * .75})` : "";
    span.classList.toggle("falls", share < 0);
    span.title = view.weights[word];
  }
  const order = view.weights.map((weight, word) => word).filter(word => view.shares[word])
    .sort((a, b) => Math.abs(view.weights[b]) - Math.abs(view.weights[a])).slice(0, 15);
  table.replaceChildren(...order.map(word => {
    const row = document.createElement("tr"), bar = document.createElement("i"), share = view.shares[word];
    bar.style.width = `${Math.abs(share) * 12}rem`;
    bar.style.background = `rgb(${share > 0 ? blue : orange})`;
    for (const content of [found.words[word], view.weights[word].toFixed(4), bar]) row.insertCell().append(content);
    return row;
  }));
  if ("base" in view) {
    const row = table.insertRow();
    for (const content of ["base, without any word", view.base.toFixed(4), ""]) row.insertCell().append(content);
  }
}
buttons.forEach((button, i) => {
  button.addEventListener("click", () => show(i));
  button.addEventListener("keydown", event => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (!step) return;
    const next = (i + step + buttons.length) % buttons.length;
    show(next);
    buttons[next].focus();
    event.preventDefault();
  });
});
if (found.views.length) show(0);
"""
