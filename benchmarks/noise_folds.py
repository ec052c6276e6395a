"""Whether what a method loses to label noise is the luck of the test rows: the noise experiment on every row in turn.

    RANKAE_DATA=../shared/data python benchmarks/noise_folds.py [--data tmdb-plots,bibtex] [--rates 0,.2,.4,.6]
        [--methods rank-ae,rank-ae-untrusting,fastxml] [--kind missing] [--folds 5]
    python benchmarks/noise_folds.py --report-only

A test set of 3,000 rows does not tell losses apart that differ by a point. Here the rows of both splits are cut into
folds, and each is the test set once; noise on 80 % of the others, 20 % clean, as in `rankae noise`. Rows with a near
copy among the others are not judged: they reward memory. Each fold draws its own noise. A rival runs with the
parameters that `rankae noise` has found for this noise (.cells). "-untrusting" behind a name keeps the
clean rows from the method: what it has without them. Writes docs/results/noise-folds.md; what is measured is kept in
.cells/noise-folds at once, and is not measured again.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from measuring.places import CELLS, RESULTS
from noise import EXPERIMENTS
from rankae.cli.experiment_options import rates as read_rates
from rankae.data import load_dataset
from rankae.data.dataset import Dataset
from rankae.data.near_duplicates import novel_rows
from rankae.data.noise import noisy_labels
from rankae.data.text import TextFeatures
from rankae.data.writing import written
from rankae.errors import RankaeError
from rankae.experiments.cells import Cell, Store, data_name
from rankae.experiments.compare import write_files
from rankae.experiments.differences import paired_bootstrap
from rankae.experiments.measure import fit_and_check
from rankae.methods import registry
from rankae.metrics import judge
from rankae.report.grids import Grid, to_markdown

KS = (1, 3, 5)
UNTRUSTING = "-untrusting"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", default="tmdb-plots,bibtex")
    options.add_argument("--kind", default="missing")
    options.add_argument("--rates", default="0,.2,.4,.6")
    options.add_argument("--methods", default="rank-ae,rank-ae-untrusting,fastxml")
    options.add_argument("--folds", type=int, default=5)
    options.add_argument("--out", type=Path, default=RESULTS)
    options.add_argument("--report-only", action="store_true", help="write the table from what is measured")
    chosen = options.parse_args()
    methods, rates = chosen.methods.split(","), read_rates(chosen.rates)
    grids = []
    for data in chosen.data.split(","):
        if not chosen.report_only:
            measure_all(data, methods, chosen.kind, rates, chosen.folds)
        grids += tables(data, methods, chosen.kind, rates, chosen.folds)
    note = (
        "Every row of both splits is a test row once, unless it has a near-duplicate in training. Points lost "
        "against no noise, the least in bold; in brackets the 95 % interval of what a method loses more than that one "
        "(paired bootstrap over rows). `rank-ae-untrusting` does not see the clean rows, which otherwise choose its "
        "parameters. By `benchmarks/noise_folds.py`."
    )
    write_files(chosen.out, {"noise-folds.md": to_markdown("Label noise, every row tested", grids, note)})


def measure_all(data: str, methods: list[str], kind: str, rates: list[float], folds: int) -> None:
    rows = None
    for fold in range(folds):
        for rate in rates:
            for method in methods:
                kept = file_of(data, method, kind, rate, fold, folds)
                if kept.exists():
                    continue
                rows = rows or whole(data)
                shares = measured(rows, data, method, kind, rate, fold, folds)
                with written(kept) as stream:
                    np.savez_compressed(stream, **shares)  # type: ignore[arg-type]
                means = " ".join(f"{name} {own.mean():.2f}" for name, own in shares.items())
                print(data, kind, rate, method, "fold", fold, means, flush=True)


def whole(data: str) -> Dataset:
    """The rows of both splits as one data set."""
    train = load_dataset(data, "train")
    names = train.label_names if train.label_names is not None else range(train.n_labels)
    test = load_dataset(data, "test").aligned_to(names).with_features(train.n_features)
    labels = train.labels.copy()
    labels.resize(len(train), test.n_labels)
    both: dict[str, Any] = {"labels": sp.vstack([labels, test.labels], format="csr"), "label_names": test.label_names}
    if train.texts is not None and test.texts is not None:
        return replace(train, texts=train.texts + test.texts, **both)
    return replace(train, features=sp.vstack([train.features, test.features], format="csr"), **both)


def measured(
    rows: Dataset, data: str, method: str, kind: str, rate: float, fold: int, folds: int
) -> dict[str, np.ndarray]:
    """P@k of every judged row of the fold, in percent."""
    own = np.random.default_rng(0).permutation(len(rows)) % folds == fold
    train, test = rows.take(~own), rows.take(own)
    test = test.take(judged(train, test))
    learn, check = fit_and_check(train)
    learn = replace(learn, labels=noisy_labels(learn.labels, kind, rate, fold))
    if method.endswith(UNTRUSTING):
        method, clean, chosen = method.removesuffix(UNTRUSTING), {}, {}
    else:
        clean = {"trusted": check} if registry.METHODS[method].trusted_choose else {}
        chosen = parameters(data, method, kind, rate)
    model = registry.seeded(registry.create(method, **chosen), fold)
    found = judge(model.fit_dataset(learn, **clean).top_columns(test.rows, max(KS))[0], test.labels)
    return {f"P@{k}": (100 * found.precision(k)).astype(np.float16) for k in KS}


def judged(train: Dataset, test: Dataset) -> np.ndarray:
    """Places of the test rows without a near-duplicate among the training rows."""
    if train.texts is None or test.texts is None:
        return novel_rows(normalize(test.features), among=normalize(train.features))
    words = TextFeatures()
    among = words.fit_transform(train.texts)
    return novel_rows(words.transform(test.texts), among=among)


def parameters(data: str, method: str, kind: str, rate: float) -> dict[str, Any]:
    """What a search has found, or nothing: for a method that chooses by itself, and for data without an experiment."""
    if data not in EXPERIMENTS or registry.METHODS[method].trusted_choose == "parameters":
        return {}
    search = Cell(data, method, noise=(kind, rate), trials=EXPERIMENTS[data].trials)
    found = Store(CELLS).find(search)
    if found is None:
        raise RankaeError(f"{method} has not been tuned for {data}, {kind} {rate:g}; run `rankae noise` first")
    return found["parameters"]


def tables(data: str, methods: list[str], kind: str, rates: list[float], folds: int) -> list[Grid]:
    """One for each place: precision without noise, then what is lost at each rate, of methods measured on all folds."""
    shares = {}
    for method in methods:
        for rate in rates:
            files = [file_of(data, method, kind, rate, fold, folds) for fold in range(folds)]
            if all(file.exists() for file in files):
                shares[method, rate] = [dict(np.load(file)) for file in files]
    methods = [method for method in methods if (method, 0.0) in shares]
    if not methods:
        return []
    grids = []
    for k in KS:
        rows = {key: np.concatenate([own[f"P@{k}"] for own in found], dtype=float) for key, found in shares.items()}
        lines = [["no noise", *(f"{rows[m, 0.0].mean():.2f}" for m in methods)]]
        bold = set()
        for rate in rates:
            lost = {m: rows[m, 0.0] - rows[m, rate] for m in methods if rate and (m, rate) in rows}
            if not lost:
                continue
            least = min(lost, key=lambda m: lost[m].mean())
            others = [m for m in lost if m != least]
            more = dict(zip(others, paired_bootstrap(lost[least], [lost[m] for m in others]), strict=True))
            shown = {m: f"{own.mean():.2f}" for m, own in lost.items()}
            shown |= {m: f"{shown[m]} ({-gap.high:.2f} to {-gap.low:.2f})" for m, gap in more.items()}
            bold.add((len(lines), 1 + methods.index(least)))
            lines.append([f"{100 * rate:g} %", *(shown.get(m, "-") for m in methods)])
        title = f"{data}, {kind}, P@{k}: without noise, then points lost; {len(rows[methods[0], 0.0])} test rows"
        grids.append(Grid(title, ["rate", *methods], lines, bold, names=1))
    return grids


def file_of(data: str, method: str, kind: str, rate: float, fold: int, folds: int) -> Path:
    return CELLS / "noise-folds" / f"{data_name(data)}.{method}.{kind}{rate:g}.fold{fold}of{folds}.npz"


if __name__ == "__main__":
    main()
