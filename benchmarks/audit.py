"""Audits of data with labels taken out and put in: are those found, and how many are said to be there?

    RANKAE_DATA=../shared/data python benchmarks/audit.py run tmdb-plots --kind wrong --rate .1 [--folds 3]
    RANKAE_DATA=../shared/data python benchmarks/audit.py clean tmdb-plots
    python benchmarks/audit.py table

`run` audits one data set under one kind of noise, and ranks the same cells by the votes of neighbours and by cleanlab,
if it can be imported. cleanlab is fed with the out-of-fold probabilities of our models, as its users would do, and with
those of SVMs if --one-vs-rest is given. Scored cells are kept: `run --again` ranks them anew, without the rivals.
`clean` audits, lets an annotator who knows the truth look at the first flags, trains again, and measures P@1 on test
rows, beside the same flags in random order. `table` writes the tables of docs/audit.md, and
docs/results/audit-cleaning.svg. Finished cells are in .cells.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from measuring.pages import put_between, put_rows
from measuring.places import CELLS, RESULTS
from rankae.audit import AuditSettings
from rankae.audit.audit import unit_word_rows
from rankae.audit.flags import Flags, missing_labels, wrong_labels
from rankae.audit.folds import NEAREST, grouped_folds
from rankae.audit.noise_rates import noise_model, probabilities
from rankae.audit.out_of_fold import Entries, Folds
from rankae.base.calibration import isotonic_map
from rankae.data import load_dataset, miss_labels
from rankae.data.dataset import Dataset
from rankae.data.near_duplicates import nearest_others
from rankae.experiments.compare import write_files
from rankae.methods import create
from rankae.report.svg import Line, line_chart, stacked

PAGE = Path(__file__).parent.parent / "docs" / "audit.md"
MOST_DENSE = 60_000_000  # cells for which cleanlab is asked
LOOKED_AT = (0.05, 0.1, 0.2, 0.4)  # of the recorded labels
LEAST = 0.05  # probability of a flag that an annotator would look at


def put_in(labels: sp.csr_matrix, rate: float, seed: int) -> sp.csr_matrix:
    """Wrong labels anywhere, so that they are a share `rate` of all recorded ones."""
    rng = np.random.default_rng([7, seed])
    n, L = labels.shape
    wanted = round(labels.nnz * rate / (1 - rate))
    cells = rng.choice(n * L, size=3 * wanted, replace=False) if n * L < 1e8 else rng.integers(0, n * L, 3 * wanted)
    row = np.repeat(np.arange(n), np.diff(labels.indptr))
    there = np.sort(row.astype(np.int64) * L + labels.indices)
    cells = np.unique(cells[~np.isin(cells, there)])
    cells = rng.permutation(cells)[:wanted]
    extra = sp.csr_matrix((np.ones(wanted, np.float32), np.divmod(cells, L)), shape=labels.shape)
    return sp.csr_matrix(labels + extra)


def noisy(labels: sp.csr_matrix, kind: str, rate: float, seed: int) -> sp.csr_matrix:
    return miss_labels(labels, rate, seed) if kind == "missing" else put_in(labels, rate, seed)


def ranking_measures(found: np.ndarray, injected: int, first: int) -> dict[str, float]:
    """found : whether each flag, best first, is one that was injected; those beyond the list were never found."""
    hits = np.cumsum(found)
    average = float((hits[found] / (np.flatnonzero(found) + 1)).sum() / max(1, injected))
    return {"precision@1%": 100 * float(found[:first].mean()), "AP": 100 * average}


def scored(data: Dataset, folds: int, seed: int, name: str) -> tuple[Entries, tuple[np.ndarray, np.ndarray], dict]:
    """Entries of all folds, the nearest rows, and what they cost. They are kept: a new ranking needs no training."""
    kept = CELLS / "audit" / "entries" / f"{name}.npz"
    if kept.exists():
        with np.load(kept) as file:
            values = {key: file[key] for key in file.files}
        near = values.pop("found"), values.pop("cosine")
        cost = {key: float(values.pop(key)) for key in ("seconds", "peak_gb")}
        return Entries(**values), near, cost
    began = time.perf_counter()
    near = nearest_others(unit_word_rows(data), NEAREST)
    fold = grouped_folds(*near, folds, seed)
    entries = Folds(data, fold, AuditSettings(folds=folds, seed=seed).new_model, None).entries(4, seed)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    cost = {"seconds": round(time.perf_counter() - began, 1), "peak_gb": peak}
    kept.parent.mkdir(parents=True, exist_ok=True)
    np.savez(kept, **vars(entries), **cost, found=near[0], cosine=near[1])
    return entries, near, cost


def loaded(name: str, rows: int | None, seed: int) -> Dataset:
    """The training rows, or a sample of so many."""
    data = load_dataset(name)
    return data if rows is None else data.take(np.sort(np.random.default_rng(seed).permutation(len(data))[:rows]))


def cell_name(name: str, kind: str, rate: float, seed: int, rows: int | None) -> str:
    return f"{name}-{kind}-{rate:g}-{seed}{f'-{rows}' if rows else ''}"


def run_cell(
    name: str, kind: str, rate: float, folds: int, seed: int, one_vs_rest: bool, rows: int | None, rivals: bool = True
) -> dict:
    clean = loaded(name, rows, seed)
    labels = noisy(clean.labels, kind, rate, seed)
    data = Dataset(labels, clean.features, clean.texts, clean.label_names, clean.feature_names, name=clean.name)
    entries, near, cost = scored(data, folds, seed, cell_name(name, kind, rate, seed, rows))
    began = time.perf_counter()
    p = probabilities(entries, labels, seed)
    noise = noise_model(entries, p, labels.shape[0] * labels.shape[1])
    flags: Flags = (missing_labels if kind == "missing" else wrong_labels)(entries, p, noise)
    cost["seconds"] += round(time.perf_counter() - began, 1)
    changed = (clean.labels - labels) if kind == "missing" else (labels - clean.labels)
    changed = sp.csr_matrix(changed)
    changed.eliminate_zeros()
    injected, first = changed.nnz, max(1, labels.nnz // 100)
    true_rate = injected / (clean.labels.nnz if kind == "missing" else labels.nnz)
    L = labels.shape[1]
    row = np.repeat(np.arange(labels.shape[0], dtype=np.int64), np.diff(changed.indptr))
    wanted = np.sort(row * L + changed.indices)

    def measured(rows: np.ndarray, columns: np.ndarray) -> dict[str, float]:
        return ranking_measures(np.isin(rows.astype(np.int64) * L + columns, wanted), injected, first)

    estimate, other = (noise.missing, noise.wrong)[:: 1 if kind == "missing" else -1]
    found = {
        "data": name, "kind": kind, "rate": rate, "seed": seed, "folds": folds,
        "rows": len(clean), **cost,
        "true_rate": true_rate, "estimate": estimate.rounded(), "other_estimate": other.rounded(),
        "rankae": measured(flags.rows, flags.columns),
        "neighbours": measured(*by_neighbours(labels, *near, kind)),
    }  # fmt: skip
    if rivals and labels.shape[0] * L <= MOST_DENSE:
        found["cleanlab, models"] = measured_cleanlab(labels, dense(entries, by_models(entries), L), kind, measured)
        if one_vs_rest:
            own = one_vs_rest_probabilities(data, folds, seed)
            found["cleanlab, SVMs"] = measured_cleanlab(labels, own, kind, measured)
    return found


def by_models(entries: Entries) -> np.ndarray:
    """The probabilities that cleanlab's users would have: scores calibrated over the shortlists."""
    own = entries.listed
    known, values = isotonic_map(entries.scores[own], entries.observed[own])
    return np.where(own, np.interp(entries.scores, known, values), values[0])


