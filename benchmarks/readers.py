"""How fast the XMC/LibSVM reader is: against a plain Python loop and scikit-learn's load_svmlight_file.

    python benchmarks/readers.py [--rows 20000] [--json]

All three read the same generated file (no header, so that scikit-learn can read it too) into CSR matrices;
all use one thread, so CPU time is compared, the best of three runs: other work on the machine disturbs it least.
Prints a table, or with --json one JSON object; writes no file.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from rankae.data.formats import xmc


def write_sample(path: Path, rows: int, features: int = 5000, labels: int = 4000) -> None:
    """Rows the shape of EURLex's: some 240 tf-idf weights of four digits and five labels."""
    rng = np.random.default_rng(0)
    with path.open("w") as out:
        for _ in range(rows):
            columns = np.unique(rng.integers(0, features, 240))
            values = rng.random(len(columns)).round(4)
            own = np.unique(rng.integers(0, labels, 5))
            pairs = " ".join(f"{j}:{v}" for j, v in zip(columns, values, strict=True))
            out.write(f"{','.join(map(str, own))} {pairs}\n")


def python_loop(path: Path) -> sp.csr_matrix:
    """What one writes first: split every line, append every pair."""
    indices, values, indptr, labels = [], [], [0], []
    with path.open() as lines:
        for line in lines:
            own, *pairs = line.rstrip("\n").split(" ")
            labels.append([int(label) for label in own.split(",") if label])
            for pair in pairs:
                j, value = pair.split(":")
                indices.append(int(j))
                values.append(float(value))
            indptr.append(len(indices))
    return sp.csr_matrix((np.array(values, np.float32), indices, indptr))


def best_of(runs: int, read: Callable[[], object]) -> float:
    times = []
    for _ in range(runs):
        start = time.process_time()
        read()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.txt"
        write_sample(path, arguments.rows)
        xmc.read(str(path))  # compile (or load the compiled code) before the clock starts
        ours = best_of(3, lambda: xmc.read(str(path)))
        sklearn = best_of(3, lambda: load_svmlight_file(str(path), multilabel=True, dtype=np.float32))
        loop = best_of(3, lambda: python_loop(path))
        megabytes = path.stat().st_size / 1e6
    figures = {
        "megabytes": round(megabytes, 1),
        "rankae_cpu_seconds": round(ours, 3),
        "rankae_megabytes_per_cpu_second": round(megabytes / ours, 1),
        "sklearn_cpu_seconds": round(sklearn, 3),
        "python_loop_cpu_seconds": round(loop, 3),
        "times_faster_than_sklearn": round(sklearn / ours, 1),
        "times_faster_than_python_loop": round(loop / ours, 1),
    }
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name.replace('_', ' '):32}{value:>10}")


if __name__ == "__main__":
    main()
