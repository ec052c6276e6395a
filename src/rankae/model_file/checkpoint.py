"""Checkpoints: the state of a training run on disk, from which it resumes as if it had not been interrupted.

A checkpoint is one safetensors file: parameters, optimiser state and, as JSON in its header, the epoch, the history and
the settings. It is replaced atomically.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from rankae.errors import ModelFileError
from rankae.model_file.replace_file import replacing_file

NAME = "checkpoint.safetensors"


@dataclass
class Checkpoint:
    """tensors : by name; facts : JSON values."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]


def write_checkpoint(folder: str | Path, checkpoint: Checkpoint) -> None:
    folder = Path(folder)
    tensors = {name: value.detach().cpu().contiguous() for name, value in checkpoint.tensors.items()}
    try:
        with replacing_file(folder / NAME) as beside:
            save_file(tensors, beside, metadata={"facts": json.dumps(checkpoint.facts)})
    except (OSError, SafetensorError) as error:  # a full disk comes as the library's own error
        why = error.strerror if isinstance(error, OSError) else str(error).rpartition("I/O error: ")[2]
        raise ModelFileError(
            f"the checkpoint in {folder} cannot be written ({why}); the one before it is kept"
        ) from error


def read_checkpoint(folder: str | Path) -> Checkpoint | None:
    """The checkpoint in a folder, or None if there is none yet."""
    path = Path(folder) / NAME
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            facts = json.loads(file.metadata()["facts"])
            return Checkpoint({name: file.get_tensor(name) for name in file.keys()}, facts)  # noqa: SIM118
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        raise ModelFileError(f"{path} is not a readable checkpoint; delete it to train from the start") from error


def optimizer_tensors(name: str, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's state as tensors named `name.parameter.key`."""
    states = optimizer.state_dict()["state"]
    return {f"{name}.{i}.{key}": value for i, state in states.items() for key, value in state.items()}


def restore_optimizer(name: str, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith(f"{name}."):
            _, i, field = key.split(".")
            state.setdefault(int(i), {})[field] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
