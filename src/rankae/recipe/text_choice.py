"""Words, or words and pairs of words: the n-grams whose closed-form start ranks best by leave-one-out scores."""

from __future__ import annotations

from collections.abc import Sequence

import scipy.sparse as sp

from rankae.data.text import TextFeatures
from rankae.training.warm_start import honest_precision

# Bytes that the table of word vectors may take, 400 float32 a word: it bounds the vocabulary of n-grams.
_MOST_TABLE_BYTES = 2**29
MOST_FEATURES = _MOST_TABLE_BYTES // (4 * 400)


def choose_text(
    texts: Sequence[str],
    labels: sp.csr_matrix,
    candidates: Sequence[tuple[int, int]],
    min_df: int = 2,
    max_features: int | None = None,
    seed: int = 0,
) -> tuple[TextFeatures, sp.csr_matrix, str]:
    """The best of some n-grams: fitted features, the rows of `texts`, and one line that says why.

    A single candidate is taken as it is, without a look at its scores.
    """
    found = []
    for ngrams in candidates:
        text = TextFeatures(ngrams=ngrams, min_df=min_df, max_features=max_features or MOST_FEATURES)
        rows = text.fit_transform(texts)
        precision = honest_precision(rows, labels, seed=seed)[1.0] if len(candidates) > 1 else 0.0
        found.append((precision, text, rows))
    _, text, rows = max(found, key=lambda candidate: candidate[0])
    shown = ", ".join(f"{tried.ngrams}: {precision:.1f}" for precision, tried, _ in found)
    why = f"best leave-one-out precision of {shown}" if len(found) > 1 else "as set"
    return text, rows, f"{text.ngrams} ({why}); {len(text.words)} features"
