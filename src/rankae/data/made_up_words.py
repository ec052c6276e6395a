"""Generates any number of distinct, pronounceable words."""

from __future__ import annotations

import numpy as np

_SYLLABLES = np.array([c + v for c in "bcdfghjklmnprstvwz" for v in ("a", "e", "i", "o", "u", "ai", "or", "el")])


def made_up_words(n: int, seed: int = 0) -> list[str]:
    """`n` distinct words, the early ones short, drawn in the order that `seed` fixes."""
    rng = np.random.default_rng(seed)
    words: list[str] = []
    syllables = 2
    while len(words) < n:
        size = len(_SYLLABLES) ** syllables
        share = min(n - len(words), size // 2 if syllables < 4 else n - len(words))
        numbers = rng.choice(size, share, replace=False) if size < 1 << 24 else _distinct(rng, size, share)
        digits = [_SYLLABLES[numbers // len(_SYLLABLES) ** i % len(_SYLLABLES)] for i in range(syllables)]
        words.extend("".join(parts) for parts in zip(*(d.tolist() for d in digits), strict=True))
        syllables += 1
    return words


def _distinct(rng: np.random.Generator, size: int, n: int) -> np.ndarray:
    numbers = np.unique(rng.integers(0, size, 2 * n + 16))
    return rng.permutation(numbers)[:n]
