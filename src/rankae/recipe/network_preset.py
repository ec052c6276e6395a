"""The preset `network`: trains the single Rank-AE network from rows and labels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.base.held_out import MOST_PLACES, HeldOut
from rankae.data.near_duplicates import alike_groups, groups_in_runs, nearest_others
from rankae.data.splits import split_runs
from rankae.data.word_embeddings import WordEmbeddings
from rankae.paper.closed_form import WarmStart, warm_start
from rankae.paper.rank_network import RankNetwork
from rankae.paper.settings import JointSettings
from rankae.recipe.joint_network import NetworkSettings, coded, joint_settings, leave_one_out_codes, train_network
from rankae.recipe.network_storage import smallest_form
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings
from rankae.recipe.start_choice import chosen_by_held_out_rows
from rankae.recipe.trusted import Trusted, chosen_by_trusted

_MOST_HELD_OUT = 2000  # more say no more about an epoch
_FEWEST_HELD_OUT = 20


def fit_network(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    given: NetworkSettings,
    training: Training,
    trusted: Trusted | None = None,
    embeddings: Sequence[WordEmbeddings | None] = (None,),
    **options: Any,
) -> RankNetwork:
    """Choose ridge and embeddings, solve for the start, and train; options are those of `train_joint`."""
    start_settings = RecipeSettings(ridge=given.ridge, noise_rounds=0, seed=given.seed)
    if trusted is None:
        chosen = chosen_by_held_out_rows(rows, labels, start_settings, embeddings, training)
    else:
        chosen = chosen_by_trusted(rows, labels, start_settings, trusted, embeddings, training)
    training.choices |= chosen.choices
    settings = joint_settings(given, rows, labels, training.choices)
    began = time.perf_counter()
    held, groups, alike = np.empty(0, dtype=np.int64), None, np.empty(0, dtype=np.int64)
    if settings.embedding == "two-path":  # a network with a random start trains on all rows and runs all epochs
        nearest, cosine = nearest_others(rows)
        groups, alike = groups_in_runs(nearest, cosine, labels), alike_groups(nearest, cosine)
        held = _held_out(labels, given.seed)
    folds = [held] if len(held) else []
    start = warm_start(rows, labels, settings.code_size, chosen.ridge, given.seed, folds, chosen.embeddings, groups)
    training.timed("warm start", began)
    began = time.perf_counter()
    network = train_network(rows, labels, start, settings, held, chosen.embeddings, **options)
    if len(held):
        ranked = network.top(coded(network, rows, leave_one_out_codes(start))[held], min(MOST_PLACES, labels.shape[1]))
        training.held_out = HeldOut(*ranked, labels[held], groups=alike[held])
        codes, frequencies = leave_one_out_codes(start)[held], np.bincount(rows.indices, minlength=rows.shape[1])
        form, training.choices["storage"] = smallest_form(network, rows[held], labels[held], codes, frequencies)
        network = form.of(_on_all_rows(network, rows, labels, start, settings, chosen.embeddings, options))
    training.timed("joint training", began)
    return network


def _on_all_rows(
    chosen: RankNetwork,
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    start: WarmStart,
    settings: JointSettings,
    embeddings: WordEmbeddings | None,
    options: dict[str, Any],
) -> RankNetwork:
    """The same training without held-out rows, for the epochs that they chose; its start has seen all rows already."""
    if chosen.best_epoch == 0:
        return chosen
    if options.get("checkpoint_dir") is not None:
        options = options | {"checkpoint_dir": Path(options["checkpoint_dir"]) / "all-rows"}
    settings = replace(settings, epochs=chosen.best_epoch)
    network = train_network(rows, labels, start, settings, np.empty(0, dtype=np.int64), embeddings, **options)
    network.history = chosen.history
    return network


def _held_out(labels: sp.csr_matrix, seed: int) -> np.ndarray:
    """Indices of the rows that choose the epoch, an eighth; none if that is too few."""
    n = labels.shape[0]
    count = min(n // 8, _MOST_HELD_OUT)
    if count < _FEWEST_HELD_OUT:
        return np.empty(0, dtype=np.int64)
    return split_runs(labels, count / n, seed)[1]
