"""How fast the network's hot loops are, beside plain torch (or scipy) and beside what the machine can do.

    python benchmarks/kernels.py [--threads 2] [--repeats 7] [--json]

Every pair is run interleaved, and medians are compared: attention (gather, attend, pool), the ranking loss, the
optimiser's rows, the sparse product, and the choice of the best labels. Two more columns say how near a kernel comes to
the machine: its share of the rate of a large matrix product, and of the rate at which memory is copied, both measured
in the same run. Prints tables, or with --json one JSON object; writes no file.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from rankae.numerics.sparse_product import sparse_product
from rankae.numerics.top_k import top_k
from rankae.paper.bags import Bags
from rankae.paper.kernels import fused, reference, take_rows
from rankae.paper.losses import ranking_loss
from rankae.paper.losses.fused_ranking import fused_ranking_loss
from rankae.paper.optimizer import RowAdam

ROWS, WORDS, LENGTH, C, SQUEEZED = 256, 20_000, 234, 100, 25  # 60k tokens
LABELS, CODE, POSITIVES = 36_000, 200, 6


@dataclass
class Line:
    """One kernel's medians; work is what must be done at least, in floating point operations and bytes."""

    name: str
    plain_ms: float
    ours_ms: float
    flops: float
    bytes: float

    def shown(self, gemm: float, bandwidth: float) -> dict[str, float | str]:
        seconds = self.ours_ms / 1e3
        return {
            "kernel": self.name,
            "plain ms": round(self.plain_ms, 2),
            "ours ms": round(self.ours_ms, 2),
            "ratio": round(self.ours_ms / self.plain_ms, 3),
            "of GEMM %": round(100 * self.flops / seconds / gemm, 1),
            "of memory %": round(100 * self.bytes / seconds / bandwidth, 1),
        }


def interleaved(functions: list[Callable[[], object]], repeats: int) -> list[float]:
    """Median milliseconds of each function; they take turns, so that a busy moment hits them alike."""
    for function in functions:
        function()
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(repeats):
        for function, record in zip(functions, times, strict=True):
            began = time.perf_counter()
            function()
            record.append(1e3 * (time.perf_counter() - began))
    return [statistics.median(record) for record in times]


def zipf_rows(random: np.random.Generator) -> sp.csr_matrix:
    """Rows of distinct words whose frequencies fall as in text."""
    chance = 1 / np.arange(1, WORDS + 1)
    chance /= chance.sum()
    words = np.concatenate([np.sort(random.choice(WORDS, LENGTH, replace=False, p=chance)) for _ in range(ROWS)])
    weights = random.random(ROWS * LENGTH, dtype=np.float32) * np.float32(0.2)
    return sp.csr_matrix((weights, words, np.arange(ROWS + 1) * LENGTH), shape=(ROWS, WORDS))


def attention(repeats: int) -> Line:
    bags = Bags.from_csr(zipf_rows(np.random.default_rng(0)))
    words, tokens = len(bags.distinct), len(bags.words)
    parameters = [torch.randn(s) * 0.3 for s in ((words, C), (SQUEEZED, C), (C, SQUEEZED))]

    def both_ways(kernels: object) -> Callable[[], None]:
        def run() -> None:
            inputs = [p.detach().requires_grad_() for p in parameters]
            kernels.dual_attention(*inputs, bags).sum().backward()  # type: ignore[attr-defined]

        return run

    plain, ours = interleaved([both_ways(reference), both_ways(fused)], repeats)
    # A sigmoid is about 12 operations; gates are two thin products a word, three times (forward, two gradients).
    flops = tokens * C * (16 + 22) + words * C * SQUEEZED * 4 * 3
    return Line("gather, attend, pool", plain, ours, flops, 4 * C * (tokens * 3 + words * 6))


