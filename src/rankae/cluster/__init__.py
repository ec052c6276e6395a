"""Work in shards on a Dask cluster: on this machine, or on any hosts that share a folder.

    connected       a client of "local:4", or of a scheduler's address
    ClusterWorkers  workers for `rankae.numerics.shards.sharing`: inputs and results are files, which are the checkpoint
    predicted       rows in batches, predicted in order

Nothing large crosses the scheduler. A task gets paths, a range and settings; it maps its inputs, and writes its result
to a temporary file that is synced and renamed. Every task can run twice, also at the same time, with the same result.
"""

from rankae.cluster.connection import connected
from rankae.cluster.prediction import predicted
from rankae.cluster.remote_workers import ClusterWorkers

__all__ = ["ClusterWorkers", "connected", "predicted"]
