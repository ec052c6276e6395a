"""Word embeddings by latent semantic analysis of the rows: words with similar contexts have similar vectors.

A word's vector consists of its entries in the leading right singular vectors of rows x words. It does not depend on
labels, so missing and wrong labels do no harm. The first singular vector, which reflects the frequency of words, is
left out, and each word's vector is scaled to length 1, so that rare words count as much as frequent ones.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rankae.data.word_embeddings import WordEmbeddings
from rankae.numerics.singular_vectors import leading_vectors

_DIRECTIONS = 100  # 200 and 300 were level with it on tmdb-plots


def lsa_embeddings(rows: sp.csr_matrix, seed: int = 0) -> WordEmbeddings:
    """LSA embeddings of the columns of rows x words."""
    vectors = leading_vectors(rows, _DIRECTIONS + 1, seed)[:, 1:]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return WordEmbeddings(vectors, f"{vectors.shape[1]} directions of the rows themselves")


def side_by_side(*sources: WordEmbeddings) -> WordEmbeddings:
    """The concatenation of several embeddings."""
    return WordEmbeddings(
        np.hstack([source.vectors for source in sources]), ", and ".join(source.source for source in sources)
    )
