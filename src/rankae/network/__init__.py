"""The paper's network: F (dual attention), E and D, and the kernels they run on."""

from rankae.network.architecture import Architecture
from rankae.network.rank_network import RankNetwork
from rankae.network.top_k import top_k

__all__ = ["Architecture", "RankNetwork", "top_k"]
