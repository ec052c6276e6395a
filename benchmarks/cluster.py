"""Whether a model that is trained on a cluster equals the one that is trained alone, bit for bit.

    python benchmarks/cluster.py [DATA] [--rows 10000] [--workers 2,3] [--out FILE]

The first rows of DATA (by default debdeps), preset `fast`, one thread: alone, then on `local:N` for each number of
workers, with work of any size sent to them. Compares every array of the models and the best labels and scores of the
test rows. Prints a table, and writes it to FILE.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from measuring.process import limit_threads


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", nargs="?", default="debdeps")
    options.add_argument("--rows", type=int, default=10_000)
    options.add_argument("--workers", default="2,3")
    options.add_argument("--out", type=Path)
    chosen = options.parse_args()
    limit_threads(1)
    from rankae.cluster import ClusterWorkers, connected
    from rankae.data import load_dataset
    from rankae.numerics.shards import sharing

    train = load_dataset(chosen.data, "train")
    train, test = train.take(np.arange(min(chosen.rows, len(train)))), load_dataset(chosen.data, "test")
    began = time.perf_counter()
    alone = _trained(train)
    lines = [
        f"| {chosen.data}, {len(train):,} rows of it | equal | differing scores | tasks | seconds |",
        "|---|---|---|---|---|",
        f"| alone | | | | {time.perf_counter() - began:.0f} |",
    ]
    for count in map(int, chosen.workers.split(",")):
        with TemporaryDirectory(prefix="rankae-cluster-") as folder, connected(f"local:{count}") as client:
            began = time.perf_counter()
            workers = ClusterWorkers(client, folder, least=0)
            with sharing(workers):
                together = _trained(train)
            seconds = time.perf_counter() - began
        equal, differing = _compared(alone, together, test.rows[:1000])
        lines.append(f"| local:{count} | {equal} | {differing} | {workers.computed} | {seconds:.0f} |")
    print("\n".join(lines))
    if chosen.out is not None:
        chosen.out.write_text("\n".join(lines) + "\n")


def _trained(train: Any) -> Any:
    from rankae import RankAE

    return RankAE("fast", threads=1, random_state=0).fit_dataset(train)


def _compared(one: Any, other: Any, rows: Any) -> tuple[str, int]:
    """Whether all arrays of both models are equal, and how many of the best five scores of each row differ."""
    (_, arrays), (_, others) = one.model_.state(), other.model_.state()
    same = arrays.keys() == others.keys() and all(np.array_equal(value, others[name]) for name, value in arrays.items())
    (columns, scores), (other_columns, other_scores) = (model.top_columns(rows, 5) for model in (one, other))
    return "yes" if same else "no", int(((scores != other_scores) | (columns != other_columns)).sum())


if __name__ == "__main__":
    main()
