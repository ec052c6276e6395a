"""Tables of a comparison, and their CSV: scores, costs, recall by frequency, provenance."""

from __future__ import annotations

import csv
import io

from rankae.experiments.protocol import published_grid
from rankae.experiments.summary import COSTS, FAMILIES, Score, Summary
from rankae.report.grids import Grid

TITLES = {
    "P": "Precision at k (P@k)",
    "nDCG": "Normalised discounted cumulative gain at k (nDCG@k)",
    "PSP": "Propensity-scored precision at k (PSP@k)",
}
READING = (
    "Percent; mean ± standard deviation over seeds where there are several. Bold is the best of a line. "
    "† marks a method that the test rows do not tell from the best (95 % interval of a paired bootstrap over test rows "
    "holds 0; lines are not corrected for being many). "
    "- stands where a method cannot run. Rank score: the average over the lines of a method's rank among "
    "the methods that have a score there (1 is best)."
)


def score_text(score: Score | None, spread: bool = True) -> str:
    if score is None:
        return "-"
    deviation = f" ± {score.std:.2f}" if spread and score.std is not None else ""
    return f"{score.mean:.2f}{deviation}{' †' if score.like_best else ''}"


def score_grid(summary: Summary, family: str) -> Grid:
    """One of the paper's tables: (a) is P, (b) is nDCG."""
    lines: list[list[str]] = []
    bold = set()
    for data in summary.data:
        for measure in summary.measures(family):
            scores = [summary.scores.get((data, method, measure)) for method in summary.methods]
            bold |= {(len(lines), 2 + i) for i, score in enumerate(scores) if score is not None and score.is_best}
            lines.append([data, measure, *map(score_text, scores)])
    ranks = summary.rank_scores[family]
    best = min((round(rank, 2) for rank in ranks.values()), default=0.0)
    bold |= {(len(lines), 2 + i) for i, m in enumerate(summary.methods) if m in ranks and round(ranks[m], 2) == best}
    lines.append(["Rank score", "avg", *(f"{ranks[m]:.2f}" if m in ranks else "-" for m in summary.methods)])
    return Grid(TITLES[family], ["data", "measure", *summary.methods], lines, bold)


def terminal_grid(summary: Summary) -> Grid:
    """Precisions with a line for each method, for narrow terminals."""
    lines = [
        [
            data,
            method,
            *(
                score_text(summary.scores.get((data, method, measure)), spread=False)
                for measure in summary.measures("P")
            ),
            f"{summary.costs[data, method]['train_seconds']:.1f}" if (data, method) in summary.costs else "-",
            f"{summary.rank_scores['P'][method]:.2f}" if method in summary.rank_scores["P"] else "-",
        ]
        for data in summary.data
        for method in summary.methods
    ]
    head = ["data", "method", *summary.measures("P"), "training, s", "rank score"]
    return Grid("† not told from the best by the test rows", head, lines, set())


def data_grid(summary: Summary, data: str) -> Grid:
    """All figures of one data set with a line for each method, to be sorted in the page."""
    measures = [measure for family in FAMILIES for measure in summary.measures(family)]
    lines: list[list[str]] = []
    bold = set()
    for method in summary.methods:
        scores = [summary.scores.get((data, method, measure)) for measure in measures]
        bold |= {(len(lines), 1 + i) for i, score in enumerate(scores) if score is not None and score.is_best}
        costs = summary.costs.get((data, method), {})
        shown = [f"{costs[name]:.{digits}f}" if name in costs else "-" for name, _, digits in COSTS]
        lines.append([method, *map(score_text, scores), *shown])
    return Grid(data, ["method", *measures, *(heading for _, heading, _ in COSTS)], lines, bold, names=1)


def cost_grid(summary: Summary) -> Grid:
    """Training, prediction, size and memory, a line for each data set and method that ran."""
    lines = [
        [
            data,
            method,
            str(summary.seeds(data, method)),
            *(f"{costs[name]:.{digits}f}" if name in costs else "-" for name, _, digits in COSTS),
        ]
        for data in summary.data
        for method in summary.methods
        if (costs := summary.costs.get((data, method))) is not None
    ]
    head = ["data", "method", "seeds", *(heading for _, heading, _ in COSTS)]
    return Grid("Cost (mean over seeds)", head, lines, set())


def frequency_grid(summary: Summary) -> Grid:
    """Recall of head, torso and tail labels."""
    lines = [
        [data, method, *(f"{groups[g]['recall']:.2f}" if groups[g]["support"] else "-" for g in groups)]
        for data in summary.data
        for method in summary.methods
        if (groups := summary.by_frequency.get((data, method))) is not None
    ]
    title = f"Recall@{max(summary.k)} by how often a label occurs in training, percent"
    return Grid(title, ["data", "method", "head (over 100 rows)", "torso (11 to 100)", "tail (up to 10)"], lines, set())


def provenance_grid(summary: Summary) -> Grid:
    """The code, data and machine behind each row of the tables; rows older than this code are marked."""
    lines = []
    for (data, method), cells in summary.provenance.items():
        versions = _listed({f"{cell['version']} at {cell['commit'] or 'no commit'}" for cell in cells if cell})
        prints = _listed({cell["data"][:12] for cell in cells if cell})
        machines = _listed({cell["machine"] for cell in cells if cell})
        older = "older than this code" if summary.is_older(data, method) else "this code"
        lines.append([data, method, versions, prints, machines, older])
    head = ["data", "method", "rankae", "data fingerprint", "machine", "measured by"]
    return Grid("Where the figures come from", head, lines, set())


def _listed(values: set[str]) -> str:
    return ", ".join(sorted(values)) or "not recorded"


def reason_grid(summary: Summary) -> Grid:
    lines = [[data, method, reason] for (data, method), reason in summary.reasons.items()]
    return Grid("What could not run, and why", ["data", "method", "reason"], lines, set())


def grids(summary: Summary) -> list[Grid]:
    """All tables of a report, those without lines left out."""
    tables = [*(score_grid(summary, family) for family in FAMILIES), cost_grid(summary), frequency_grid(summary)]
    return [
        grid
        for grid in [*tables, reason_grid(summary), published_grid(summary), provenance_grid(summary)]
        if grid.lines
    ]


def to_csv(summary: Summary) -> str:
    """A line for each figure, for a spreadsheet or a data frame."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(["data", "method", "measure", "mean", "std", "seeds", "best", "below_best", "low", "high", "real"])
    for (data, method, measure), s in summary.scores.items():
        gap = s.to_best
        gaps = ["", "", "", ""] if gap is None else [f"{gap.points:.4f}", f"{gap.low:.4f}", f"{gap.high:.4f}", gap.real]
        std = "" if s.std is None else f"{s.std:.4f}"
        write([data, method, measure, f"{s.mean:.4f}", std, s.seeds, s.is_best, *gaps])
    for (data, method), costs in summary.costs.items():
        for name, value in costs.items():
            write([data, method, name, f"{value:.5f}", *[""] * 7])
    return out.getvalue()
