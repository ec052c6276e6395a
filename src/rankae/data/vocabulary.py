"""Counts the n-grams of documents: the vocabulary and the count matrix in one pass over the texts.

Words are numbered once; a longer n-gram is a pair (shorter n-gram, next word) packed into one integer. Millions of
bigrams are thus counted by sorting integers, and only those that are kept become strings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import count

import numpy as np
import scipy.sparse as sp


def count_grams(
    documents: Iterable[list[str]],
    ngrams: tuple[int, int],
    min_df: int,
    max_features: int | None,
    min_df_longer: int | None = None,
) -> tuple[sp.csr_matrix, list[str]]:
    """Count the n-grams of tokenised documents.

    min_df, min_df_longer : fewest documents of a word, and of a longer n-gram; by default the same.

    Returns counts (CSR float32, documents x kept n-grams) and the n-grams, those of most documents first.
    """
    names, token, lengths = _numbered(documents)
    document = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    low, high = ngrams
    levels: list[tuple[sp.csr_matrix, list[str]]] = []
    counts, kept = _frequent(token, document, len(lengths), len(names), min_df)
    if not len(kept):  # so few texts that every word is rare
        counts, kept = _frequent(token, document, len(lengths), len(names), 1)
    token = _renumbered(token, kept, len(names))
    words = names = [names[i] for i in kept]
    if low == 1:
        levels.append((counts, names))
    gram = token  # at each position the n-gram that starts there, -1 where none that is kept does
    for n in range(2, high + 1):
        gram, pairs = _lengthened(gram, token, document, n, len(words))
        counts, kept = _frequent(gram, document, len(lengths), len(pairs), max(min_df, min_df_longer or min_df))
        gram = _renumbered(gram, kept, len(pairs))
        shorter, last = np.divmod(pairs[kept], max(1, len(words)))
        names = [f"{names[a]} {words[b]}" for a, b in zip(shorter.tolist(), last.tolist(), strict=True)]
        if n >= low:
            levels.append((counts, names))
    return _most_frequent(levels, max_features)


def _numbered(documents: Iterable[list[str]]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Distinct words, the word number of every token, and the number of tokens of every document."""
    number: defaultdict[str, int] = defaultdict(count().__next__)
    pieces = [np.fromiter(map(number.__getitem__, tokens), np.int32, len(tokens)) for tokens in documents]
    lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
    return list(number), np.concatenate(pieces) if pieces else np.empty(0, np.int32), lengths


def _frequent(
    gram: np.ndarray, document: np.ndarray, n_documents: int, n_grams: int, min_df: int
) -> tuple[sp.csr_matrix, np.ndarray]:
    """Counts of the n-grams in at least `min_df` documents, and which n-grams they are."""
    seen = gram[gram >= 0]
    # An n-gram that occurs fewer than min_df times cannot be in that many documents; this removes most bigrams.
    candidates = np.flatnonzero(np.bincount(seen, minlength=n_grams) >= min_df)
    gram = _renumbered(gram, candidates, n_grams)
    present = gram >= 0
    counts = _count_matrix(gram[present], document[present], n_documents, len(candidates))
    enough = np.bincount(counts.indices, minlength=len(candidates)) >= min_df
    return counts if enough.all() else counts[:, enough], candidates[enough]


def _count_matrix(gram: np.ndarray, document: np.ndarray, n_documents: int, n_grams: int) -> sp.csr_matrix:
    indptr = np.zeros(n_documents + 1, dtype=np.int64)  # tokens stand in the order of documents: already CSR
    np.cumsum(np.bincount(document, minlength=n_documents), out=indptr[1:])
    counts = sp.csr_matrix((np.ones(len(gram), np.float32), gram, indptr), shape=(n_documents, n_grams))
    counts.sum_duplicates()
    return counts


def _renumbered(gram: np.ndarray, kept: np.ndarray, n_grams: int) -> np.ndarray:
    """Numbers among the kept n-grams, -1 for the rest."""
    table = np.full(n_grams + 1, -1, dtype=np.int32)  # the last entry answers for -1
    table[kept] = np.arange(len(kept), dtype=np.int32)
    return table[gram]


def _lengthened(
    gram: np.ndarray, token: np.ndarray, document: np.ndarray, n: int, n_words: int
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the n-grams that start at each position, and the packed pair behind each number.

    Pairs with a dropped part are not formed: an n-gram occurs in no more documents than its rarest part.
    """
    ahead = n - 1
    longer = np.full(len(gram), -1, dtype=np.int64)
    if len(gram) <= ahead:
        return longer, np.empty(0, np.int64)
    first, last = gram[:-ahead], token[ahead:]
    fits = np.flatnonzero((first >= 0) & (last >= 0) & (document[:-ahead] == document[ahead:]))
    pairs, longer[fits] = np.unique(first[fits].astype(np.int64) * n_words + last[fits], return_inverse=True)
    return longer, pairs


def _most_frequent(
    levels: list[tuple[sp.csr_matrix, list[str]]], max_features: int | None
) -> tuple[sp.csr_matrix, list[str]]:
    counts = levels[0][0] if len(levels) == 1 else sp.hstack([c for c, _ in levels], format="csr")
    names = [name for _, level in levels for name in level]
    frequency = np.bincount(counts.indices, minlength=len(names))
    order = np.argsort(-frequency, kind="stable")[:max_features]
    counts = counts[:, order]
    counts.sort_indices()
    return counts, [names[i] for i in order.tolist()]
