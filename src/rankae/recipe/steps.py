"""The finished steps of a training run on disk, so that a killed run need not take them again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rankae.errors import RankaeError
from rankae.model_file.checkpoint import Checkpoint, read_checkpoint, write_checkpoint

State = tuple[dict[str, Any], dict[str, np.ndarray]]


class Steps:
    """
    Parameters
    ----------
    folder : where the steps are noted, one folder each; None to note nothing.
    about : what the run is about (data and settings); a run about something else cannot go on from these steps.
    lines : the lines that tell choices; those that a step adds come back with it.
    resume : go on from what the folder holds.
    """

    def __init__(
        self, folder: str | Path | None, about: dict[str, Any], lines: dict[str, str], resume: bool = False
    ) -> None:
        self.folder, self.about, self.lines, self.resume = folder, about, lines, resume

    def take(self, name: str, step: Callable[[], State]) -> State:
        """The JSON settings and the arrays that a step gives, from disk if an earlier run finished it."""
        if self.folder is None:
            return step()
        folder = Path(self.folder) / name
        found = read_checkpoint(folder) if self.resume else None
        if found is not None:
            if found.facts["about"] != self.about:
                raise RankaeError(f"{folder} is from other data or settings; train without --resume, or restore them")
            self.lines |= found.facts["lines"]
            return found.facts["settings"], {n: value.numpy() for n, value in found.tensors.items()}
        before = dict(self.lines)
        settings, arrays = step()
        lines = {n: line for n, line in self.lines.items() if before.get(n) != line}
        tensors = {n: torch.from_numpy(np.ascontiguousarray(value)) for n, value in arrays.items()}
        write_checkpoint(folder, Checkpoint(tensors, {"about": self.about, "settings": settings, "lines": lines}))
        return settings, arrays
