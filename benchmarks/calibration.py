"""Probabilities and cuts of the default model on test rows: the tables of docs/probabilities.md.

    RANKAE_DATA=../shared/data python benchmarks/calibration.py run bibtex [--seed 0] [--method rank-ae] [--preset fast]
    python benchmarks/calibration.py run bibtex --model DIR        a model that is trained already
    python benchmarks/calibration.py table

"before" reads scores as log-odds; "after" is the model's own calibration, fitted on rows that it held out. Cuts are
chosen on those rows as `rankae threshold` does; "SCutFBR" is the usual tuning of one cut for each label by its F1 on
these rows (Lewis and others 2004, as in LibMultiLabel), without drawing it to the others. Finished cells are in .cells;
`table` keeps rows of the page whose cells are not there.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from measuring.pages import put_rows
from measuring.places import CELLS
from rankae.base.choose_cuts import Aim, Ranked, choose_cuts
from rankae.base.cuts import Cuts
from rankae.base.held_out import HeldOut
from rankae.cli.fitting import fit_and_save, new_ranker
from rankae.cli.measuring import measured
from rankae.data import load_dataset
from rankae.errors import DataError
from rankae.methods import load
from rankae.metrics import Selection, evaluate_probabilities
from rankae.metrics.f1 import f1

PAGE = Path(__file__).parent.parent / "docs" / "probabilities.md"
AIMS = ("f1", "precision=0.9", "recall=0.8", "count")


def run(data: str, method: str, preset: str | None, seed: int, model: Path | None) -> dict:
    place = model or CELLS / "calibration" / "models" / f"{data}-{method}-{preset}-{seed}"
    if not place.exists():
        parameters = {} if preset is None else {"preset": preset}
        fit_and_save(new_ranker(method, parameters, {"random_state": seed}), load_dataset(data), place, calibrate=True)
    ranker = load(place)
    result = measured(ranker, load_dataset(data, "test", reading=ranker.reading_))
    assert result.probabilities is not None
    assert ranker.held_out_ is not None
    raw = 1 / (1 + np.exp(-np.clip(result.scores.astype(np.float64), -50, 50)))
    before = evaluate_probabilities(result.columns, raw, result.labels)
    held_out = ranker.held_out_
    likely = ranker.probabilities(held_out.columns, held_out.scores)
    given = {}
    for aim in AIMS:
        try:
            cuts = choose_cuts(held_out, likely, Aim.parse(aim))
        except DataError as error:
            given[aim] = {"unreachable": str(error)}
            continue
        given[aim] = _figures(result, cuts.selected(result.columns, result.probabilities))
    given["SCutFBR"] = _figures(result, scut(held_out, likely).selected(result.columns, result.probabilities))
    given["top 5"] = _figures(result, np.broadcast_to(np.arange(result.columns.shape[1]) < 5, result.columns.shape))
    given["0.5"] = _figures(result, Cuts("0.5", 0.5).selected(result.columns, result.probabilities))
    return {
        "data": data,
        "method": method if preset is None else f"{method} {preset}",
        "seed": seed,
        "calibration": ranker.calibration_.describe(),
        "before": before,
        "after": {name: v for name, v in result.figures.items() if name in before},
        "P@1": result.figures["P@1"],
        "cuts": given,
    }


def scut(held_out: HeldOut, probabilities: np.ndarray, least_f1: float = 0.1) -> Cuts:
    """The cut of best F1 for each label; above all of its probabilities where that F1 is below `least_f1`."""
    ranked = Ranked.of(held_out, probabilities)
    labels = held_out.labels.shape[1]
    support = np.bincount(held_out.labels.indices, minlength=labels)
    own = np.ones(labels, dtype=np.float32)
    order = np.lexsort((-ranked.probabilities, ranked.columns))
    p, hits, columns = ranked.probabilities[order], ranked.hits[order], ranked.columns[order]
    starts = np.searchsorted(columns, np.arange(labels + 1))
    for label in np.flatnonzero(np.diff(starts)):
        mine = slice(starts[label], starts[label + 1])
        ends = np.flatnonzero(np.append(np.diff(p[mine]) < 0, True))
        merit = f1(np.full(len(ends), support[label]), ends + 1, np.cumsum(hits[mine])[ends])
        best = int(np.argmax(merit))
        below = p[mine][ends[best + 1]] if best + 1 < len(ends) else 0.0
        own[label] = p[mine][0] if merit[best] < least_f1 else (p[mine][ends[best]] + below) / 2
    return Cuts("SCutFBR", 1.0, own)


def _figures(result, given: np.ndarray) -> dict[str, float]:
    return Selection.of(result.columns, given, result.labels).measures()


def table() -> None:
    cells = _means([json.loads(path.read_text()) for path in sorted((CELLS / "calibration").glob("*.json"))])
    head = "| data | model | seeds | P@1 | ECE@1/3/5 before | after | by chance | NLL before | after |"
    rows = []
    for c in cells:
        before, after, chance = (
            " / ".join(f"{c[when][f'{name}@{k}']:.2f}" for k in (1, 3, 5))
            for when, name in (("before", "ECE"), ("after", "ECE"), ("after", "ECE-chance"))
        )
        nll = f"{c['before']['NLL']:.4f} | {c['after']['NLL']:.4f}"
        rows.append(
            f"| {c['data']} | {c['method']} | {c['seeds']} | {c['P@1']:.2f} | {before} | {after} | {chance} | {nll} |"
        )
    put_rows(PAGE, "calibration", head, rows)
    head, rows = "| data | model | cut | precision | recall | micro-F1 | macro-F1 | rows with a label |", []
    names = ("precision", "recall", "micro-F1", "macro-F1", "rows_with_labels")
    for c in cells:
        for cut, found in c["cuts"].items():
            shown = ["not reached"] * len(names) if "unreachable" in found else [f"{found[n]:.1f}" for n in names]
            rows.append(f"| {c['data']} | {c['method']} | {cut} | {' | '.join(shown)} |")
    put_rows(PAGE, "cuts", head, rows)
    ways = ("f1", "count", "SCutFBR", "top 5", "0.5")
    rows = []
    for c in cells:
        shown = [f"{c['cuts'][way]['micro-F1']:.1f} / {c['cuts'][way]['macro-F1']:.1f}" for way in ways]
        rows.append(f"| {c['data']} | {c['method']} | {' | '.join(shown)} |")
    put_rows(PAGE, "F1 of cuts", "| data | model | " + " | ".join(ways) + " |", rows)


def _means(cells: list[dict]) -> list[dict]:
    """One cell for each data set and method: the mean over seeds; a cut that a seed did not reach is not reached."""
    groups: dict[tuple[str, str], list[dict]] = {}
    for cell in cells:
        groups.setdefault((cell["data"], cell["method"]), []).append(cell)
    found = []
    for (data, method), own in groups.items():
        cuts = {}
        for cut in own[0]["cuts"]:
            figures = [cell["cuts"][cut] for cell in own]
            missed = [f for f in figures if "unreachable" in f]
            cuts[cut] = missed[0] if missed else _mean(figures)
        one = {"data": data, "method": method, "seeds": len(own), "P@1": _mean(own, "P@1"), "cuts": cuts}
        found.append(one | {when: _mean([cell[when] for cell in own]) for when in ("before", "after")})
    return found


def _mean(figures: list[dict], name: str | None = None):
    if name is not None:
        return float(np.mean([f[name] for f in figures]))
    return {name: _mean(figures, name) for name in figures[0]}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=("run", "table"))
    options.add_argument("data", nargs="?", default="bibtex")
    options.add_argument("--method", default="rank-ae")
    options.add_argument("--preset")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--model", type=Path)
    o = options.parse_args()
    if o.what == "table":
        table()
        return
    found = run(o.data, o.method, o.preset, o.seed, o.model)
    place = CELLS / "calibration" / f"{o.data}-{o.method}-{o.preset}-{o.seed}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(found, indent=1))
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
