"""Prediction on a cluster: one task per batch, results in the order of the rows; finished batches are kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rankae.cluster.remote_workers import ClusterWorkers
from rankae.cluster.tasks import Order
from rankae.data.dataset import Dataset
from rankae.methods import load
from rankae.model_file.folder import MANIFEST
from rankae.numerics.shards import Arrays, Span


def predicted(
    workers: ClusterWorkers,
    model: str | Path,
    batches: Iterable[Dataset],
    matching: Callable[[Dataset], Dataset],
    k: int,
) -> Iterator[tuple[Dataset, np.ndarray, np.ndarray]]:
    """(rows, label columns, scores) of each batch, in their order; a few batches are held at a time.

    matching : gives a batch the model's feature columns.
    """
    place = Path(model).resolve()
    settings = {"model": str(place), "about": (place / MANIFEST).read_text(encoding="utf-8")[-200:], "k": k}
    name = f"{top_of_rows.__module__}:{top_of_rows.__qualname__}"
    held: deque[Dataset] = deque()

    def orders() -> Iterator[Order]:
        for batch in batches:
            rows = matching(batch)
            held.append(batch)
            shared = {"features": rows.features} if rows.texts is None else _packed(rows.texts)
            inputs = workers.share(shared)
            yield Order("predict", name, inputs, settings, (0, len(batch)), str(workers.folder / "shards"))

    for arrays in workers.results(orders()):
        yield held.popleft(), arrays["columns"], arrays["scores"]


def top_of_rows(shared: dict[str, Any], settings: dict[str, Any], span: Span) -> Arrays:
    """The best labels of rows: columns and scores."""
    ranker = _model(settings["model"], settings["about"])
    rows = shared["features"] if "features" in shared else _unpacked(shared["texts"], shared["ends"])
    columns, scores = ranker.top_columns(rows, settings["k"])
    return {"columns": columns, "scores": scores}


@lru_cache(maxsize=1)
def _model(path: str, about: str) -> Any:
    return load(path)


def _packed(texts: list[str]) -> Arrays:
    coded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return {
        "texts": np.frombuffer(b"".join(coded), dtype=np.uint8),
        "ends": np.cumsum([len(text) for text in coded], dtype=np.int64),
    }


def _unpacked(texts: np.ndarray, ends: np.ndarray) -> list[str]:
    whole, starts = texts.tobytes(), [0, *ends[:-1].tolist()]
    return [whole[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends.tolist(), strict=True)]
