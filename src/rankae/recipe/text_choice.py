"""Words, or words and pairs of words: the n-grams whose closed-form start ranks best.

That is told by leave-one-out scores, or by trusted rows: by noisy labels, noise learnt by heart looks like an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import scipy.sparse as sp

from rankae.data.text import TextFeatures
from rankae.recipe.trusted import Trusted, trusted_precision
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
    trusted: tuple[Sequence[str], sp.csr_matrix] | None = None,
) -> tuple[TextFeatures, sp.csr_matrix, str]:
    """The best of some n-grams: fitted features, the rows of `texts`, and one line that says why.

    A single candidate is taken as it is, without a look at its scores. `trusted` are further texts and their labels.
    """
    found = []
    for ngrams in candidates:
        text = TextFeatures(ngrams=ngrams, min_df=min_df, max_features=max_features or MOST_FEATURES)
        rows = text.fit_transform(texts)
        precision = 0.0
        if len(candidates) > 1 and trusted is None:
            precision = honest_precision(rows, labels, seed=seed)[1.0]
        elif len(candidates) > 1 and trusted is not None:
            precision = trusted_precision(rows, labels, Trusted(text.transform(trusted[0]), trusted[1]), seed=seed)
        found.append((precision, text, rows))
    _, text, rows = max(found, key=lambda candidate: candidate[0])
    shown = ", ".join(f"{tried.ngrams}: {precision:.1f}" for precision, tried, _ in found)
    by = "leave-one-out precision" if trusted is None else "precision on trusted rows"
    why = f"best {by} of {shown}" if len(found) > 1 else "as set"
    return text, rows, f"{text.ngrams} ({why}); {len(text.words)} features"
