import numpy as np
import torch

from rankae.components.stacker_descent import descend, split


def test_steps_are_those_of_autograd_and_adamw():
    rng = np.random.default_rng(0)
    width, hidden, batch = 5, 8, 3
    starts = np.array([0, 4, 4, 9, 15, 16, 21])  # the second row has no entry
    u = rng.standard_normal((21, width)).astype(np.float32)
    worth = (rng.random(21) < 0.3).astype(np.float32) * rng.integers(1, 4, 21).astype(np.float32)
    order = np.concatenate([rng.permutation(6) for _ in range(3)])
    rates = np.linspace(0.05, 0.01, 6).astype(np.float32)
    start = rng.standard_normal(width * hidden + 2 * hidden + width + 1).astype(np.float32)
    found = start.copy()
    descend(starts, u, worth, order, batch, rates, np.float32(0.1), found, hidden)

    wanted = torch.nn.Parameter(torch.from_numpy(start.copy()))
    optimizer = torch.optim.AdamW([wanted], lr=1.0, weight_decay=0.1)
    for step, rate in enumerate(rates):
        rows = order[step * batch : (step + 1) * batch]
        entries = np.concatenate([np.arange(starts[row], starts[row + 1]) for row in rows])
        x, y = torch.from_numpy(u[entries]), torch.from_numpy(worth[entries])
        B = wanted[: width * hidden].reshape(width, hidden)
        b, c = wanted[width * hidden :][:hidden], wanted[width * hidden + hidden :][:hidden]
        scores = x @ wanted[-width - 1 : -1] + torch.relu(x @ B + b) @ c + wanted[-1]
        losses = torch.nn.functional.softplus(torch.where(y > 0, -scores, scores)) * torch.where(y > 0, y, 1.0)
        optimizer.param_groups[0]["lr"] = float(rate)
        optimizer.zero_grad()
        (losses.sum() / len(rows)).backward()
        optimizer.step()
    np.testing.assert_allclose(found, wanted.detach().numpy(), atol=2e-4)
    assert np.abs(found - start).max() > 0.1


def test_split_gives_views():
    values = np.zeros(2 * 3 + 3 + 3 + 2 + 1, dtype=np.float32)
    for number, component in enumerate(split(values, 2, 3), start=1):
        component[:] = number
    assert values.tolist() == [1] * 6 + [2] * 3 + [3] * 3 + [4] * 3
