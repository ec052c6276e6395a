"""Which components the held-out rows let stay."""

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.components.stack import ScoredShortlist
from rankae.numerics.shortlist import Shortlist
from rankae.recipe.evidence import components_to_keep
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings

ROWS, LABELS = 400, 12


@pytest.fixture
def truth():
    return (np.random.default_rng(0).random((ROWS, LABELS)) < 0.2).astype(np.float32)


def _guess(truth, noise, seed):
    return truth + noise * np.random.default_rng(seed).standard_normal(truth.shape, dtype=np.float32)


def _chosen(truth, **said):
    """The components that are kept of those that score labels like this, whether they are stacked, and the notes."""
    everything = np.tile(np.arange(LABELS, dtype=np.int32), (ROWS, 1))
    candidates = ScoredShortlist(
        Shortlist.union([everything]),
        {name: scores.ravel().astype(np.float32) for name, scores in said.items()},
        np.tile(truth.sum(0), ROWS),
        np.zeros(truth.size, dtype=np.float32),
        np.zeros(ROWS, dtype=np.float32),
        dict.fromkeys(said, everything),
    )
    training = Training()
    return *components_to_keep(candidates, sp.csr_matrix(truth), RecipeSettings(), training), training


def test_a_part_that_adds_little_stays(truth):
    code, rankers = _guess(truth, 0.4, 1), _guess(truth, 2.0, 2)
    kept, combined, _ = _chosen(truth, code=code, rankers=rankers)
    assert kept == ["code", "rankers"]
    assert combined


def test_a_part_that_adds_nothing_but_does_no_harm_stays(truth):
    missed = []
    for seed in range(2, 7):
        kept, _, training = _chosen(truth, code=_guess(truth, 0.4, 1), rankers=_guess(0 * truth, 1.0, seed))
        assert kept == ["code", "rankers"]
        with_it, without = (sum(training.evidence[name].values()) for name in ("all", "without rankers"))
        missed.append(with_it > without)
    assert not all(missed)  # now and then the rows are ranked better without it, by chance


def test_a_part_that_misleads_goes(truth):
    # It knows the answer of every other row and says the opposite of the rest: whoever believes it is fooled.
    liar = np.where(np.arange(ROWS)[:, None] % 2 == 0, truth, -truth)
    kept, _, training = _chosen(truth, code=_guess(truth, 0.4, 1), network=_guess(truth, 0.6, 2), rankers=liar)
    assert kept == ["code", "network"]
    assert training.evidence["without rankers"]["P@1"] > training.evidence["all"]["P@1"]


def test_the_code_is_never_left_out(truth):
    kept, _, _ = _chosen(truth, code=_guess(truth, 5.0, 1), network=_guess(truth, 0.1, 2))
    assert kept == ["code", "network"]


def test_a_code_that_needs_no_stacker_has_none(truth):
    kept, combined, _ = _chosen(truth, code=_guess(truth, 0.2, 1))
    assert (kept, combined) == (["code"], False)


def test_figures_are_noted(truth):
    *_, training = _chosen(truth, code=_guess(truth, 0.4, 1), rankers=_guess(truth, 0.8, 2))
    assert list(training.evidence) == ["all", "code alone", "rankers alone", "without rankers"]
    assert training.choices["evidence"].startswith("all ")
