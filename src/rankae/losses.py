"""The losses of the paper, as a public name; they live in `rankae.paper.losses`."""

from rankae.paper.losses import bce_loss, common_embedding_loss, ranking_loss

__all__ = ["bce_loss", "common_embedding_loss", "ranking_loss"]
