"""The seed of a fit, drawn once from `random_state`."""

from __future__ import annotations

import numpy as np


def drawn_seed(random_state: int | np.integer | np.random.RandomState | None) -> int:
    """The integer itself, one drawn from a RandomState, or a random one for None.

    Drawn once per fit: with a seed that differs between two reads, training rows and held-out rows could overlap.
    """
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return int(random_state)
