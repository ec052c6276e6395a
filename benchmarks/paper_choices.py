"""Which of the paper's choices help and which cost: its preset with one choice changed at a time.

    RANKAE_DATA=../shared/data python benchmarks/paper_choices.py [--data A,B] [--seeds 3] [--jobs 1]

Writes docs/results/paper-choices.md. Finished cells are kept and not run again.
"""

from __future__ import annotations

import argparse

from measuring.places import CELLS, RESULTS
from rankae.experiments.compare import write_files
from rankae.experiments.plan import Contender, Running, Series, run_series
from rankae.experiments.summary import summarise
from rankae.experiments.tables import score_grid
from rankae.report.grids import to_markdown

CHANGES = {
    "the preset": {},
    "no gate": {"attention": False},
    "BCE": {"loss": "bce"},
    "ReLU E and D": {"activation": "relu"},
    "sigmoid, m .5": {"scores": "sigmoid", "margin": 0.5},
    "mean pooling": {"pooling": "mean"},
    "m .3": {"margin": 0.3},
    "m 3": {"margin": 3.0},
    "16 epochs": {"epochs": 16},
    "random start": {"word_vectors": "none"},  # a change for texts only
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", default="bibtex,delicious,tmdb-plots")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--jobs", type=int, default=1)
    chosen = options.parse_args()
    contenders = [Contender(name, "rank-ae-paper", change) for name, change in CHANGES.items()]
    plan = [Series(data, contender, chosen.seeds) for data in chosen.data.split(",") for contender in contenders]
    running = Running(RESULTS, jobs=chosen.jobs, cells=CELLS)
    summary = summarise(run_series(plan, running), running.store)
    note = (
        "Test scores of the `paper` preset in percent, one of its choices changed at a time and nothing else tuned "
        "again; mean ± standard deviation over seeds. By `benchmarks/paper_choices.py`."
    )
    write_files(RESULTS, {"paper-choices.md": to_markdown("The paper's choices", [score_grid(summary, "P")], note)})


if __name__ == "__main__":
    main()
