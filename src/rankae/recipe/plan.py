"""Estimates what training will cost before it starts: seconds, peak memory and size of the model, step by step.

Each step is counted in the operations that it takes and in the arrays that it holds at once. The cost of each operation
was fitted to runs on generated data (docs/scale.md compares estimates and measurements), and a short benchmark scales
it to the speed of this machine. Times are accurate to a factor of about 1.5, memory and model size to a fifth.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import Choices
from rankae.data.near_duplicates import held_out_sizes
from rankae.errors import RankaeError
from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.threads import limited_to
from rankae.paper.left_out import PROBES
from rankae.recipe import rules
from rankae.recipe.notes import Training
from rankae.recipe.ranker_cost import one_label_in
from rankae.recipe.settings import RecipeSettings, Resolved, common_labels, resolved
from rankae.recipe.sizes import Sizes

# Seconds of one thread, on the reference machine.
_SECONDS = {
    "product": 2.1e-10,  # a multiplication of a sparse matrix with a table
    "dense": 1.5e-11,  # a multiplication of two tables
    "posting": 1.1e-9,  # a row that shares a word
    "loss": 1.2e-8,  # a score in the loss that tunes D
    "visit": 4e-7,  # a row that a ranker learns from, in one solve
    "ranker": 6e-9,  # a word of such a row
    "entry": 4e-8,  # a shortlisted label: found, sorted, scored
    "network": 3e-11,  # a multiplication of a network's training
    "stacker": 1.4e-7,  # a label of a row that the stacker learns from
    "weight": 2.5e-8,  # a weight of a ranker, whose smaller forms are compared
    "text": 2e-6,  # a word of a text: read, counted, weighted
}
_START_SECONDS = 4.0  # libraries and compiled loops are loaded
_REFERENCE = 0.0018  # seconds that `machine_speed` took there
_BASE = 540e6  # bytes of a process that has loaded everything
_KEPT_WORDS = 0.85  # share of the words of a ranker's rows that keep a weight at C = 3; at 0.3 half as many
_MOST_ENTRIES = 3_000_000  # sorted at a time by the rankers
_FREE_SHARE = 0.75


@dataclass(frozen=True)
class Plan:
    """Seconds and bytes of each step, and bytes of each component, with these settings."""

    settings: Resolved
    seconds: dict[str, float]
    memory: dict[str, float]
    model: dict[str, float]
    changed: dict[str, str]
    budget: float
    threads: int = 1

    @property
    def peak(self) -> float:
        return max(self.memory.values())

    def as_json(self) -> dict[str, Any]:
        return {
            "seconds": round(sum(self.seconds.values()), 1),
            "waiting_factor": round(waiting_factor(self.threads), 1),
            "peak_bytes": int(self.peak),
            "model_bytes": int(sum(self.model.values())),
            "memory_budget_bytes": int(self.budget),
            "steps": {
                name: {"seconds": round(step_seconds, 2), "bytes": int(self.memory.get(name, 0))}
                for name, step_seconds in self.seconds.items()
            },
            "model": {name: int(size) for name, size in self.model.items()},
            "settings": {name: getattr(self.settings, name) for name in _SHOWN},
            "changed": self.changed,
        }


_SHOWN = (
    "effort", "code_size", "proposed", "random_negatives", "neighbours", "rankers", "network", "word_size", "tuning",
    "tuning_epochs", "code_support", "most_rows",
)  # fmt: skip


def plan_within(
    sizes: Sizes, labels: sp.csr_matrix, settings: RecipeSettings, budget: float | None = None, threads: int = 1
) -> Plan:
    """The plan for these settings, or for the first smaller ones that fit the memory budget.

    budget : bytes; by default three quarters of the free memory.
    """
    budget = _FREE_SHARE * free_memory() if budget is None else budget
    speed = machine_speed() * max(1, threads) ** 0.8
    smallest = None
    for changes in _smaller(sizes, labels, settings):
        choices: Choices = {}
        chosen = resolved(replace(settings, **changes), sizes, labels, settings.ridge or 1.0, Training(choices))
        plan = _estimate(sizes, labels, chosen, speed, budget)
        if plan.peak <= budget:
            first = resolved(settings, sizes, labels, 1.0, Training({}))
            changed = {n: f"{v} in place of {getattr(first, n)}" for n, v in changes.items() if v != getattr(first, n)}
            return replace(plan, changed=changed, threads=max(1, threads))
        smallest = plan if smallest is None or plan.peak < smallest.peak else smallest
    assert smallest is not None
    raise RankaeError(
        f"training needs about {_gigabytes(smallest.peak)} GB of memory even with the smallest settings, and "
        f"{_gigabytes(budget)} GB may be used: give more with --memory, train with --cluster, or use fewer rows"
    )


def _smaller(sizes: Sizes, labels: sp.csr_matrix, settings: RecipeSettings) -> Iterator[dict[str, Any]]:
    """Settings that need less and less memory, those that cost least accuracy first; what the user set stays."""
    first = resolved(settings, sizes, labels, 1.0, Training({}))

    def free(name: str) -> bool:
        return getattr(settings, name) is None

    changes: dict[str, Any] = {}
    yield changes
    for name, values in (
        ("random_negatives", (20, 10)),
        ("proposed", (20, 10)),
        ("code_size", (200, 100, 64, 32)),
        ("network", (0,)),
        ("tuning", (False,)),
        ("rankers", (False,)),
    ):
        for value in values:
            if free(name) and value < getattr(first, name):
                changes = changes | {name: value}
                yield changes


def _estimate(sizes: Sizes, labels: sp.csr_matrix, s: Resolved, speed: float, budget: float) -> Plan:
    (n, V), L, h = sizes.shape, labels.shape[1], s.code_size
    row = sizes.nnz / max(1, n)
    labels_per_row = labels.nnz / max(1, n)
    held_out = held_out_sizes(n)
    folds, held = len(held_out), sum(held_out)
    common = common_labels(labels, s.code_support, s.neighbours)
    tuned = L if common is None else len(common)
    low = s.effort == "low"
    listed = s.proposed * (1 + 0.8 * s.neighbours) + labels_per_row  # distinct labels that are proposed for a row
    learnt = listed + s.random_negatives
    cost, dense_svd = _SECONDS, L <= 1000
    columns = h + PROBES
    solves = rules.ITERATIONS[low] * (folds + 0.5)
    step = sizes.nnz * columns
    seconds = {"starting": _START_SECONDS}
    if sizes.texts:
        seconds["reading texts"] = cost["text"] * sizes.nnz * (1 if low else 3)
    svd = 7 * labels.nnz * (h + 16) * cost["product"] + 8 * L * (h + 16) ** 2 * cost["dense"]
    if s.ridge is None or not low:
        sample = min(n, 10_000) * row
        seconds["choices"] = 4 * 24 * sample * 88 * cost["product"] + 4 * min(n, 10_000) * L * 64 * cost["dense"]
        seconds["choices"] *= 2 if sizes.texts else 1  # runs of characters, if they are taken, make rows longer
    seconds["start"] = (
        2 * solves * step * cost["product"] + (1e-9 * L**3 if dense_svd else svd) + V * columns * 4e-9 * solves
    )
    if s.neighbours:
        followed = (
            float(n) * n * V * cost["dense"] if s.most_rows > 2**30 else sizes.postings(s.most_rows) * cost["posting"]
        )
        seconds["neighbours"] = followed + n * 20 * labels_per_row * 3e-8
    if s.tuning:
        passes = s.tuning_epochs * (1 if folds == 1 else 2 * (folds + 1))
        seconds["tuning"] = passes * n * tuned * (6 * h * cost["dense"] + cost["loss"])
    entries = n * learnt
    if s.rankers:
        seconds["rankers"] = entries * (1 + folds) * (cost["visit"] + row * cost["ranker"])
        seconds["rankers"] *= 1 if s.ranker_cost is not None else 1 + 2 / one_label_in(L)
    seconds["shortlists"] = n * min(L, 3 * tuned) * h * cost["dense"] * (1 + folds) / 2 + entries * cost["entry"]
    if s.network:
        gate = 10 if s.attention else 1
        each = 6.0 * n * s.epochs * (h * min(L, rules.SEEN_LABELS[1]) + s.word_size * gate * row)
        seconds["network"] = each * (1 if folds == 1 else folds + 1) * cost["network"]
    longest = rules.STACKER_STEPS[low]
    steps = rules.STACKERS[low] * min(longest, -(-40 * held // 64))
    steps += 2 * rules.STACKERS_OF_HALVES[low] * min(longest, -(-20 * held // 64))  # for calibration
    seconds["stacker"] = steps * 64 * listed * cost["stacker"]
    weights = _ranker_weights(sizes, labels)
    seconds["saving"] = 1 + L * 2e-6 + s.rankers * weights * cost["weight"]
    matrix = 8.0 * sizes.nnz + 8.0 * labels.nnz
    base = _BASE + sizes.read_bytes + matrix + 120.0 * L  # names of labels
    block = 128 * 4.0
    codes = n * columns * 4.0
    tables = V * h * 4.0 + L * (h + 16) * 4.0
    nearest = n * 160.0 if s.neighbours else 0.0
    votes = nearest + min(n, 2**14) * 20 * labels_per_row * 12
    postings = 8 * sizes.followed(s.most_rows)
    lists = 4.0 * n * learnt * (1 + folds) + 4.0 * n * s.proposed * (3 + folds)
    memory = {"starting": base}
    memory["start"] = (
        base + votes + postings + matrix + V * block * 4 + n * block * 2 + tables + V * columns * 4 + codes * 2.5
    )
    vectors = L * (h + 16) * 4.0  # of the labels
    memory["start"] = max(memory["start"] + vectors, base + votes + postings + 3 * vectors)
    if s.neighbours:
        memory["neighbours"] = base + 2 * matrix + postings + nearest
    if s.tuning:
        memory["tuning"] = (
            base + votes + postings + tables + codes * (2 + folds) + (5 * tuned * h + 3 * 256 * tuned + 3 * L * h) * 4.0
        )
    if s.rankers:
        at_once = min(entries * (1 + 0.2 * folds), _MOST_ENTRIES)
        shard = 8 * weights * min(1.0, _MOST_ENTRIES / max(1.0, entries))
        memory["rankers"] = base + votes + postings + tables + lists + 45 * at_once + shard + 8 * weights
    if s.network:
        memory["network"] = base + tables + 16.0 * (V * s.word_size + 2 * h * L) + codes
    memory["stacker"] = base + postings + tables + 8 * weights + held * listed * 150 * (1 if low else 3)
    memory["saving"] = base + postings + tables + 10 * weights
    # The storage that is chosen most often: words in int4, labels in int8, ascending integers in two bytes.
    model = {"start": V * (h / 2 + 4.0) + L * (h + 8.0)}
    if s.neighbours:
        model["neighbours"] = 4.0 * sizes.followed(s.most_rows) + 2.0 * V + 3.0 * labels.nnz + n
    if s.rankers:
        model["rankers"] = 3.3 * weights + 6.0 * L
    if s.network:
        model["network"] = 0.5 * V * s.word_size + 1.5 * h * L + 4.0 * V
    model["names"] = 14.0 * L + (16.0 * V if sizes.texts else 0) + 400.0 * held
    scaled_seconds = {name: value / speed if name != "starting" else value for name, value in seconds.items()}
    return Plan(s, scaled_seconds, memory, model, {}, budget)


def _ranker_weights(sizes: Sizes, labels: sp.csr_matrix) -> float:
    """Number of weights of all rankers: a share of the distinct words of the rows that each is trained on."""
    n = sizes.shape[0]
    counts = np.bincount(labels.indices, minlength=labels.shape[1])
    # Random negatives hardly change a ranker; the number of hard negatives grows with the rows that carry the label.
    rows = np.minimum(n, counts * 3.0 + 2.0)[counts > 0]
    chance = sizes.frequencies / max(1, n)
    at = np.unique(np.geomspace(1, max(2, n), 40))
    distinct = np.array([sizes.words_per_entry * -np.expm1(m * np.log1p(-np.minimum(chance, 0.999))).sum() for m in at])
    return float(_KEPT_WORDS * np.interp(rows, at, distinct).sum())


def waiting_factor(threads: int) -> float:
    """How many times longer than its CPU time training takes by the clock, given what else runs on this machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    others = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1.0, (others + threads) / cores)


