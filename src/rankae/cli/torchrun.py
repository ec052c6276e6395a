"""`torchrun -m rankae train ...`: several processes train the paper's network together, and the first one saves it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def rank() -> int:
    """The rank of this process among those that torchrun has started; 0 if it is alone."""
    return int(os.environ.get("RANK", 0)) if int(os.environ.get("WORLD_SIZE", 1)) > 1 else 0


def started_together() -> bool:
    return int(os.environ.get("WORLD_SIZE", 1)) > 1 and "RANK" in os.environ


def started_again() -> bool:
    """Whether torchrun has restarted the processes after one of them died."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0)) > 0


def place_of_rank(model: Path) -> Path:
    """The model's path for the first process, and a path beside it for the checkpoints of each other process."""
    return model if rank() == 0 else model.with_name(f"{model.name}.rank-{rank()}")


@contextmanager
def process_group() -> Iterator[bool]:
    """Join the other processes, if there are any; yields whether this process is alone."""
    if not started_together():
        yield True
        return
    import torch.distributed as dist

    from rankae.paper import distributed

    distributed.join()
    try:
        yield False
    finally:
        dist.destroy_process_group()
