"""How long to train the paper's network: schedules of several lengths, judged by rows that it has not seen.

The learning rate falls to 0 at the end of a schedule, so a short one is not the beginning of a long one: each is run by
itself, until a longer one is no better. On a few thousand texts sixteen epochs learn the rows by heart; where labels
are many and rare, four learn next to nothing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import Choice, choice
from rankae.data.near_duplicates import novel_rows
from rankae.data.splits import split_rows
from rankae.paper.joint import train_joint
from rankae.paper.rank_network import RankNetwork, Rows
from rankae.paper.settings import JointSettings
from rankae.progress import bar

LENGTHS = (4, 8, 16)
_HELD_OUT = 0.1
_FEWEST_HELD_OUT = 20  # fewer rows do not tell one length from another


def train_as_long_as_it_helps(
    rows: Rows,
    labels: sp.csr_matrix,
    settings: JointSettings,
    *,
    validation: tuple[Rows, sp.csr_matrix] | None = None,
    checkpoint_dir: str | Path | None = None,
    **options: Any,
) -> tuple[RankNetwork, Choice]:
    """As `train_joint`, but for as many epochs of `LENGTHS` as suit rows that the network has not seen.

    Rows with a near-duplicate among those learnt from do not count: they reward memory.

    Parameters
    ----------
    validation : rows by which lengths are compared after their last epochs; of the best one, the epoch that suits
        them is returned. Without, a tenth of the rows is held out for that, and then all rows are learnt from by a
        schedule of the length it favoured.
    checkpoint_dir : each length has a folder of its own in it, so that a killed run goes on where it was.
    options : further arguments of `train_joint`.

    Returns
    -------
    the network, and the choice of its number of epochs.
    """
    learn, check = (rows, labels), validation
    if check is None:
        if labels.shape[0] * _HELD_OUT < _FEWEST_HELD_OUT:
            network = train_joint(rows, labels, settings, checkpoint_dir=checkpoint_dir, **options)
            return network, choice("epochs", settings.epochs, "too few rows to try others")
        kept, held = split_rows(labels.shape[0], _HELD_OUT, settings.seed)
        learn, check = (taken(rows, kept), labels[kept]), (taken(rows, held), labels[held])
    check = _without_copies(check, learn[0])

    best: tuple[float, int, RankNetwork] | None = None
    tried: dict[int, float] = {}
    with bar("lengths of training", len(LENGTHS)) as progress:
        for length in LENGTHS:
            folder = None if checkpoint_dir is None else Path(checkpoint_dir) / f"epochs-{length}"
            own = replace(settings, epochs=length)
            network = train_joint(*learn, own, validation=check, checkpoint_dir=folder, **options)
            merit = float(np.mean([network.history[-1][f"P@{k}"] for k in (1, 3, 5)]))
            tried[length] = merit
            progress.advance(epochs=length, precision=merit)
            if best is not None and merit <= best[0]:
                break
            best = merit, length, network
    assert best is not None
    _, length, network = best
    reason = f"mean of P@1, P@3, P@5 on {check[1].shape[0]} rows not learnt from"
    if validation is None:
        final = replace(settings, epochs=length)
        network = train_joint(rows, labels, final, checkpoint_dir=checkpoint_dir, **options)
    return network, choice("epochs", length, reason, tried)


def taken(rows: Rows, index: np.ndarray) -> Rows:
    """Some of the rows, be they documents or a matrix."""
    return rows[index] if isinstance(rows, sp.csr_matrix) else [rows[i] for i in index]


def _without_copies(check: tuple[Rows, sp.csr_matrix], learnt: Rows) -> tuple[Rows, sp.csr_matrix]:
    rows, labels = check
    if not isinstance(rows, sp.csr_matrix):
        return check
    novel = novel_rows(rows, among=learnt)
    return rows[novel], labels[novel]
