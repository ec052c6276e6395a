"""The preset `paper`, each of its departures from the paper taken back, and the paper's own ablation.

    RANKAE_DATA=../shared/data python benchmarks/paper_network.py [--data A,B] [--seeds 3] [--variants A,B] [--choose]

Writes docs/results/paper-network.md. Without --choose, every variant trains once with the settings of `MEASURED`, which
were found on samples of the train rows; with it, every variant chooses its open settings by itself, with the same
budget: fair, and many times as long. Finished cells are kept in --cells and not run again.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rankae.experiments.compare import write_files
from rankae.experiments.plan import Contender, Running, Series, run_series
from rankae.experiments.summary import summarise
from rankae.experiments.tables import score_grid
from rankae.report.grids import Grid, to_markdown

RESULTS = Path(__file__).parent.parent / "docs" / "results"
# By data set, what the preset leaves open: the best of the trials on rows held out from the train rows.
MEASURED: dict[str, dict[str, Any]] = {
    "bibtex": {"epochs": 16},
    "tmdb-plots": {"epochs": 8, "encoder_rate": 0.03, "direct": 0.3, "word_dropout": 0.3},
    "mediamill-disc3": {"epochs": 16, "hidden": 500, "learning_rate": 1e-2, "balance": 1.0, "word_decay": 0.1},
    "delicious-xmc": {
        "epochs": 10,
        "hidden": 500,
        "learning_rate": 1e-2,
        "balance": 1.0,
        "word_decay": 0.1,
        "encoder_rate": 0.1,
        "direct": 0.3,
        "temperature": 4.0,
    },
    "debtags": {"epochs": 8, "encoder_rate": 0.01, "direct": 1.0, "batch": 128},
    "eurlex57k-bow": {"epochs": 16, "word_decay": 0.3, "batch": 32},
}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "paper": ("rank-ae-paper", {}),
    "untied": ("rank-ae-paper", {"tied": False}),
    "plain Adam": ("rank-ae-paper", {"word_optimizer": "adam", "word_rate": 1.0, "word_decay": 0.0}),
    "random start": ("rank-ae-paper", {"start": "random", "encoder_rate": 1.0}),
    "mean pooling": ("rank-ae-paper", {"pooling": "mean"}),
    "no direct term": ("rank-ae-paper", {"direct": 0.0}),
    "No attn": ("no-attn", {}),
    "No loss": ("bce-ae", {}),
    "paper-strict": ("rank-ae-strict", {}),
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", default=",".join(MEASURED))
    options.add_argument("--variants", default=",".join(VARIANTS))
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--choose", action="store_true")
    options.add_argument("--cells", type=Path, default=RESULTS / "cells")
    options.add_argument("--report-only", action="store_true", help="run nothing, show what is finished")
    chosen = options.parse_args()
    names, data = chosen.variants.split(","), chosen.data.split(",")
    plan = [Series(source, contender(name, source, chosen.choose), chosen.seeds) for source in data for name in names]
    running = Running(RESULTS, jobs=chosen.jobs, cells=chosen.cells, report_only=chosen.report_only)
    summary = summarise(run_series(plan, running), running.store)
    how = "each variant chose its open settings by itself" if chosen.choose else "settings as below for all variants"
    shown = ", ".join(f"`{name}`" for name in names)
    note = (
        f"Test scores in percent, {chosen.seeds} seed(s), of {shown}: the preset `paper`, its departures taken "
        f"back, or the paper's ablation; {how}. By `benchmarks/paper_network.py`."
    )
    settings = Grid(
        "Settings, found on rows held out from the train rows",
        ["data", "settings"],
        [[name, ", ".join(f"{k} {v:g}" for k, v in MEASURED[name].items())] for name in data if name in MEASURED],
        set(),
    )
    grids = [score_grid(summary, "P")] + ([] if chosen.choose else [settings])
    write_files(RESULTS, {"paper-network.md": to_markdown("The paper's network", grids, note)})


def contender(name: str, data: str, choose: bool) -> Contender:
    """A variant with the settings of its data set, unless it is to choose them; a change goes over both."""
    method, change = VARIANTS[name]
    if choose or method == "rank-ae-strict":  # the settings were found for another network
        return Contender(name, method, change)
    return Contender(name, method, MEASURED.get(data, {}) | change)


if __name__ == "__main__":
    main()
