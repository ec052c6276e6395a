"""Checkpoints of finished training steps, from which a killed run resumes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rankae.base.choices import Choices
from rankae.errors import RankaeError
from rankae.model_file.checkpoint import Checkpoint, read_checkpoint, write_checkpoint

State = tuple[dict[str, Any], dict[str, np.ndarray]]


class Steps:
    """
    Parameters
    ----------
    folder : holds one folder for each step; None writes nothing.
    about : data and settings of the run; a run with others cannot resume from these steps.
    choices : the automatic choices; those that a step makes are stored and restored with it.
    resume : use the steps that the folder holds.
    """

    def __init__(
        self, folder: str | Path | None, about: dict[str, Any], choices: Choices, resume: bool = False
    ) -> None:
        self.folder, self.about, self.choices, self.resume = folder, about, choices, resume

    def take(self, name: str, step: Callable[[], State]) -> State:
        """The JSON values and arrays that a step returns, from disk if an earlier run finished it."""
        if self.folder is None:
            return step()
        folder = Path(self.folder) / name
        checkpoint = read_checkpoint(folder) if self.resume else None
        if checkpoint is not None:
            if checkpoint.facts["about"] != self.about:
                raise RankaeError(f"{folder} is from other data or settings; train without --resume, or restore them")
            self.choices |= checkpoint.facts["choices"]
            return checkpoint.facts["settings"], {n: value.numpy() for n, value in checkpoint.tensors.items()}
        before = dict(self.choices)
        settings, arrays = step()
        choices = {n: one for n, one in self.choices.items() if before.get(n) != one}
        tensors = {n: torch.from_numpy(np.ascontiguousarray(value)) for n, value in arrays.items()}
        write_checkpoint(folder, Checkpoint(tensors, {"about": self.about, "settings": settings, "choices": choices}))
        return settings, arrays