def dense(entries: Entries, p: np.ndarray, labels: int) -> np.ndarray:
    """rows x labels; cells that nobody scored are as probable as the sample of them is on average."""
    sample = entries.weight > 1
    rest = float(np.average(p[sample], weights=entries.weight[sample])) if sample.any() else float(p.min())
    out = np.full((int(entries.rows.max()) + 1, labels), rest, dtype=np.float32)
    out[entries.rows, entries.columns] = p
    return out


def by_neighbours(labels: sp.csr_matrix, found: np.ndarray, cosine: np.ndarray, kind: str) -> tuple:
    """Cells ranked by how many of the ten nearest rows disagree, weighted by their cosines."""
    row, place = np.nonzero(found >= 0)
    votes = sp.csr_matrix((cosine[row, place], (row, found[row, place])), shape=(len(found),) * 2) @ labels
    total = np.maximum(cosine.sum(1), 1e-9)
    if kind == "missing":
        cells = sp.csr_matrix(votes - votes.multiply(labels > 0)).tocoo()
        kept = cells.data > 0
        r, c, share = cells.row[kept], cells.col[kept], (cells.data[kept] / total[cells.row[kept]])
        order = np.argsort(-share, kind="stable")
        return r[order], c[order]
    carried = labels.tocoo()
    share = np.asarray(votes[carried.row, carried.col]).ravel() / total[carried.row]
    order = np.argsort(share, kind="stable")
    return carried.row[order], carried.col[order]


