"""`torchrun -m rankae train ...`: several processes train the paper's network together, and the first one saves it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rankae.errors import OtherRank

__all__ = ["OtherRank", "place_of_rank", "process_group", "rank", "started_again", "started_together"]


def rank() -> int:
    """Of this process among those that torchrun has started; 0 if it is alone."""
    return int(os.environ.get("RANK", 0)) if int(os.environ.get("WORLD_SIZE", 1)) > 1 else 0


def started_together() -> bool:
    return int(os.environ.get("WORLD_SIZE", 1)) > 1 and "RANK" in os.environ


def started_again() -> bool:
    """Whether torchrun has started the processes anew after one of them had died."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0)) > 0


def place_of_rank(model: Path) -> Path:
    """The first process has the model's own place; the others note their progress beside."""
    return model if rank() == 0 else model.with_name(f"{model.name}.rank-{rank()}")


@contextmanager
def process_group() -> Iterator[bool]:
    """Join the others, if there are any; gives whether there are none."""
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
