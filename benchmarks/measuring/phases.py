"""The two things that are timed, each called in a process of its own: one training, and predictions with its model."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

from measuring.matrices import Matrices, texts_of
from measuring.systems import K, system

PASSES, SINGLE_ROWS = 3, 200


def train(name: str, data: Path, model: Path, threads: int) -> dict[str, Any]:
    """Train once; the peak of memory is that of the process until training ends, with libraries and data."""
    from rankae.experiments.measure import peak_megabytes

    matrices = Matrices.read(data)
    figures = system(name).train(matrices.train_x, matrices.train_y, model, threads)
    size = sum(file.stat().st_size for file in model.rglob("*") if file.is_file())
    return figures | {"peak_megabytes": peak_megabytes(), "model_megabytes": size / 1e6}


def predict(name: str, data: Path, model: Path, threads: int) -> dict[str, Any]:
    """Time the K best labels of all test rows in bulk and of single rows; compilers and caches are warm by then."""
    from rankae.metrics import evaluate

    matrices = Matrices.read(data)
    chosen, x = system(name), matrices.test_x
    answer = chosen.answer(model, threads)
    answer(x[:10])
    seconds = []
    for _ in range(PASSES):
        began = time.perf_counter()
        found = answer(x)
        seconds.append(time.perf_counter() - began)
    scores = evaluate(chosen.columns(found), matrices.test_y, (1, 3, K))
    singles = [x[i] for i in range(min(SINGLE_ROWS, x.shape[0]))]
    figures = {
        "ms_per_row": 1e3 * statistics.median(seconds) / x.shape[0],
        "one_row_ms": _median_ms(answer, singles),
        **{f"P@{k}": float(scores[f"P@{k}"]) for k in (1, 3, K)},
    }
    text, texts = texts_of(data)
    if texts and name.startswith("rankae"):
        figures["text_row_ms"] = _median_ms(lambda one: answer(text.transform([one])), texts)
    return figures


def _median_ms(answer: Any, items: list[Any]) -> float:
    times = []
    for item in items:
        began = time.perf_counter()
        answer(item)
        times.append(1e3 * (time.perf_counter() - began))
    return statistics.median(times)
