"""`rankae compare --protocol paper`: its methods and budget, and published figures only beside the same split."""

from __future__ import annotations

import pytest

from rankae.errors import RankaeError
from rankae.experiments.protocol import PROTOCOLS, PUBLISHED, protocol_of, published_grid
from rankae.experiments.summary import Score, Summary
from rankae.methods import names


def test_its_methods_are_registered_and_have_a_search_budget():
    protocol = protocol_of("paper")
    assert set(protocol.methods) <= set(names())
    assert protocol.trials > 0
    assert set(protocol.stands_for) <= set(protocol.data)
    assert not set(protocol.stands_for) & set(PUBLISHED), "no published figure beside a stand-in"
    with pytest.raises(RankaeError, match="there is no protocol"):
        protocol_of("papr")


def test_published_figures_stand_beside_ours():
    scores = {("bibtex", "sleec", f"P@{k}"): Score(60.0 + k, None, 1) for k in (1, 3, 5)}
    scores |= {("mine", "sleec", f"P@{k}"): Score(50.0, None, 1) for k in (1, 3, 5)}
    summary = Summary(["bibtex", "mine"], ["sleec", "fastxml"], (1, 3, 5), scores, {}, {}, {}, {})
    assert published_grid(summary).lines == [
        ["bibtex", "sleec", "61.00 (65.08)", "63.00 (39.64)", "65.00 (28.87)"],
    ]


def test_data_or_a_protocol_must_be_named(capsys):
    from rankae.cli.entry import run

    assert run(["compare", "--out", "nowhere"]) == 2
    assert "name the data" in capsys.readouterr().err
    assert run(["compare", "bibtex", "--out", "nowhere", "--protocol", "other"]) == 2
    assert f"choose {', '.join(PROTOCOLS)}" in capsys.readouterr().err
