"""`rankae update`: a model learns new rows and new labels without being trained from nothing."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankae.cli.options import Json, Model, Quiet, Threads, be_quiet, use_threads
from rankae.cli.reading_options import ReadingOptions, reading_options
from rankae.errors import RankaeError
from rankae.report.terminal import say

if TYPE_CHECKING:
    from rankae.base.ranker import LabelRanker
    from rankae.data import Dataset

_CHECKED = 0.2  # of the new rows, on which old and new model are compared before the new one learns from them too
_MOST_CHECKED = 2_000
_FEWEST_CHECKED = 10
_WORSE = 0.5  # points of P@1 or nDCG@5 that the new model may lose
_SHOWN = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@5")


@reading_options()
def update(
    model: Model,
    new: Annotated[str, typer.Argument(metavar="NEW", help="New rows: a data set, a file, or a desk's folder.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR2", help="Folder to write the new model to.")],
    force: Annotated[bool, typer.Option("--force", help="Write the new model even if it is worse.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Draws the rows on which both are compared.")] = 0,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
    *,
    options: ReadingOptions,
) -> None:
    """Learn new rows and new labels; the rows that the model has learnt from before are not needed.

    A fifth of the new rows is held out first: old and new model are compared on it, and a worse model is not written.
    """
    use_threads(threads)
    be_quiet(quiet)
    from rankae.cli.desk_data import load_rows
    from rankae.methods import load
    from rankae.model_file import check_place, read_manifest

    check_place(out)
    ranker = load(model)
    if not hasattr(ranker, "partial_fit"):
        raise RankaeError(f"{model}: {ranker.method} cannot learn more rows; train it on all of them instead")
    ranker.set_params(threads=threads)
    facts = read_manifest(model)["facts"]
    rows = load_rows(new, reading=ranker.reading_, **options)
    if not rows.labels.nnz:
        raise RankaeError(f"{new}: no row carries a label, so there is nothing to learn")
    began = perf_counter()
    known = {str(name) for name in ranker.classes_.tolist()}
    found = _learn(ranker, rows, seed)
    fresh = [str(name) for name in ranker.classes_.tolist() if str(name) not in known]
    found |= {"rows": len(rows), "new_labels": len(fresh), "seconds": round(perf_counter() - began, 3)}
    if not force and (worse := _worse(found)):
        raise RankaeError(
            f"the new model would be worse than {model}: {worse} on {found['checked_rows']} held-out rows; nothing was "
            "written (--force writes it)"
        )
    updates = [*facts.get("updates", []), found | {"data": rows.name}]
    ranker.save(out, **facts | {"rows": ranker.training_rows_, "labels": len(ranker.classes_), "updates": updates})
    if json:
        typer.echo(json_module.dumps({"model": str(out)} | found))
    else:
        _tell(out, found)


def _learn(ranker: LabelRanker, rows: Dataset, seed: int) -> dict[str, Any]:
    """Train the model on all rows, the held-out ones last; returns measures on these before and after the update."""
    import numpy as np

    from rankae.cli.measuring import measure

    size = min(int(_CHECKED * len(rows)), _MOST_CHECKED)
    if size < _FEWEST_CHECKED:
        _teach(ranker, rows)
        return {"checked_rows": 0, "before": None, "after": None}
    order = np.random.default_rng(seed).permutation(len(rows))
    check, learn = rows.take(np.sort(order[:size])), rows.take(np.sort(order[size:]))
    known = {str(name) for name in ranker.classes_.tolist()}
    result: dict[str, Any] = {"checked_rows": size, "before": _figures(measure, ranker, check)}
    _teach(ranker, learn)
    result["after"] = _figures(measure, ranker, check)
    result["new_label_recall@5"] = _recall_of_new(ranker, check, known)
    _teach(ranker, check)
    return result


def _teach(ranker: LabelRanker, rows: Dataset) -> None:
    ranker.partial_fit(ranker.matching(rows).rows, _label_lists(ranker, rows))  # type: ignore[attr-defined]


def _label_lists(ranker: LabelRanker, rows: Dataset) -> list[list[Any]]:
    """The labels of each row by the model's names, or by number if neither has names."""
    columns_of_rows: list[Any] = rows.label_names if rows.label_names is not None else list(range(rows.n_labels))
    by_word = {str(name): name for name in ranker.classes_.tolist()}
    names = [by_word.get(str(name), name) for name in columns_of_rows]
    starts, columns = rows.labels.indptr, rows.labels.indices
    return [[names[c] for c in columns[starts[i] : starts[i + 1]]] for i in range(len(rows))]


def _figures(measure: Any, ranker: LabelRanker, check: Dataset) -> dict[str, float]:
    from rankae.errors import DataError

    try:
        measures = measure(ranker, check)
    except DataError:  # all labels are new
        return dict.fromkeys(_SHOWN, 0.0)
    return {name: round(float(measures[name]), 2) for name in _SHOWN}


def _recall_of_new(ranker: LabelRanker, check: Dataset, known: set[str]) -> float | None:
    """Recall@5 of the new labels, in percent; None if no row has one."""
    new_names = [[str(name) for name in names if str(name) not in known] for names in _label_lists(ranker, check)]
    if not any(new_names):
        return None
    best, _ = ranker.predict_top(check.rows, 5)
    hits = sum(
        len(set(names) & {str(name) for name in predicted})
        for predicted, names in zip(best.tolist(), new_names, strict=True)
    )
    return round(100 * hits / sum(map(len, new_names)), 2)


def _worse(result: dict[str, Any]) -> str:
    if result["before"] is None:
        return ""
    for name in ("P@1", "nDCG@5"):
        before, after = result["before"][name], result["after"][name]
        if after < before - _WORSE:
            return f"{name} {after:.2f} after {before:.2f}"
    return ""


def _tell(out: Path, result: dict[str, Any]) -> None:
    say(f"{out}: {result['rows']:,} rows and {result['new_labels']:,} new labels learnt in {result['seconds']:.1f} s")
    if result["before"] is None:
        say("too few rows to compare the models on; measure them with rankae evaluate")
        return
    say(f"on {result['checked_rows']:,} of the rows, held out:")
    for name in _SHOWN:
        say(f"  {name:<7} {result['before'][name]:6.2f} before, {result['after'][name]:6.2f} after")
    if result["new_label_recall@5"] is not None:
        say(f"  of the new labels' places {result['new_label_recall@5']:.1f} % are found among the best five")
