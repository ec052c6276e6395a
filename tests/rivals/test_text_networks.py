"""Bow-CNN and XML-CNN: what their layers compute, and how they start."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from rankae.errors import DataError
from rankae.methods import registry
from rankae.rivals._doc_pooling import max_pool, mean_pool, parts_of
from rankae.rivals._network_training import hold_out
from rankae.rivals._word_ids import FIRST_WORD, UNKNOWN, WordIds
from rankae.rivals.bow_cnn import BowCNNNetwork
from rankae.rivals.xml_cnn import XMLCNNNetwork


def test_pooling_follows_the_length_of_each_row() -> None:
    values = torch.arange(12.0).reshape(2, 6, 1)
    part = parts_of(torch.tensor([6, 4]), width=6, parts=2)
    assert part.tolist() == [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]]
    assert mean_pool(values, part, 2)[..., 0].tolist() == [[1, 4], [6.5, 8.5]]
    assert max_pool(values.transpose(1, 2), part, 2)[:, 0].tolist() == [[2, 5], [7, 9]]


def test_a_region_is_the_bag_of_its_words() -> None:
    region, stride, units = 3, 2, 4
    network = BowCNNNetwork(10, 2, region, stride, units, parts=2)
    torch.nn.init.normal_(network.words.weight)
    torch.nn.init.normal_(network.bias)
    words = [5, 2, UNKNOWN, 7, 3]
    padded = [None] * (region - 1) + words + [None] * (region - 1)
    regions = []
    for start in range(0, len(padded) - region + 1, stride):
        bag = [w for w in padded[start : start + region] if w is not None and w != UNKNOWN]
        regions.append(torch.relu(network.words.weight[bag].sum(dim=0) + network.bias))
    stacked = torch.stack(regions)
    half = torch.arange(len(regions)) * 2 // len(regions)
    pooled = torch.stack([stacked[half == i].mean(dim=0) for i in range(2)])
    pooled = pooled / (1 + pooled.square().sum(dim=1, keepdim=True)).sqrt()
    torch.testing.assert_close(network(torch.tensor([words]))[0], network.output(pooled.flatten()))


@pytest.mark.parametrize(
    "network",
    [BowCNNNetwork(20, 3, 4, 2, 5, parts=3), XMLCNNNetwork(20, 3, 6, (2, 4), 5, parts=2, bottleneck=7)],
    ids=["bow-cnn", "xml-cnn"],
)
def test_padding_changes_nothing(network: torch.nn.Module) -> None:
    network.eval()
    alone = network(torch.tensor([[4, 5, 6]]))
    padded = network(torch.tensor([[4, 5, 6, 0, 0, 0, 0], [7, 8, 9, 10, 11, 12, 13]]))
    torch.testing.assert_close(alone[0], padded[0])


def test_filters_slide_over_words_and_keep_the_strongest_window() -> None:
    torch.manual_seed(0)
    network = XMLCNNNetwork(20, 3, dim=6, widths=(2,), filters=5, parts=1, bottleneck=4).eval()
    words = [4, 5, 6, 7]
    vectors = [torch.zeros(6), *network.embedding.weight[words]]
    weight, bias = network.convolutions[0].weight, network.convolutions[0].bias
    windows = [weight[..., 0] @ a + weight[..., 1] @ b + bias for a, b in pairwise(vectors)]
    strongest = torch.relu(torch.stack(windows)).amax(dim=0)
    expected = network.output(torch.relu(network.hidden(strongest)))
    torch.testing.assert_close(network(torch.tensor([words]))[0], expected)


def test_words_are_numbered_by_frequency_and_cut() -> None:
    words = WordIds.learn(["b b a", "A c", "b"], size=2, longest=3)
    assert words.words == ["b", "a"], "c occurs once"
    assert WordIds.learn(["b b b a a c c"], size=2, longest=3).words == ["b", "a"], "room for two"
    texts = words.read(["b c a a", "", "zzz"])
    assert texts.padded(np.array([0, 1, 2])).tolist() == [[2, UNKNOWN, 3], [0, 0, 0], [UNKNOWN, 0, 0]]
    assert WordIds.from_array(words.to_array(), 3).words == words.words


def test_held_out_rows_are_not_trained_on() -> None:
    train, held = hold_out(200, np.random.default_rng(0))
    assert sorted([*train, *held]) == list(range(200))
    assert len(held) == 20
    assert len(hold_out(50, np.random.default_rng(0))[1]) == 0, "too few rows to judge by"


def test_xml_cnn_starts_from_glove(tmp_path: Path) -> None:
    (tmp_path / "glove.txt").write_text("red 1 2 3\nwine -1 0 1\n")
    texts, labels = ["red wine", "green tea", "red tea"], [["x"], ["y"], ["x"]]
    small = {"dim": 3, "filters": 2, "bottleneck": 4, "random_state": 0}
    still = small | {"learning_rate": 1e-12}  # an epoch that changes nothing
    model = registry.create("xml-cnn", glove=str(tmp_path / "glove.txt"), epochs=1, **still).fit(texts, labels)
    row = model.words_.words.index("red") + FIRST_WORD
    assert model.network_.embedding.weight[row].tolist() == pytest.approx([1, 2, 3])
    with pytest.raises(DataError, match="vectors of 3 numbers: set the size of word vectors to that, not 5"):
        registry.create("xml-cnn", glove=str(tmp_path / "glove.txt"), **(small | {"dim": 5})).fit(texts, labels)
