"""Work in shards on a Dask cluster: on this machine, or on any hosts that share a folder.

    connected       a client of "local:4", or of a scheduler's address
    ClusterWorkers  what `rankae.numerics.shards.sharing` takes: inputs and results are files, and the files are the
                    checkpoint
    predicted       rows in batches, predicted in order

Nothing large crosses the scheduler. A task is told paths, a range and settings; it maps its inputs, and writes its
result beside, synced, then renamed. Every task can be run twice, at the same time or after the other, to the same file.
"""

from rankae.cluster.connection import connected
from rankae.cluster.prediction import predicted
from rankae.cluster.remote_workers import ClusterWorkers

__all__ = ["ClusterWorkers", "connected", "predicted"]
