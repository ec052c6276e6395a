"""The single Rank-AE network: sizes from the data, a closed-form start, and joint training that does not fall from it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.data.word_embeddings import WordEmbeddings
from rankae.numerics.row_search import is_dense
from rankae.paper.closed_form import WarmStart
from rankae.paper.closed_start import started_network
from rankae.paper.joint import train_joint
from rankae.paper.rank_network import RankNetwork
from rankae.paper.settings import JointSettings

# What preset `network` adds to the paper's settings; None is left to the data (`network_settings`).
NETWORK: dict[str, Any] = {
    "merged": True,
    "loss": "smooth",
    "margin": 0.0,
    "balance": 1.0,
    "direct": 1.0,
    "decay": 0.0,
    "learning_rate": 3e-3,
    "reduction": 16,
    "encoder_rate": 0.1,
    "batch": 256,
}
_MANY_LABELS = 1500  # beyond it, a step looks at some of them
_SEEN_LABELS = 1000  # by a step, where labels are many


def network_settings(given: dict[str, Any], rows: sp.csr_matrix, labels: sp.csr_matrix) -> tuple[JointSettings, dict[str, str]]:
    """The settings that the data ask for where `given` has none, and a line for each."""
    n, L = labels.shape
    words, row_length = rows.shape[1], rows.nnz / max(1, n)
    said: dict[str, str] = {}

    def choose(name: str, value: Any, why: str) -> Any:
        said[name] = f"{value} ({why})" if given.get(name) is None else f"{given[name]} (as set)"
        return value if given.get(name) is None else given[name]

    size = f"{n} rows, {words} features, {L} labels"
    dense, simple = is_dense(rows), n > 10 * words
    made = {
        "embedding": choose("embedding", "relu-path" if simple else "two-path", size),
        "residual": 0 if simple else 300,
        "decoder_rate": 1.0 if simple else 4.0,
        "code_size": int(min(choose("code_size", min(400, L, n), size), L, n)),
        "word_size": choose("word_size", 1000 if simple else 200, size),
        "epochs": choose("epochs", 12 if simple else 10 if L <= _MANY_LABELS else 6, size),
        "word_rate": choose("word_rate", 1.0 if simple else 0.2, "words that many rows have can learn fast"),
        "word_dropout": choose("word_dropout", 0.1 if dense else 0.5 if row_length > 25 else 0.3, "by the length of rows"),
        "shortlist": choose("shortlist", _SEEN_LABELS if L > _MANY_LABELS else 0, f"{L} labels"),
        "batch": choose("batch", NETWORK["batch"] if n >= 4000 else max(16, n // 16), f"{n} rows"),
    }
    return JointSettings(**{**NETWORK, **{k: v for k, v in given.items() if v is not None}, **made}), said


def train_network(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    start: WarmStart,
    settings: JointSettings,
    embeddings: WordEmbeddings | None = None,
    **options: Any,
) -> RankNetwork:
    """Train from the closed form, on rows that `start` was solved on; options are those of `train_joint`."""
    settings = replace(settings, code_size=start.label_table.shape[1])
    network = started_network(start, settings, embeddings)
    return train_joint(rows, labels, settings, network=network, codes=start.loo_codes if settings.embedding == "two-path" else None, **options)
