"""The default preset beside Parabel and one-vs-rest on stand-ins for texts of other kinds: inflected, short, in lists.

    RANKAE_DATA=../shared/data python benchmarks/text_stand_ins.py [--of "Finnish questions;German papers"] [--seeds 3]
        [--again]

Four contenders, all at their defaults: Parabel (omikuji) on tf-idf words, Parabel on the features that the default
preset chose, one-vs-rest on tf-idf words where labels are few, and the default preset without an encoder. Rows are
split off train by blocks; see `measuring/stand_ins.py`. Writes docs/results/text-stand-ins.md; what is in
text-stand-ins.json is not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from measuring.places import RESULTS
from measuring.stand_ins import STAND_INS
from rankae import RankAE
from rankae.data import Dataset
from rankae.experiments.compare import write_files
from rankae.experiments.provenance import commit
from rankae.methods.registry import class_of
from rankae.metrics import evaluate
from rankae.report.grids import Grid, to_markdown

KS = (1, 3, 5)
MOST_LABELS = 700  # for one-vs-rest, which takes minutes for more
Figures = dict[str, Any]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--of", default=";".join(STAND_INS), help="names between semicolons")
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--again", action="store_true", help="measure what has been measured before")
    options.add_argument("--out", type=Path, default=RESULTS)
    chosen = options.parse_args()
    kept = chosen.out / "text-stand-ins.json"
    found: dict[str, dict[str, Figures]] = json.loads(kept.read_text()) if kept.exists() else {}
    for name in chosen.of.split(";"):
        for seed in range(chosen.seeds):
            key = f"{name}|{seed}"
            if key in found and not chosen.again:
                continue
            measured = compared(*STAND_INS[name].rows_of(seed), seed)
            print(key, json.dumps(measured), flush=True)
            found = (json.loads(kept.read_text()) if kept.exists() else {}) | {key: measured}
            write_files(chosen.out, {kept.name: json.dumps(found, indent=1) + "\n"})
    write_files(chosen.out, {"text-stand-ins.md": table(found)})


def compared(train: Dataset, check: Dataset, seed: int) -> dict[str, Figures]:
    """Figures of each contender."""
    default = RankAE("default", random_state=seed, encoder="none")
    figures = {
        "Parabel": measured(class_of("parabel")(n_jobs=1), train.texts, check.texts, train, check),
        "default": measured(default, train.texts, check.texts, train, check),
    }
    if train.n_labels <= MOST_LABELS:
        figures["one-vs-rest"] = measured(class_of("one-vs-rest")(), train.texts, check.texts, train, check)
    text = default.text_
    own = text.transform(train.texts), text.transform(check.texts)
    figures["Parabel, our features"] = measured(class_of("parabel")(n_jobs=1), *own, train, check)
    chosen = {name: getattr(text, name) for name in ("ngrams", "title", "pieces", "analyzer", "hyphens")}
    components = default.choices_["components"]["value"]
    size = {"rows": len(train), "labels": train.n_labels, "words a row": words_of(train)}
    figures["default"] |= {"read": chosen, "components": components, "size": size, "commit": commit()}
    return figures


def words_of(data: Dataset) -> float:
    return round(float(np.mean([len(text.split()) for text in data.texts or []])), 1)


def measured(model: Any, rows: Any, check_rows: Any, train: Dataset, check: Dataset) -> Figures:
    began = time.process_time()
    model.fit(rows, train.labels)
    seconds = time.process_time() - began
    columns = model.top_columns(check_rows, max(KS))[0]
    scores = evaluate(columns, check.labels, KS, train.labels)
    kept = {f"{family}@{k}": round(float(scores[f"{family}@{k}"]), 2) for family in ("P", "PSP") for k in KS}
    return kept | {"CPU seconds": round(seconds, 1)}


def table(found: dict[str, dict[str, Figures]]) -> str:
    """Means over seeds."""

    def mean(ones: list[Figures], key: str) -> float:
        return float(np.mean([one[key] for one in ones]))

    lines = []
    columns = [f"{family}@{k}" for family in ("P", "PSP") for k in KS] + ["CPU seconds"]
    for name in dict.fromkeys(key.split("|")[0] for key in found):
        own = [figures for key, figures in found.items() if key.split("|")[0] == name]
        size, read = own[0]["default"]["size"], own[0]["default"]["read"]
        about = f"{name} ({size['rows']} rows, {size['words a row']:.0f} words, {size['labels']} labels)"
        extras = [
            f"{read['ngrams'][1]} words in a run" if read["ngrams"][1] > 1 else "",
            *(said for said, there in (("titles", read["title"]), ("pieces", read["pieces"])) if there),
            "characters" if read["analyzer"] != "word" else "",
            "joined hyphens" if read["hyphens"] == "join" else "",
        ]
        chosen = ", ".join(filter(None, extras)) or "single words"
        commits = ", ".join(sorted({figures["default"]["commit"] for figures in own}))
        for contender in own[0]:
            ones = [figures[contender] for figures in own]
            of_it = chosen if contender in ("default", "Parabel, our features") else "tf-idf words"
            lines.append(
                [about, contender, of_it, *(f"{mean(ones, key):.1f}" for key in columns), str(len(ones)), commits]
            )
    grid = Grid(
        "The default and its rivals", ["texts", "method", "read", *columns, "seeds", "commit"], lines, set(), names=3
    )
    note = "Percent, rows split off train. Without an encoder. By `benchmarks/text_stand_ins.py`."
    return to_markdown("Texts of other kinds", [grid], note)


if __name__ == "__main__":
    main()
