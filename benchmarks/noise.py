"""Label noise on three data sets: the reports, and the tables of docs/results/noise.md.

    RANKAE_DATA=../shared/data python benchmarks/noise.py [--data tmdb-plots bibtex debtags] [--jobs 1]
    python benchmarks/noise.py --report-only

Each data set's experiment is what `rankae noise` does with the settings below. Writes docs/results/noise/NAME, and the
tables of docs/results/noise.md. Finished cells are in .cells
and are not run again.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from measuring.pages import put_between
from measuring.places import CELLS, RESULTS
from rankae.experiments.noise import noise
from rankae.experiments.plan import Running, contenders

DOCS = Path(__file__).parent.parent / "docs"

EVERY_TENTH = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
EVERY_FIFTH = (0.0, 0.2, 0.4, 0.6)
METHODS = ("rank-ae", "fastxml", "parabel", "pdsparse", "bce-ae")
GLOVE = "xml-cnn.glove=glove/glove.6B.100d.top50k.txt.xz"


@dataclass(frozen=True)
class Experiment:
    """trials : of the search for each rival's parameters; XML-CNN runs at its defaults, for want of time."""

    trials: int
    rates: tuple[float, ...] = EVERY_TENTH
    methods: tuple[str, ...] = METHODS
    settings: tuple[str, ...] = ()


EXPERIMENTS = {
    "tmdb-plots": Experiment(8, methods=(*METHODS, "xml-cnn"), settings=(GLOVE,)),
    "bibtex": Experiment(3),
    # Without networks: they take most of the time there, and each tenth would take hours.
    "debtags": Experiment(3, EVERY_FIFTH, (*METHODS, "xml-cnn"), ("rank-ae.network=0", GLOVE)),
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", nargs="+", choices=EXPERIMENTS, default=list(EXPERIMENTS), metavar="NAME")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--report-only", action="store_true", help="write the tables from the cells there are")
    chosen = options.parse_args()
    for data in chosen.data:
        own = EXPERIMENTS[data]
        folder = RESULTS / "noise" / data
        running = Running(folder, jobs=chosen.jobs, cells=CELLS, report_only=chosen.report_only)
        methods = contenders(own.methods, own.settings, ["xml-cnn"])
        noise([data], methods, running, ["missing", "flip"], own.rates, seeds=3, tune_trials=own.trials)
        put_between(DOCS / "results" / "noise.md", data, first_table((folder / "table.md").read_text()))


def first_table(report: str) -> str:
    """The report's first: P@1, and what is lost of it."""
    lines = [line for line in report.split("\n## ")[1].splitlines() if line.startswith("|")]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
