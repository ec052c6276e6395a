import numpy as np
import torch

from rankae.components.network import WordsNetwork, WordsNetworkSettings
from rankae.data.word_embeddings import WordEmbeddings


def started(embeddings: WordEmbeddings | None) -> torch.Tensor:
    network = WordsNetwork(40, 5, WordsNetworkSettings(word_size=32))
    network.initialise(0, embeddings)
    return network.word_vectors.detach()


def test_words_that_point_the_same_way_start_alike_and_the_others_as_without_them():
    directions = np.zeros((40, 3), dtype=np.float32)
    directions[:4] = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0]]
    plain, found = started(None), started(WordEmbeddings(directions, "made up"))
    assert torch.equal(found[4:], plain[4:])
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], -found[3])
    assert abs(torch.cosine_similarity(found[0], found[2], dim=0)) < 0.6
    assert 0.05 < found[:4].std() < 0.2  # as strong as those that are drawn
