"""What words mean, as the rows themselves tell it: words that occur with the same words point the same way.

The leading right singular vectors of rows x words (latent semantic analysis) give every word a vector. No label has a
say in them, so missing and wrong labels do not blur them. The first singular vector says how frequent a word is, not
what it means, and is left out; of the others each word keeps the direction, for a rare word means as much as any.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.data.word_embeddings import WordEmbeddings
from rankae.numerics.singular_vectors import leading_vectors

_DIRECTIONS = 100  # 200 and 300 were level with it on tmdb-plots


def lsa_embeddings(rows: sp.csr_matrix, seed: int = 0) -> WordEmbeddings:
    """The embeddings that rows x words tell; of no dimension where the rows differ in none."""
    vectors = leading_vectors(rows, _DIRECTIONS + 1, seed)[:, 1:]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return WordEmbeddings(vectors, f"{vectors.shape[1]} directions of the rows themselves")


def side_by_side(*sources: WordEmbeddings) -> WordEmbeddings:
    """All of them: words are alike as far as any says so."""
    return WordEmbeddings(np.hstack([own.vectors for own in sources]), ", and ".join(own.source for own in sources))