def loss(repeats: int, trained: float, name: str) -> Line:
    """Forward and backward of the ranking loss; `trained` moves codes to their labels, which thins out violators."""
    y = sp.random(
        ROWS, LABELS, density=POSITIVES / LABELS, format="csr", dtype=np.float32, rng=np.random.default_rng(0)
    )
    y.data[:] = 1
    bags = Bags.from_csr(y)
    dense = bags.dense(LABELS)
    table, bias = torch.randn(LABELS, CODE) * CODE**-0.5, torch.zeros(LABELS)
    z = torch.randn(ROWS, CODE) + trained * torch.from_numpy(y @ table.numpy())

    def fast(z: torch.Tensor, table: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return fused_ranking_loss(z, table, bias, bags)

    def slow(z: torch.Tensor, table: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return ranking_loss(z @ table.T + bias, dense)

    def both_ways(function: Callable[..., torch.Tensor]) -> Callable[[], None]:
        return lambda: function(*(p.detach().requires_grad_() for p in (z, table, bias))).backward()

    plain, ours = interleaved([both_ways(slow), both_ways(fast)], repeats)
    return Line(name, plain, ours, 2.0 * ROWS * LABELS * CODE, 4.0 * LABELS * CODE * 2)


def rows_of_adam(repeats: int) -> Line:
    """A step for the words of a batch, against dense Adam on the whole table."""
    words = torch.from_numpy(np.sort(np.random.default_rng(0).choice(200_000, 5_000, replace=False)))
    sparse, dense = (torch.nn.Parameter(torch.randn(200_000, C)) for _ in range(2))
    lazy, full = RowAdam([sparse]), torch.optim.AdamW([dense], fused=True)
    take_rows(sparse, words).sum().backward()
    dense.grad = sparse.grad.to_dense()  # type: ignore[union-attr]
    plain, ours = interleaved([full.step, lazy.step], repeats)  # type: ignore[list-item]
    return Line("Adam, 5k of 200k rows", plain, ours, len(words) * C * 12, 4 * C * len(words) * 7)


def sparse_times_dense(repeats: int) -> Line:
    """The product of the closed-form start, against scipy's."""
    rows, width = sp.vstack([zipf_rows(np.random.default_rng(i)) for i in range(4)], format="csr"), CODE
    dense = np.random.default_rng(0).standard_normal((WORDS, width)).astype(np.float32)
    plain, ours = interleaved([lambda: rows @ dense, lambda: sparse_product(rows, dense)], repeats)
    return Line("sparse x dense, 240k tokens", plain, ours, 2.0 * rows.nnz * width, 4.0 * rows.nnz * width)


def best_labels(repeats: int) -> Line:
    random = np.random.default_rng(0)
    codes, table = (random.standard_normal((n, CODE)).astype(np.float32) for n in (1024, LABELS))
    z, d = torch.from_numpy(codes), torch.from_numpy(table)
    plain, ours = interleaved([lambda: (z @ d.T).topk(5), lambda: top_k(codes, table, None, 5)], repeats)
    return Line("top 5 of 36k labels, 1k rows", plain, ours, 2.0 * 1024 * LABELS * CODE, 4.0 * LABELS * CODE * 4)


def machine(repeats: int) -> tuple[float, float]:
    """Floating point operations and copied bytes a second."""
    a, big = torch.randn(1500, 1500), torch.randn(16_000_000)
    there = torch.empty_like(big)
    product, copy = interleaved([lambda: a @ a, lambda: there.copy_(big)], repeats)
    return 2 * 1500**3 / product * 1e3, 2 * 4 * len(big) / copy * 1e3


def measured(threads: int, repeats: int) -> dict[str, Any]:
    """All kernels, and what the machine can do."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    gemm, bandwidth = machine(repeats)
    lines = [
        attention(repeats),
        loss(repeats, 0.0, "ranking loss, untrained"),
        loss(repeats, 3.0, "ranking loss, half trained"),
        loss(repeats, 8.0, "ranking loss, trained"),
        rows_of_adam(repeats),
        sparse_times_dense(repeats),
        best_labels(repeats),
    ]
    facts = {"threads": threads, "gemm_gflops": gemm / 1e9, "copy_gb_s": bandwidth / 1e9}
    return facts | {"kernels": [line.shown(gemm, bandwidth) for line in lines]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    facts = measured(options.threads, options.repeats)
    if options.json:
        print(json.dumps(facts))
        return
    print("{threads} thread(s), GEMM {gemm_gflops:.0f} GFLOP/s, copy {copy_gb_s:.1f} GB/s".format(**facts))
    shown = facts["kernels"]
    print("  ".join(f"{name:>14}" if name != "kernel" else f"{name:<28}" for name in shown[0]))
    for line in shown:
        print("  ".join(f"{v:>14}" if name != "kernel" else f"{v:<28}" for name, v in line.items()))


if __name__ == "__main__":
    main()
