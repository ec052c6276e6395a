"""A linear layer that reads CSR rows without making them dense."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag


class SparseLinear(nn.Module):
    """W x + b, with W and b zero at the start.

    sparse_gradients : a training step then touches only the rows of W whose features occur in the batch; the optimiser
        must be one that reads sparse gradients.
    """

    def __init__(self, inputs: int, outputs: int, sparse_gradients: bool = False) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.sparse_gradients = sparse_gradients

    def forward(self, rows: sp.csr_matrix) -> Tensor:
        device = self.table.device
        summed = embedding_bag(
            torch.from_numpy(rows.indices.astype(np.int64)).to(device),
            self.table,
            torch.from_numpy(rows.indptr.astype(np.int64)).to(device),
            mode="sum",
            per_sample_weights=torch.from_numpy(rows.data.astype(np.float32)).to(device),
            include_last_offset=True,
            sparse=self.sparse_gradients,
        )
        return summed + self.bias
