"""The losses of the paper, one file each."""

from rankae.paper.losses.bce import bce_loss
from rankae.paper.losses.common_embedding import common_embedding_loss
from rankae.paper.losses.ranking import ranking_loss

__all__ = ["bce_loss", "common_embedding_loss", "ranking_loss"]
