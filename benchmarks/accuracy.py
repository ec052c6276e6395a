"""Accuracy of the presets, of each refinement alone, and of today's strong rivals on the same features.

    RANKAE_DATA=../shared/data python benchmarks/accuracy.py [--data A B] [--contenders X Y] [--seeds 3] [--jobs 1]
    python benchmarks/accuracy.py --report-only

Writes docs/results/accuracy.md, accuracy.svg, the folder docs/results/accuracy (tables, JSON, a page that sorts), and
the README's table. Finished cells are in .cells, which all reports share: what one has measured, the others
do not run again. Where there is no finished cell, the tables keep the figures of the last report, and mark those of our
own models that are older than the code.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from measuring.earlier import with_earlier
from measuring.pages import put_between
from measuring.places import CELLS, RESULTS
from rankae.experiments.compare import write_files, write_report
from rankae.experiments.plan import Contender, Running, Series, finished_series, run_series
from rankae.experiments.summary import Summary, summarise
from rankae.experiments.tables import cost_grid, score_grid
from rankae.report.grids import to_markdown
from rankae.report.svg import Line, bar_chart

DATA = ["delicious", "delicious-xmc", "bibtex", "eurlex57k-bow", "eurlex57k", "debtags", "debdeps", "tmdb-plots"]
OURS = ("default", "network", "paper", "fast")
ALONE = {"tuning": False, "network": 0, "neighbours": False, "rankers": False}
TEXTS = {"eurlex57k", "debtags", "debdeps", "tmdb-plots"}
# Of text alone: what Rank-AE has without GloVe, without any embeddings of words, without titles and pieces, and Parabel
# with the features that Rank-AE may choose.
OF_TEXT = [
    Contender("default, no GloVe", "rank-ae", {"word_vectors": "own"}),
    Contender("default, no embeddings", "rank-ae", {"word_vectors": "none"}),
    Contender("default, no titles", "rank-ae", {"title": 0}),
    Contender("default, no pieces", "rank-ae", {"pieces": False}),
    Contender("parabel, titles", "parabel", {"title": 0.5}),
    Contender("parabel, pairs, titles", "parabel", {"ngrams": [1, 2], "title": 0.5}),
    Contender("parabel, pairs, pieces", "parabel", {"ngrams": [1, 2], "pieces": True}),
]
CONTENDERS = [
    Contender("default", "rank-ae"),
    Contender("network", "rank-ae-network"),
    Contender("paper", "rank-ae-paper"),
    Contender("parabel", "parabel"),
    Contender("bonsai", "bonsai"),
    Contender("plt", "plt"),
    Contender("fast", "rank-ae", {"preset": "fast"}),
    Contender("default, psp", "rank-ae", {"objective": "psp"}),
    *OF_TEXT,
    Contender("warm start alone", "rank-ae", ALONE),
    Contender("+ tuning", "rank-ae", ALONE | {"tuning": True}),
    Contender("+ network", "rank-ae", ALONE | {"network": 1}),
    Contender("+ neighbours", "rank-ae", ALONE | {"neighbours": True}),
    Contender("+ rankers", "rank-ae", ALONE | {"neighbours": True, "rankers": True}),
]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [contender.name for contender in CONTENDERS]
    options.add_argument("--data", nargs="+", choices=DATA, default=DATA, metavar="NAME")
    options.add_argument("--contenders", nargs="+", choices=names, default=names, metavar="NAME")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--report-only", action="store_true", help="write the tables from the cells there are")
    chosen = options.parse_args()
    whole = [
        Series(data, contender, chosen.seeds)
        for data in DATA
        for contender in CONTENDERS
        if data in TEXTS or contender not in OF_TEXT
    ]
    running = Running(RESULTS / "accuracy", jobs=chosen.jobs, cells=CELLS)
    if not chosen.report_only:
        run_series([s for s in whole if s.data in chosen.data and s.contender.name in chosen.contenders], running)
    summary = summarise(finished_series(whole, running.store), running.store)
    write(in_order(with_earlier(summary, RESULTS / "accuracy" / "results.json"), names))


def in_order(summary: Summary, names: list[str]) -> Summary:
    """Data sets and contenders in the order of this file."""
    return replace(
        summary,
        data=[name for name in DATA if name in summary.data],
        methods=[name for name in names if name in summary.methods],
    )


def write(summary: Summary) -> None:
    write_report(summary, RESULTS / "accuracy", "Accuracy")
    tables = [score_grid(summary, "P"), score_grid(summary, "PSP"), cost_grid(summary)]
    note = (
        "Test scores in percent; mean ± standard deviation where there are several seeds. By `benchmarks/accuracy.py`."
    )
    shown = [name for name in ("default", "network", "paper", "parabel", "bonsai", "plt") if name in summary.methods]
    bars = [
        Line(
            name,
            [],
            [s.mean if (s := summary.scores.get((data, name, "P@1"))) else float("nan") for data in summary.data],
            style=i,
        )
        for i, name in enumerate(shown)
    ]
    picture = bar_chart(summary.data, bars, "P@1 on test rows", "P@1, percent", from_zero=False)
    write_files(RESULTS, {"accuracy.md": to_markdown("Accuracy", tables, note), "accuracy.svg": picture})
    put_between(RESULTS.parent.parent / "README.md", "results", _short_table(summary))


def _short_table(summary: Summary) -> str:
    """What the README shows: P@1 / P@3 / P@5 of the three models and of each rival, and the seeds of each."""
    shown = [name for name in ("default", "network", "paper", "parabel", "bonsai", "plt") if name in summary.methods]
    lines = [f"| data | {' | '.join(shown)} | seeds |", "|---|" + "---|" * len(shown) + "---|"]
    for data in summary.data:
        best = {m: max(_mean(summary, data, name, m) for name in shown) for m in ("P@1", "P@3", "P@5")}
        cells = []
        for name in shown:
            figures = {m: _mean(summary, data, name, m) for m in best}
            texts = [f"**{v:.1f}**" if v == best[m] else f"{v:.1f}" for m, v in figures.items()]
            older = " °" if name in OURS and summary.is_older(data, name) else ""
            cells.append(" / ".join(texts) + older if figures["P@1"] >= 0 else "-")
        seeds = [str(summary.seeds(data, name)) for name in shown]
        lines.append(f"| {data} | {' | '.join(cells)} | {seeds[0] if len(set(seeds)) == 1 else ' / '.join(seeds)} |")
    return "\n".join(lines)


def _mean(summary: Summary, data: str, method: str, measure: str) -> float:
    score = summary.scores.get((data, method, measure))
    return -1.0 if score is None else score.mean


if __name__ == "__main__":
    main()
