from __future__ import annotations

import numpy as np
import pytest
import torch

from rankae.paper import optimizer
from rankae.paper.batches import ahead
from rankae.paper.kernels import take_rows
from rankae.paper.optimizer import RowAdam
from rankae.paper.schedule import learning_rate_factor


@pytest.mark.parametrize("compiled", [True, False])
def test_rows_that_are_always_touched_move_as_under_adamw(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not compiled:
        monkeypatch.setattr(optimizer.numba_adam, "update_rows", optimizer.update_rows)
    start = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    lazy, dense = (torch.nn.Parameter(start.clone()) for _ in range(2))
    ours = RowAdam([lazy], lr=0.1, weight_decay=0.2)
    theirs = torch.optim.AdamW([dense], lr=0.1, weight_decay=0.2)
    touched = torch.tensor([0, 2, 5])
    for step in range(5):
        for table, used in ((lazy, ours), (dense, theirs)):
            used.zero_grad()
            rows = take_rows(table, touched) if table is lazy else table[touched]
            (rows.sin() * (step + 1)).sum().backward()
            used.step()
    torch.testing.assert_close(lazy[touched], dense[touched])
    assert torch.equal(lazy[[1, 3, 4]], start[[1, 3, 4]])


def test_a_rare_rows_first_step_is_a_full_step() -> None:
    table = torch.nn.Parameter(torch.zeros(2, 3))
    adam = RowAdam([table], lr=0.1)
    for row in [0] * 9 + [1]:
        adam.zero_grad()
        take_rows(table, torch.tensor([row])).sum().backward()
        adam.step()
    np.testing.assert_allclose(table[1].detach(), -0.1, rtol=1e-4)


def test_learning_rate_rises_then_falls_to_nothing() -> None:
    factors = [learning_rate_factor(step, 100, 0.1) for step in range(100)]
    assert np.argmax(factors) == 10
    assert factors[10] == 1
    assert np.all(np.diff(factors[:11]) > 0)
    assert np.all(np.diff(factors[10:]) < 0)
    assert 0 < factors[-1] < 0.01
    assert learning_rate_factor(0, 1, 0.0) == 1


def test_batches_ahead_come_in_order_and_bring_their_errors() -> None:
    assert list(ahead(lambda: range(50))) == list(range(50))

    def broken():
        yield 1
        raise ZeroDivisionError

    items = ahead(broken)
    assert next(items) == 1
    with pytest.raises(ZeroDivisionError):
        next(items)


def test_a_reader_may_leave_early() -> None:
    items = ahead(lambda: range(10**9))
    assert next(items) == 0
    items.close()  # would hang if the thread did not end
