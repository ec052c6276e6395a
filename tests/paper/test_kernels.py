"""The fast kernels give what the paper's equations give, and the gradients that follow from them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from rankae.numerics.threads import limited_to
from rankae.paper import kernels
from rankae.paper.bags import Bags
from rankae.paper.kernels import fused, reference, take_rows
from rankae.paper.kernels.sigmoid import sigmoid

C, SQUEEZED = 12, 3


def rows_of(kind: str) -> sp.csr_matrix:
    random = np.random.default_rng(0)
    dense = random.random((9, 40)) * (random.random((9, 40)) < 0.3)
    if kind == "negative weights":
        dense *= random.choice([-2.0, 1.0], dense.shape)
    elif kind == "empty rows":
        dense[[0, 4, 8]] = 0
    elif kind == "nothing at all":
        dense[:] = 0
    elif kind == "single word":
        dense[:, 1:] = 0
        dense[:, 0] = random.random(9) + 0.1
    return sp.csr_matrix(dense.astype(np.float32))


KINDS = ["random", "negative weights", "empty rows", "nothing at all", "single word"]


def parameters(words: int, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    shapes = [(words, C), (SQUEEZED, C), (C, SQUEEZED)]
    return [torch.randn(s, generator=generator, dtype=dtype, requires_grad=True) for s in shapes]


def value_and_gradients(function, inputs, bags):
    inputs = [t.detach().clone().requires_grad_() for t in inputs]
    pooled = function(*inputs, bags)
    (pooled * torch.linspace(-1, 1, C)).square().sum().backward()
    return [pooled.detach(), *(t.grad for t in inputs)]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_fused_attention_equals_the_equations(kind: str, threads: int) -> None:
    bags = Bags.from_csr(rows_of(kind))
    inputs = parameters(len(bags.distinct))
    with limited_to(threads):
        fast = value_and_gradients(fused.dual_attention, inputs, bags)
    for ours, plain in zip(fast, value_and_gradients(reference.dual_attention, inputs, bags), strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_attention_in_blocks_of_words_equals_the_equations(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused, "_FEWEST_WORDS", 4)
    monkeypatch.setattr(fused, "_BLOCK", 5 * C)
    bags = Bags.from_csr(rows_of("negative weights"))
    inputs = parameters(len(bags.distinct))
    with limited_to(threads):
        fast = value_and_gradients(fused.dual_attention, inputs, bags)
    for ours, plain in zip(fast, value_and_gradients(reference.dual_attention, inputs, bags), strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_fused_sum_equals_the_plain_sum(kind: str, threads: int) -> None:
    bags = Bags.from_csr(rows_of(kind))
    inputs = parameters(len(bags.distinct))[:1]
    with limited_to(threads):
        fast = value_and_gradients(fused.weighted_sum, inputs, bags)
    for ours, plain in zip(fast, value_and_gradients(reference.weighted_sum, inputs, bags), strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["random", "negative weights", "empty rows"])
def test_gradients_agree_with_finite_differences(kind: str) -> None:
    bags = Bags.from_csr(rows_of(kind))
    inputs = parameters(len(bags.distinct), torch.float64)
    assert torch.autograd.gradcheck(lambda *p: kernels.dual_attention(*p, bags), inputs)
    assert torch.autograd.gradcheck(lambda e: kernels.weighted_sum(e, bags), inputs[:1])


def test_gates_of_the_vocabulary_serve_any_batch() -> None:
    rows = rows_of("negative weights")
    table, F1, F2 = parameters(rows.shape[1])
    gates = fused.word_gates(table, F1, F2, both_signs=True)
    bags = Bags.from_csr(rows)
    expected = reference.dual_attention(table[bags.distinct], F1, F2, bags)
    torch.testing.assert_close(fused.gated_sum(table, gates, Bags.by_row_only(rows)), expected, rtol=1e-5, atol=1e-5)


def test_other_number_types_fall_back_to_plain_torch() -> None:
    bags = Bags.from_csr(rows_of("random"))
    inputs = [t.detach().bfloat16() for t in parameters(len(bags.distinct))]
    torch.testing.assert_close(kernels.dual_attention(*inputs, bags), reference.dual_attention(*inputs, bags))


def test_float32_sigmoid_is_accurate_and_bounded_in_a_fast_loop() -> None:
    from numba import njit

    @njit(fastmath=True, error_model="numpy")
    def compiled(x, out):
        for i in range(len(x)):
            out[i] = sigmoid(x[i])

    x = np.concatenate([np.linspace(-30, 30, 60_001), [-80.0, 80.0, -1e4, 1e4]]).astype(np.float32)
    out = np.empty_like(x)
    compiled(x, out)
    exact = 1 / (1 + np.exp(-np.clip(x, -87, 87).astype(np.float64)))
    np.testing.assert_allclose(out, exact, rtol=3e-6, atol=1e-36)
    middle = np.abs(x) < 3
    np.testing.assert_allclose(out[middle], exact[middle], rtol=5e-7)


def test_taken_rows_have_a_gradient_of_their_own_size() -> None:
    table = torch.randn(1000, 4, requires_grad=True)
    rows = torch.tensor([3, 500, 999])
    take_rows(table, rows).sum().backward()
    assert table.grad.is_sparse
    assert table.grad._nnz() == 3
    dense = torch.zeros(1000, 4)
    dense[rows] = 1
    assert torch.equal(table.grad.to_dense(), dense)


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_threads_changes_no_bit(kind: str) -> None:
    bags = Bags.from_csr(rows_of(kind))
    inputs = parameters(len(bags.distinct))
    found = []
    for threads in (1, 2, 3):
        with limited_to(threads):
            found.append(value_and_gradients(fused.dual_attention, inputs, bags))
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))
