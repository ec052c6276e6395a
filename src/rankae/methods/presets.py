"""Presets: named settings of RankAE, and files of them.

`paper` is the paper's network with some departures, each one switch: D tied to E (`tied`), sum pooling (`pooling`), one
second moment for all words (`word_optimizer`), linear E and D (`activation`, `scores`), and, where held-out rows favour
it, a small ranking loss on F's scores (`direct`). `paper-strict` is the paper to the letter: they are off. `default` is
our recipe, `fast` the recipe at low effort, `network` the single network at its best.
A preset file is a JSON object of RankAE parameters; "preset" in it names the preset that it starts from.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rankae.errors import RankaeError, nearest
from rankae.paper.schedule import LENGTHS

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "tied": True,
        "start": "cooccurrence",
        "word_optimizer": "flat",
        "word_deviation": 0.01,
        "given_deviation": 0.03,
        "learning_rate": 3e-3,
        "word_rate": 3.0,
        "code_rate": 0.3,
        "balance": 0.2,
        "direct": 0.1,
        "temperature": 12.0,
        "decay": 0.0,
        "word_decay": 1.0,
    },
    "paper-strict": {"pooling": "mean", "activation": "relu", "scores": "sigmoid", "decay": 0.0},
    "network": {},
    "default": {},
    "fast": {"effort": "low", "ridge": 1.0, "network": 0},
}
# Settings of the single-network presets that held-out rows choose unless the user sets them, and the values to try (see
# `rankae.paper.choices`).
OPEN: dict[str, dict[str, tuple[Any, ...]]] = {
    "paper": {
        "temperature": (12.0, 4.0),  # many labels a row: softer
        "hidden": (0, 500),
        "learning_rate": (3e-3, 1e-2),
        "balance": (0.2, 1.0),
        "word_decay": (1.0, 0.3, 0.1),
        "epochs": LENGTHS,
        "word_dropout": (0.0, 0.3),
        "direct": (0.1, 0.3, 1.0),
    },
    "paper-strict": {
        "learning_rate": (1e-2, 3e-3),
        "balance": (1.0, 10.0, 0.1),
        "margin": (1.0, 0.5, 0.2),
        "word_deviation": (None, 1.0),
        "epochs": LENGTHS,
    },
}
# The same for BCE-AE: binary cross-entropy needs larger scores and weights, and has no temperature.
OPEN_WITH_BCE: dict[str, tuple[Any, ...]] = {
    "hidden": (0, 500),
    "learning_rate": (1e-2, 3e-3),
    "balance": (1.0, 5.0),
    "word_decay": (0.1, 0.3, 0.03),
    "epochs": LENGTHS,
    "word_dropout": (0.0, 0.3),
    "direct": (1.0, 0.3, 3.0),
}
WITH_BCE: dict[str, Any] = {
    name: OPEN_WITH_BCE[name][0] for name in ("learning_rate", "balance", "word_decay", "direct")
}
# Other points that the search of `OPEN` may start from: values that gain together.
STARTS: dict[str, dict[str, dict[str, Any]]] = {
    "paper": {
        # Where a fast E and D leave the labels' singular vectors for worse ones: what ranks is the direct term.
        "codes held": {"encoder_rate": 0.01, "direct": 0.3},
    }
}
# Where the search of `OPEN` starts if there are many rows per feature, as on Delicious: nothing is memorised
# there, and these values gain together, on all rows, but not one by one on the sample that the search trains on.
WITH_MANY_ROWS: dict[str, dict[str, Any]] = {
    "paper": {
        "encoder_rate": 0.1,
        "temperature": 4.0,
        "hidden": 500,
        "learning_rate": 1e-2,
        "balance": 1.0,
        "word_decay": 0.1,
        "direct": 0.3,
    }
}
NETWORK = "network"  # the preset that is one network and starts in closed form
STRICT = "paper-strict"
JOINT = ("paper", STRICT)  # presets that are one network, trained jointly
_MOST_BYTES = 2**20


def preset_settings(preset: str) -> tuple[str, dict[str, Any]]:
    """The name of the preset that a name or a file stands for, and the parameters that come with it."""
    if preset in PRESETS:
        return preset, dict(PRESETS[preset])
    path = Path(preset)
    if not path.is_file():
        raise RankaeError(
            f"there is no preset {preset!r}; {nearest(preset, PRESETS)}choose {', '.join(PRESETS)} "
            "or give a JSON file of settings"
        )
    if path.stat().st_size > _MOST_BYTES:
        raise RankaeError(f"{path}: a preset file is a small JSON object, but this one is over 1 MiB")
    try:
        settings = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_no_key_twice)
    except RecursionError:
        raise RankaeError(f"{path}: a preset file is one flat JSON object, but this one is nested deeply") from None
    except ValueError as error:  # of the encoding, of JSON, or of a number of thousands of digits
        raise RankaeError(f"{path}: not a JSON preset file ({error}); see docs/your-own-data.md") from None
    if not isinstance(settings, dict):
        raise RankaeError(f"{path}: a preset file holds one JSON object of settings")
    base = settings.pop("preset", "default")
    if not isinstance(base, str) or base not in PRESETS:
        raise RankaeError(f"{path}: there is no preset {base!r}; choose {', '.join(PRESETS)}")
    return base, PRESETS[base] | settings


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    settings = dict(pairs)
    if len(settings) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"it sets {next(name for name in names if names.count(name) > 1)} twice")
    return settings