def machine_speed() -> float:
    """Speed of one thread relative to the reference machine, by the most frequent operation of training.

    CPU time is compared, so that other programs that run now do not count.
    """
    rng = np.random.default_rng(0)
    rows = sp.random(2000, 5000, 0.01, "csr", np.float32, rng=rng)
    table = rng.standard_normal((5000, 128)).astype(np.float32)
    sparse_product(rows[:10], table)
    best = np.inf
    with limited_to(1):
        for _ in range(20):
            began = time.process_time()
            sparse_product(rows, table)
            best = min(best, time.process_time() - began)
    return _REFERENCE / best


def free_memory() -> float:
    """Bytes that this process may still use: those of the machine, or of its cgroup if that has less."""
    limits = []
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            facts = dict(line.split(":", 1) for line in file)
        limits.append(1024.0 * int(facts["MemAvailable"].split()[0]))
    except (OSError, KeyError, ValueError):
        pass
    try:
        with (
            open("/sys/fs/cgroup/memory.max", encoding="ascii") as most,
            open("/sys/fs/cgroup/memory.current", encoding="ascii") as now,
        ):
            limits.append(float(most.read()) - float(now.read()))
    except (OSError, ValueError):  # no group, or "max"
        pass
    return min(limits, default=8e9)


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f}" if size < 1e11 else f"{size / 1e9:.0f}"
