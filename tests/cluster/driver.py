"""A driver that may be killed: `python driver.py DATA FOLDER [ADDRESS]` trains on two workers, or on those of a
scheduler, and goes on from FOLDER."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rankae import RankAE, load_dataset
from rankae.cluster import ClusterWorkers, connected
from rankae.numerics.shards import sharing

if __name__ == "__main__":
    folder = Path(sys.argv[2])
    with connected(sys.argv[3] if len(sys.argv) > 3 else "local:2") as client:
        workers = ClusterWorkers(client, folder / "cluster", least=0)
        with sharing(workers):
            model = RankAE("fast", tuning=False, threads=1, checkpoint=folder / "steps", resume=True)
            model.fit_dataset(load_dataset(sys.argv[1]))
        model.set_params(checkpoint=None, resume=False).save(folder / "model")
    print(json.dumps(workers.summary()))
