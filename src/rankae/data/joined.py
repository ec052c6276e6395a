"""Joins several inputs to one data set; of rows with the same text, the later ones replace the earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from rankae.data.dataset import Dataset
from rankae.errors import DataError


def joined(first: Dataset, others: Sequence[Dataset]) -> tuple[Dataset, int]:
    """All rows with a common set of labels, and the number of rows that were replaced by later ones."""
    result, replaced = first, 0
    for other in others:
        if (result.texts is None) != (other.texts is None):
            raise DataError(f"{first.name} and {other.name} must both be texts, or both be features")
        if (result.label_names is None) != (other.label_names is None):
            raise DataError(f"{first.name} and {other.name} must both name their labels, or both number them")
        if result.texts is not None and other.texts is not None:
            later = set(other.texts)
            keep = np.array([text not in later for text in result.texts], dtype=bool)
            replaced += int((~keep).sum())
            result = result.take(np.flatnonzero(keep))
        result = _stacked(result, other)
    return result, replaced


def _stacked(first: Dataset, other: Dataset) -> Dataset:
    known = first.label_names if first.label_names is not None else range(first.n_labels)
    aligned = other.aligned_to(known)
    width = aligned.n_labels
    first_labels = sp.csr_matrix(
        (first.labels.data, first.labels.indices, first.labels.indptr), shape=(len(first), width)
    )
    labels = sp.vstack([first_labels, aligned.labels], format="csr")
    names = aligned.label_names if first.label_names is not None else None
    texts = features = None
    if first.texts is not None and other.texts is not None:
        texts = [*first.texts, *other.texts]
    else:
        columns = max(first.n_features, other.n_features)
        blocks = [first.with_features(columns).features, other.with_features(columns).features]
        features = sp.vstack(blocks, format="csr")
    return replace(first, labels=labels, texts=texts, features=features, label_names=names, carried={})
