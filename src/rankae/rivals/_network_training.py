"""The training loop of the rival networks: epochs, early stopping on held-out rows, best weights kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from rankae.metrics import evaluate
from rankae.progress import bar

HELD_OUT = 0.1
FEWEST_HELD_OUT = 10  # fewer rows cannot decide when to stop


def pick_device(device: str) -> torch.device:
    """The device by its name; "auto" is the GPU if there is one."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(device)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch (initial weights, dropout) within the block; the caller's random state is restored."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def hold_out(n_rows: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers to train on and to hold out; nothing is held out of very few rows."""
    order = random.permutation(n_rows)
    held = int(n_rows * HELD_OUT)
    return (order[held:], order[:held]) if held >= FEWEST_HELD_OUT else (order, order[:0])


def shuffled_batches(rows: np.ndarray, size: int, random: np.random.Generator) -> Iterator[np.ndarray]:
    """Batches of rows in random order."""
    order = random.permutation(rows)
    for start in range(0, len(order), size):
        yield order[start : start + size]


def batches_of_like_length(
    rows: np.ndarray, lengths: np.ndarray, size: int, random: np.random.Generator
) -> list[np.ndarray]:
    """Batches of rows of similar length, so that padding is short; the batches change with every call."""
    # Lengths are blurred by a random tenth, so that batches differ.
    blurred = lengths[rows] * random.uniform(0.9, 1.1, len(rows)) + random.random(len(rows))
    order = rows[np.argsort(blurred, kind="stable")]
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    random.shuffle(batches)
    return batches


def train_network(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Callable[[], Iterable[np.ndarray]],
    loss_of: Callable[[np.ndarray], Tensor],
    held_out_score: Callable[[], float] | None,
    *,
    epochs: int,
    patience: int,
    description: str,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
) -> int:
    """Train until held-out rows have not scored better for `patience` epochs; keep the best weights.

    Returns the epoch (counted from 1) whose weights were kept.
    """
    best_score, best_epoch, best = -np.inf, epochs, None
    with bar(description, total=epochs) as progress:
        for epoch in range(1, epochs + 1):
            network.train()
            losses = [_step(optimizer, loss_of(rows)) for rows in batches()]
            if scheduler is not None:
                scheduler.step()
            shown = {"loss": float(torch.stack(losses).mean())}
            if held_out_score is not None:
                score = held_out_score()
                shown["held-out nDCG"] = score
                if score > best_score:
                    best_score, best_epoch = score, epoch
                    best = {name: value.detach().clone() for name, value in network.state_dict().items()}
            progress.advance(1, epoch=epoch, **shown)
            if held_out_score is not None and epoch - best_epoch >= patience:
                break
    if best is not None:
        network.load_state_dict(best)
    network.eval()
    return best_epoch


def _step(optimizer: torch.optim.Optimizer, loss: Tensor) -> Tensor:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def ndcg(columns: np.ndarray, labels: sp.csr_matrix) -> float:
    """nDCG over all columns, in percent."""
    places = columns.shape[1]
    return float(evaluate(columns, labels, k=[places])[f"nDCG@{places}"])


def weights_to_arrays(network: nn.Module) -> dict[str, np.ndarray]:
    """Weights for a model file."""
    return {f"weights.{name}": value.detach().cpu().numpy() for name, value in network.state_dict().items()}


def weights_from_arrays(network: nn.Module, arrays: dict[str, np.ndarray]) -> None:
    """Put weights from a model file into a network of the same shape."""
    # Copied, because the arrays are mapped from disk, read-only.
    weights = {
        name.removeprefix("weights."): torch.from_numpy(value.copy())
        for name, value in arrays.items()
        if name.startswith("weights.")
    }
    network.load_state_dict(weights)
    network.eval()
