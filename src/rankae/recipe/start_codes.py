"""The closed-form component before tuning: fitted without each fold, and on all rows."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from rankae.components.closed_form import ClosedForm
from rankae.paper.closed_form import WarmStart
from rankae.recipe import rules
from rankae.recipe.label_correction import denoised_start, robust_decoder
from rankae.recipe.settings import common_labels
from rankae.recipe.task import Task


def closed_form(
    task: Task, folds: list[np.ndarray], groups: np.ndarray | None = None
) -> tuple[WarmStart, list[ClosedForm]]:
    """The start, and its untuned components: one without each fold, and last the one of all rows."""
    settings, labels = task.settings, task.labels
    began, rounds = time.perf_counter(), settings.noise_rounds
    sizes = settings.code_size, settings.ridge, rounds, settings.proposed
    iterations = rules.ITERATIONS[settings.effort == "low"]
    start = denoised_start(task.rows, labels, *sizes, settings.seed, folds, task.embeddings, groups, iterations)
    common = common_labels(labels, settings.code_support, settings.neighbours)
    every = np.arange(labels.shape[0])
    pairs = zip(start.without, folds, strict=True)
    folds_of_start = [(without.codes, without.label_table, np.setdiff1d(every, fold)) for without, fold in pairs]
    components = []
    for codes, table, rest in [*folds_of_start, (start.loo_codes, start.label_table, every)]:
        decoder = robust_decoder(codes[rest], table, labels[rest]) if rounds else table
        components.append(ClosedForm.untouched(replace(start, label_table=decoder), common))
    task.training.timed("warm start", began)
    return start, components
