"""`rankae update` beside training anew: precision, new labels found, time.

    python benchmarks/update.py DATA [--preset fast] [--rows 10000] [--seed 0] [--validation] [--keep-labels] [--runs N]

A model learns 70 % of the training rows with a tenth of the labels taken off them, is updated with 20 % that carry
them, and with the last 10 %. Beside it stand two models trained anew: on all rows with all labels, of which no update
can know those that were taken off, and on exactly what the updated model has seen. --keep-labels takes none off.
--runs fixes the longest run of words that is a feature; otherwise each model chooses by its own rows, and models that
choose differently differ by more than what an update loses. Measured on test rows, with --validation on 5,000 further
training rows; propensities are of all rows. Prints one JSON object; seconds are of the processor.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

_SHARES = (0.7, 0.9)  # of the rows: where the first and the second update begin
_TAKEN_OFF = 0.1  # of the labels
_VALIDATION = 5_000
_WARM_UP = 400  # rows of a model that only compiles what the others need

Rows = tuple[list[str], list[list[str]]]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data")
    options.add_argument("--preset", default="fast")
    options.add_argument("--rows", type=int, help="of training; by default all")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--validation", action="store_true")
    options.add_argument("--keep-labels", action="store_true")
    options.add_argument("--runs", type=int)
    print(json.dumps(measure(options.parse_args())))


def measure(options: argparse.Namespace) -> dict[str, Any]:
    from time import process_time

    from rankae import RankAE

    learn, check = _rows(options)
    names = sorted({name for own in learn[1] for name in own})
    random = np.random.default_rng(options.seed)
    fresh = set(random.permutation(names)[: 0 if options.keep_labels else round(_TAKEN_OFF * len(names))].tolist())
    first, second = (round(share * len(learn[0])) for share in _SHARES)
    old = _part(learn, 0, first)
    without = old[0], [[name for name in own if name not in fresh] for own in old[1]]
    updates = _part(learn, first, second), _part(learn, second, len(learn[0]))
    seen = without[0] + learn[0][first:], without[1] + learn[1][first:]
    rarity = _rarity(learn)
    found: dict[str, Any] = {"data": options.data, "rows": len(learn[0]), "new labels": len(fresh)}

    def fit(rows: Rows) -> Any:
        ngrams = None if options.runs is None else (1, options.runs)
        return RankAE(options.preset, random_state=options.seed, threads=1, ngrams=ngrams).fit(*rows)

    def timed(what: str, make: Callable[[], Any]) -> Any:
        began = process_time()
        model = make()
        seconds = round(process_time() - began, 1)
        chosen = {"runs": list(model.text_.ngrams), "seconds": seconds}
        found[what] = _figures(model, check, fresh, rarity) | chosen
        return model

    fit(_part(learn, 0, _WARM_UP)).partial_fit(*_part(learn, _WARM_UP, _WARM_UP + 100))
    model = timed("first 70 %", lambda: fit(without))
    for share, rows in zip(("20 %", "10 %"), updates, strict=True):
        before = copy(model)
        model = timed(f"updated with {share}", lambda model=before, rows=rows: model.partial_fit(*rows))
    timed("anew, all labels", lambda: fit(learn))
    if fresh:
        timed("anew, what was seen", lambda: fit(seen))
    return found


def _rows(options: argparse.Namespace) -> tuple[Rows, Rows]:
    """Rows to learn from and rows to measure on."""
    from rankae.data import load_dataset

    train = _named(load_dataset(options.data))
    order = np.random.default_rng(options.seed).permutation(len(train[0])).tolist()
    check = _taken(train, order[:_VALIDATION]) if options.validation else _named(load_dataset(options.data, "test"))
    return _taken(train, order[_VALIDATION if options.validation else 0 :][: options.rows]), check


def _named(data: Any) -> Rows:
    starts, columns, names = data.labels.indptr, data.labels.indices, data.label_names
    return data.texts, [[names[c] for c in columns[starts[i] : starts[i + 1]]] for i in range(len(data))]


def _taken(rows: Rows, places: list[int]) -> Rows:
    return [rows[0][i] for i in places], [rows[1][i] for i in places]


def _part(rows: Rows, first: int, last: int) -> Rows:
    return rows[0][first:last], rows[1][first:last]


def _rarity(rows: Rows) -> dict[str, float]:
    """The inverse propensity of each label, by all rows with all labels."""
    from rankae.base.inputs import label_matrix
    from rankae.metrics import inverse_propensities

    labels = label_matrix(rows[1])
    return dict(zip(map(str, labels.classes), inverse_propensities(labels.matrix).tolist(), strict=True))


def _figures(model: Any, check: Rows, fresh: set[str], rarity: dict[str, float]) -> dict[str, Any]:
    best = [list(map(str, own)) for own in model.predict_top(check[0], 5)[0].tolist()]
    right = np.array([[name in own for name in top] for top, own in zip(best, check[1], strict=True)])
    gained = right * np.array([[rarity.get(name, 0.0) for name in top] for top in best])
    worth = [sorted((rarity.get(name, 0.0) for name in own), reverse=True) for own in check[1]]
    found = {}
    for k in (1, 3, 5):
        found[f"P@{k}"] = round(100 * float(right[:, :k].mean()), 1)
        found[f"PSP@{k}"] = round(100 * float(gained[:, :k].sum() / sum(sum(own[:k]) for own in worth)), 1)
    of_new = [name in top for top, own in zip(best, check[1], strict=True) for name in own if name in fresh]
    return found | ({"new labels, recall@5": round(100 * float(np.mean(of_new)), 1)} if of_new else {})


if __name__ == "__main__":
    main()
