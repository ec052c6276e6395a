"""Stores the tables of the single network as small as held-out rows allow, as `rankae.recipe.storage` does for a stack.

A form's loss is measured on rows that the network was not trained on. Their codes come from an F that has not seen them
either; to these is added what the form changes in the output of the linear path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import Choice, choice
from rankae.metrics import row_merits
from rankae.numerics.sparse_product import sparse_product
from rankae.paper.bags import CodedRows
from rankae.paper.rank_network import RankNetwork
from rankae.paper.two_paths import TwoPathEmbedding
from rankae.recipe.storage import little_is_lost, rare_if_many, without_rare


@dataclass(frozen=True)
class NetworkForm:
    """Precision of the tables, and the columns of the words whose vectors are dropped."""

    name: str
    precision: str
    without: np.ndarray | None = None

    def of(self, network: RankNetwork) -> RankNetwork:
        return network.shrunk(self.precision, self.without)


def smallest_form(
    network: RankNetwork, rows: sp.csr_matrix, labels: sp.csr_matrix, codes: np.ndarray, frequencies: np.ndarray
) -> tuple[NetworkForm, Choice]:
    """The smallest form that loses less than a tenth of a point, or less than chance explains; at most float16.

    Parameters
    ----------
    network : trained without these rows.
    rows, labels : held-out rows.
    codes : output of a linear path solved without them.
    frequencies : how many training rows have each word.
    """
    assert isinstance(network.F, TwoPathEmbedding)
    forms = [NetworkForm(without_rare(most), "int4", rare) for most, rare in rare_if_many(frequencies).items()]
    forms += [NetworkForm(precision, precision) for precision in ("int4", "int8")]
    before = row_merits(network.top(CodedRows(rows, codes), 5)[0], labels)
    solved = network.F.solved_words.numpy()
    evidence: dict[str, float] = {}
    best = NetworkForm("float16", "float16")  # its errors are so small that a loss is that of one row, by chance
    for form in forms:
        smaller = form.of(network)
        assert isinstance(smaller.F, TwoPathEmbedding)
        changed = codes + sparse_product(rows, smaller.F.solved_words.numpy()) - sparse_product(rows, solved)
        lost = before - row_merits(smaller.top(CodedRows(rows, changed), 5)[0], labels)
        evidence[form.name] = round(float(lost.mean()), 3)
        if little_is_lost(lost):
            best = form
            break
    return best, choice("storage", best.name, "points lost on held-out rows", evidence)
