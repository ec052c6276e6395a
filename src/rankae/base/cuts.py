"""Cuts: the probability from which a label is predicted. Chosen on held-out rows and stored with the model.

A label passes if its probability is at least the overall cut, or the label's own cut if there is one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankae.errors import ModelFileError


@dataclass(frozen=True)
class Cuts:
    """
    Attributes
    ----------
    aim : what the cut was chosen for, such as "precision=0.9".
    overall : the cut of labels that have none of their own.
    label_cuts : float32, a cut for each label; None if all share the overall one.
    best_always : whether the best label of a row is given even below the cut.
    figures : measures on held-out rows, and the guarantee in words.
    """

    aim: str
    overall: float
    label_cuts: np.ndarray | None = None
    best_always: bool = False
    figures: dict[str, Any] = field(default_factory=dict)

    def selected(self, columns: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        """Which entries pass; both arrays rows x k, columns padded with -1."""
        # Probabilities are float32, and one that is equal to the cut must pass.
        least = np.float32(self.overall) if self.label_cuts is None else self.label_cuts[columns]
        passes = (probabilities >= least) & (columns >= 0)
        if self.best_always and columns.shape[-1]:
            passes[..., 0] = columns[..., 0] >= 0
        return passes

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        settings = {"aim": self.aim, "overall": self.overall, "best_always": self.best_always, "told": self.figures}
        return settings, {} if self.label_cuts is None else {"own": self.label_cuts.astype(np.float32)}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray], labels: int) -> Cuts:
        label_cuts = arrays.get("own")
        if label_cuts is not None and (label_cuts.shape != (labels,) or np.isnan(label_cuts).any()):
            raise ModelFileError("the model's cuts do not fit its labels; run `rankae threshold` again")
        overall = float(settings["overall"])
        return cls(str(settings["aim"]), overall, label_cuts, bool(settings["best_always"]), dict(settings["told"]))
