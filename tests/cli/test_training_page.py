"""The page about a training: each network's loss is a line of its own."""

from __future__ import annotations

from rankae.cli.training_page import _loss_lines


def epoch(member, number, loss):
    return {"member": member, "epoch": number, "loss": loss}


def test_a_line_never_goes_back_in_time():
    """Held-out networks and those of all rows count their members anew, and members may be trained side by side."""
    held_out = [epoch(1, 1, 0.9), epoch(2, 1, 0.8), epoch(1, 2, 0.5), epoch(2, 2, 0.4)]
    again = [epoch(1, 1, 0.7), epoch(1, 2, 0.3)]
    lines = _loss_lines(held_out + again)
    assert [(line.name, list(line.x), list(line.y)) for line in lines] == [
        ("network 1", [1, 2], [0.9, 0.5]),
        ("network 2", [1, 2], [0.8, 0.4]),
        ("network 3", [1, 2], [0.7, 0.3]),
    ]