def measured_cleanlab(labels: sp.csr_matrix, p: np.ndarray, kind: str, measured) -> dict[str, float] | None:
    """cleanlab's issues of each class first, then all other cells, both by its label quality."""
    try:
        from cleanlab.filter import find_label_issues
    except ImportError:
        return None
    given = labels.toarray() > 0
    quality = np.where(given, p, 1 - p)
    issue = np.zeros(given.shape, dtype=bool)
    for label in range(given.shape[1]):
        y = given[:, label].astype(int)
        if y.sum() in (0, len(y)):
            continue
        try:
            issue[:, label] = find_label_issues(y, np.stack([1 - p[:, label], p[:, label]], 1), n_jobs=1)
        except ValueError:  # a class whose probabilities tell it nothing
            continue
    cells = np.argwhere(given if kind == "wrong" else ~given)
    order = np.lexsort((quality[tuple(cells.T)], ~issue[tuple(cells.T)]))
    by_issue = measured(*cells[order].T)
    by_quality = measured(*cells[np.argsort(quality[tuple(cells.T)], kind="stable")].T)
    return max(by_issue, by_quality, key=lambda m: m["AP"])


def one_vs_rest_probabilities(data: Dataset, folds: int, seed: int) -> np.ndarray:
    """Out-of-fold logistic margins of one linear SVM for each label, folds drawn at random as cleanlab's users do."""
    n, L = data.labels.shape
    fold = np.random.default_rng(seed).permutation(n) % folds
    out = np.zeros((n, L), dtype=np.float32)
    for f in range(folds):
        model = create("one-vs-rest").fit_dataset(data.take(np.flatnonzero(fold != f)))
        held = np.flatnonzero(fold == f)
        scores = model.decision_function(data.take(held).rows)
        out[held] = 1 / (1 + np.exp(-2 * np.clip(scores, -15, 15)))
    return np.clip(out, 1e-6, 1 - 1e-6)


def clean_cell(name: str, folds: int, seed: int, rows: int | None) -> dict:
    """P@1 after an annotator has looked at the first flags, of a fifth missing and a tenth wrong."""
    clean, test = loaded(name, rows, seed), load_dataset(name, "test")
    test = test.aligned_to(clean.label_names or range(clean.n_labels)).with_features(clean.n_features)
    labels = put_in(miss_labels(clean.labels, 0.2, seed), 0.1, seed)
    data = Dataset(labels, clean.features, clean.texts, clean.label_names, clean.feature_names, name=clean.name)
    entries, _, _ = scored(data, folds, seed, cell_name(name, "clean", 0.1, seed, rows))
    p = probabilities(entries, labels, seed)
    noise = noise_model(entries, p, labels.shape[0] * labels.shape[1])
    both = [missing_labels(entries, p, noise), wrong_labels(entries, p, noise)]
    rows, columns = (np.concatenate([getattr(f, name) for f in both]) for name in ("rows", "columns"))
    certain = np.concatenate([f.probability for f in both])
    order = np.argsort(-certain, kind="stable")
    order = order[certain[order] >= LEAST]
    rng = np.random.default_rng(seed)
    curves: dict[str, list] = {"looked_at": [0], "audit": [p_at_1(data, labels, test)], "random": []}
    curves["random"].append(curves["audit"][0])
    for share in LOOKED_AT:
        count = min(int(share * labels.nnz), len(order))
        curves["looked_at"].append(count)
        for way, chosen in (("audit", order[:count]), ("random", rng.permutation(order)[:count])):
            fixed = labels.tolil()
            fixed[rows[chosen], columns[chosen]] = clean.labels[rows[chosen], columns[chosen]]
            fixed = sp.csr_matrix(fixed, dtype=np.float32)
            curves[way].append(p_at_1(data, fixed, test))
    curves["clean"] = [p_at_1(data, clean.labels, test)]
    errors = sp.csr_matrix(labels != clean.labels).nnz
    return {"data": name, "kind": "clean", "seed": seed, "rows": len(clean), "errors": errors, **curves}


