"""How little training data will do: methods trained on a few hundred or thousand rows, scored on all test rows.

    RANKAE_DATA=../shared/data python benchmarks/few_rows.py [--data A,B] [--rows 300,1000,3000] [--draws 3]
        [--methods rank-ae,parabel,one-vs-rest]

Each draw takes other training rows, the same for all methods. Writes docs/results/few-rows.md; what is measured is in
few-rows.json at once, and is not measured again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from measuring.places import RESULTS
from rankae.experiments.compare import write_files
from rankae.experiments.measure import train_and_test
from rankae.methods import registry
from rankae.metrics import evaluate
from rankae.report.grids import Grid, to_markdown

KS = (1, 3, 5)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", default="bibtex,eurlex57k-bow,debtags")
    options.add_argument("--rows", default="300,1000,3000")
    options.add_argument("--methods", default="rank-ae,parabel,one-vs-rest")
    options.add_argument("--draws", type=int, default=3)
    options.add_argument("--out", type=Path, default=RESULTS)
    chosen = options.parse_args()
    kept = chosen.out / "few-rows.json"
    found: dict[str, dict[str, float]] = json.loads(kept.read_text()) if kept.exists() else {}
    for data in chosen.data.split(","):
        for rows in map(int, chosen.rows.split(",")):
            for draw in range(chosen.draws):
                for method in chosen.methods.split(","):
                    name = f"{data} {rows} {method} {draw}"
                    if name not in found:
                        found[name] = measured(data, rows, method, draw)
                        print(name, _shown([found[name]]), flush=True)
                        write_files(chosen.out, {kept.name: json.dumps(found, indent=1) + "\n"})
    write_files(chosen.out, {"few-rows.md": table(found)})


def measured(data: str, rows: int, method: str, draw: int) -> dict[str, float]:
    train, test = train_and_test(data)
    few = np.sort(np.random.default_rng(draw).permutation(len(train))[:rows])
    model = registry.seeded(registry.create(method), draw).fit_dataset(train.take(few))
    scores = evaluate(model.top_columns(test.rows, max(KS))[0], test.labels, KS)
    return {f"P@{k}": scores[f"P@{k}"] for k in KS}


def table(found: dict[str, dict[str, float]]) -> str:
    """The mean over draws of everything that has been measured."""
    names = [name.rsplit(" ", 1)[0].split(" ") for name in found]
    methods = list(dict.fromkeys(method for _, _, method in names))
    lines = []
    for data, rows in dict.fromkeys((data, rows) for data, rows, _ in names):
        draws = {m: [f for name, f in found.items() if name.startswith(f"{data} {rows} {m} ")] for m in methods}
        counts = sorted({len(own) for own in draws.values() if own})
        lines.append([data, rows, "-".join(map(str, counts)), *(_shown(draws[m]) for m in methods)])
    grid = Grid("P@1 / P@3 / P@5 on test rows", ["data", "training rows", "draws", *methods], lines, set(), names=3)
    note = "Percent, mean over draws of the training rows; default settings. By `benchmarks/few_rows.py`."
    return to_markdown("Few rows", [grid], note)


def _shown(draws: list[dict[str, float]]) -> str:
    return " / ".join(f"{np.mean([own[f'P@{k}'] for own in draws]):.1f}" for k in KS) if draws else "-"


if __name__ == "__main__":
    main()
