"""One process of several: `torchrun ... ranks.py FOLDER [LABEL_SHARDS]` trains, and the first one saves the network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import torch.distributed as dist

from rankae.data import make_dataset
from rankae.errors import OtherRank
from rankae.paper import distributed
from rankae.paper.joint import train_joint
from rankae.paper.settings import JointSettings


def data():
    train, test = make_dataset(rows=203, labels=37, features=300, test_rows=20, text=False)
    return train.features, train.labels, test.features


def settings(epochs: int = 3) -> JointSettings:
    return JointSettings(code_size=12, word_size=16, epochs=epochs, batch=32, threads=1, tied=True, direct=0.3)


if __name__ == "__main__":
    folder, shards = Path(sys.argv[1]), sys.argv[2]
    os.environ[distributed.LABEL_SHARDS] = shards
    rows, labels, test = data()
    distributed.join()
    mark, dying = folder / "died", len(sys.argv) > 3
    if dying:  # the second process dies once, after its first epoch
        original = distributed.ShardedTraining.epoch_over

        def epoch_over(self, *arguments):
            if self.epoch == 1 and dist.get_rank() == 1 and not mark.exists():
                mark.touch()
                os._exit(9)
            return original(self, *arguments)

        distributed.ShardedTraining.epoch_over = epoch_over
    try:
        network = train_joint(rows, labels, settings(), checkpoint_dir=folder / "checkpoint", resume=mark.exists())
        columns, scores = network.top(test, 5)
        np.savez(folder / "found.npz", columns=columns, scores=scores, epochs=len(network.history))
    except OtherRank:
        pass
    dist.destroy_process_group()
