"""The finished steps of a training run on disk, so that a killed run need not take them again."""

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
    folder : where the steps are noted, one folder each; None to note nothing.
    about : what the run is about (data and settings); a run about something else cannot go on from these steps.
    choices : what was chosen; what a step adds comes back with it.
    resume : go on from what the folder holds.
    """

    def __init__(
        self, folder: str | Path | None, about: dict[str, Any], choices: Choices, resume: bool = False
    ) -> None:
        self.folder, self.about, self.choices, self.resume = folder, about, choices, resume

    def take(self, name: str, step: Callable[[], State]) -> State:
        """The JSON settings and the arrays that a step gives, from disk if an earlier run finished it."""
        if self.folder is None:
            return step()
        folder = Path(self.folder) / name
        found = read_checkpoint(folder) if self.resume else None
        if found is not None:
            if found.facts["about"] != self.about:
                raise RankaeError(f"{folder} is from other data or settings; train without --resume, or restore them")
            self.choices |= found.facts["choices"]
            return found.facts["settings"], {n: value.numpy() for n, value in found.tensors.items()}
        before = dict(self.choices)
        settings, arrays = step()
        choices = {n: one for n, one in self.choices.items() if before.get(n) != one}
        tensors = {n: torch.from_numpy(np.ascontiguousarray(value)) for n, value in arrays.items()}
        write_checkpoint(folder, Checkpoint(tensors, {"about": self.about, "settings": settings, "choices": choices}))
        return settings, arrays
