"""The seed of a fit: one number, drawn once, whatever `random_state` is."""

from __future__ import annotations

import numpy as np


def drawn_seed(random_state: int | np.integer | np.random.RandomState | None) -> int:
    """The number itself, one that a RandomState draws, or one by chance.

    Drawn once per fit: a seed that differs between two reads would train on other rows than it holds out.
    """
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return int(random_state)
