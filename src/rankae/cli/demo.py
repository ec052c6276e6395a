"""`rankae demo`: the whole story on generated data, in a few minutes or, with --small, in well under one."""

from __future__ import annotations

import json as json_module
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankae.base.choices import describe
from rankae.cli.options import Json, Quiet, Threads, be_quiet, use_threads
from rankae.report.terminal import print_measures, print_table, say

if TYPE_CHECKING:
    from rankae.base.ranker import LabelRanker
    from rankae.cli.training_page import Example
    from rankae.data import Dataset

PLACES = (1, 3, 5)
EXAMPLES = 5


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the data, the model and the report.")] = Path("demo-output"),
    small: Annotated[bool, typer.Option("--small", help="Less data, for a quick check.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same story.")] = 0,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """The whole story on generated data: train Rank-AE, measure it, predict, explain, write a report."""
    use_threads(threads)
    be_quiet(quiet or json)
    from rankae.cli.fitting import fit_and_save, new_ranker
    from rankae.cli.measuring import measure
    from rankae.cli.training_page import write_report
    from rankae.data import make_dataset
    from rankae.explain import explain
    from rankae.methods import create
    from rankae.model_file import check_place

    model_place, report_place = out / "model", out / "report.html"
    check_place(model_place)
    rows, labels = (600, 40) if small else (2_000, 200)
    train, test = make_dataset(rows=rows, labels=labels, seed=seed)
    _write_data(train, test, out / "data")
    say(f"1. Data: {rows:,} generated documents with {labels} labels to learn from, {len(test):,} to be judged by.")
    say("2. Training Rank-AE ...")
    ranker = new_ranker("rank-ae", {}, {"random_state": seed, "threads": threads})
    facts = fit_and_save(ranker, train, model_place, seed=seed)
    for name, choice in facts["choices"].items():
        say(f"   {name}: {describe(choice)}")
    say(f"   trained in {facts['seconds']:.0f} s")
    say("   and, to compare, the model as the paper has it ...")
    paper = new_ranker("rank-ae-paper", {"validation": 0.2}, {"random_state": seed, "threads": threads})
    models = {
        "Rank-AE": ranker,
        "as in the paper": paper.fit_dataset(train),
        "most frequent": create("popular").fit_dataset(train),
    }
    measures = {name: measure(model, test, PLACES) for name, model in models.items()}
    examples = _examples(ranker, test.take(slice(0, EXAMPLES)))
    write_report(report_place, ranker, facts, measures, examples, _histories(models))
    if json:
        shown = {"measures": measures, "examples": [asdict(example) for example in examples], "training": facts}
        typer.echo(json_module.dumps(shown | {"model": str(model_place), "report": str(report_place)}))
        return
    print_measures("3. How good is it? Percent, on the test documents", measures, PLACES)
    cells = [[_beginning(e.text), ", ".join(e.true), ", ".join(_marked(e))] for e in examples]
    print_table("4. Five predictions, best first (* is right)", ["document", "labels", "predicted"], cells, (0, 1, 2))
    why = ", ".join(f"{word} {weight:+.3f}" for word, weight in explain(ranker, test.rows[0], 1).strongest(0, 6))
    say(f"5. Words that moved the first document towards {examples[0].predicted[0]} (+) or away from it (-): {why}")
    say(f"6. The report with the training curve: {report_place}")
    say("\nGo on with these, or with your own data in place of the generated:")
    say(f"   rankae evaluate {model_place} {out / 'data'} --json")
    say(f"   head -3 {out / 'data' / 'test.jsonl'} | rankae predict {model_place} - -k 3")
    say(f"   rankae train {out / 'data'} --model {out / 'paper-model'} --preset paper")


def _write_data(train: Dataset, test: Dataset, folder: Path) -> None:
    from rankae.data.writing import write_dataset, write_names

    write_dataset(train, folder / "train.jsonl")
    write_dataset(test, folder / "test.jsonl")
    write_names(train.label_names or [], folder / "labels.txt")


def _examples(ranker: LabelRanker, data: Dataset) -> list[Example]:
    from rankae.cli.training_page import Example

    names, scores = ranker.predict_top(data.rows, PLACES[-1])
    label_names = data.label_names or []
    return [
        Example(
            text=data.rows[i],
            true=[label_names[column] for column in data.labels[i].indices],
            predicted=[str(name) for name in names[i]],
            scores=[round(float(score), 4) for score in scores[i]],
        )
        for i in range(len(data))
    ]


def _histories(models: dict[str, LabelRanker]) -> dict[str, list[dict[str, Any]]]:
    """The epochs of the models that have any."""
    histories = {f"Training: {name}": getattr(model, "history_", []) for name, model in models.items()}
    return {title: history for title, history in histories.items() if any("epoch" in figures for figures in history)}


def _beginning(text: str, characters: int = 30) -> str:
    return text if len(text) <= characters else f"{text[:characters]}…"


def _marked(example: Example) -> list[str]:
    return [f"{label}*" if label in example.true else label for label in example.predicted]
