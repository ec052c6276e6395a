"""The paper's network: F (dual attention), E and D, its losses, joint training, and compiled kernels."""

from rankae.numerics.top_k import top_k
from rankae.paper.architecture import Architecture
from rankae.paper.rank_network import RankNetwork

__all__ = ["Architecture", "RankNetwork", "top_k"]