def p_at_1(data: Dataset, labels: sp.csr_matrix, test: Dataset) -> float:
    from rankae.metrics import precision_rows

    own = Dataset(labels, data.features, data.texts, data.label_names, data.feature_names, name=data.name)
    model = create("rank-ae", preset="fast").fit_dataset(own)
    return 100 * float(precision_rows(model.top_columns(test.rows, 1)[0], test.labels, 1).mean())


def table() -> None:
    cells = [json.loads(path.read_text()) for path in sorted((CELLS / "audit").glob("*.json"))]
    as_it_is = {c["data"]: c for c in cells if c.get("rate") == 0}
    ways = ("rankae", "cleanlab, models", "cleanlab, SVMs", "neighbours")
    head = "| data | noise | " + " | ".join(ways) + " | estimated rate (true) | without the estimate as it is | GB |"
    rows = []
    for cell in (c for c in cells if c["kind"] != "clean" and c["rate"]):
        figures = [cell.get(way) for way in ways]
        shown = ["-" if f is None else f"{f['precision@1%']:.1f} / {f['AP']:.1f}" for f in figures]
        rate = f"{cell['estimate']['rate']:.3f} ({cell['true_rate']:.3f})"
        noise = f"{cell['kind']} {cell['rate']:g}"
        memory = f"{cell['peak_gb']:.1f}"
        above = _above(cell, as_it_is.get(cell["data"]))
        rows.append(f"| {' | '.join([cell['data'], noise, *shown, rate, above, memory])} |")
    put_rows(PAGE, "noise", head, rows)
    cleaned = [c for c in cells if c["kind"] == "clean"]
    head = "| data (rows, errors) | flags looked at | audit's order | random order | all labels clean |"
    rows = [head, "|---" * 5 + "|"]
    for cell in cleaned:
        about = f"{cell['data']} ({cell['rows']:,}, {cell['errors']:,})"
        for looked, ours, chance in zip(cell["looked_at"], cell["audit"], cell["random"], strict=True):
            rows.append(f"| {about} | {looked:,} | {ours:.2f} | {chance:.2f} | {cell['clean'][0]:.2f} |")
    if cleaned:
        put_between(PAGE, "cleaning", "\n".join(rows))
        write_files(RESULTS, {"audit-cleaning.svg": stacked([_curve(cell) for cell in cleaned])})


def _above(cell: dict, as_it_is: dict | None) -> str:
    """The estimated rate, without what the audit estimates for the data as they are: u = 1 - (1 - u_0) (1 - u_injected)
    for missing labels, and likewise for wrong ones."""
    if as_it_is is None:
        return "-"
    before = as_it_is["estimate" if cell["kind"] == "missing" else "other_estimate"]["rate"]
    return f"{1 - (1 - cell['estimate']['rate']) / (1 - before):.3f}"


def _curve(cell: dict) -> str:
    x = cell["looked_at"]
    clean = Line("all labels clean", x, cell["clean"] * len(x), style=2)
    ways = [Line("audit's order", x, cell["audit"]), Line("random order", x, cell["random"], style=1), clean]
    title = f"{cell['data']}: training again after flags were looked at"
    return line_chart(ways, title, "flags looked at", "P@1 on test rows")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=("run", "clean", "table"))
    options.add_argument("data", nargs="?", default="tmdb-plots")
    options.add_argument("--kind", choices=("missing", "wrong"), default="wrong")
    options.add_argument("--rate", type=float, default=0.1)
    options.add_argument("--folds", type=int, default=3)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--one-vs-rest", action="store_true")
    options.add_argument("--rows", type=int, help="audit a sample of so many rows")
    options.add_argument("--again", action="store_true", help="rank anew what has been scored")
    o = options.parse_args()
    if o.what == "table":
        table()
        return
    kind = o.kind if o.what == "run" else "clean"
    place = CELLS / "audit" / f"{cell_name(o.data, kind, o.rate, o.seed, o.rows)}.json"
    if place.exists() and not o.again:
        return
    if o.what == "run":
        found = json.loads(place.read_text()) if place.exists() else {}
        found |= run_cell(o.data, o.kind, o.rate, o.folds, o.seed, o.one_vs_rest, o.rows, not o.again)
    else:
        found = clean_cell(o.data, o.folds, o.seed, o.rows)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(found, indent=1))
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
