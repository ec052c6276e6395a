import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from rankae.data.noise import flip_labels_balanced, miss_labels
from rankae.metrics import evaluate
from rankae.numerics.top_k import top_k
from rankae.paper.closed_form import WarmStart, warm_start
from rankae.recipe.label_correction import corrected_labels, denoised_start, noise_rates, robust_decoder


def make_rows(n: int, labels: int, seed: int, idle: int = 5) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Each row has two labels; a label shows two or three of its five words, among `idle` words that say nothing."""
    rng = np.random.default_rng(seed)
    shown = 3 if idle <= 5 else 2
    carried = np.sort(np.stack([rng.choice(labels, 2, replace=False) for _ in range(n)]), axis=1)
    own = 5 * carried[:, :, None] + rng.permuted(np.tile(np.arange(5), (n, 2, 1)), axis=2)[:, :, :shown]
    words = np.hstack([own.reshape(n, -1), 5 * labels + rng.integers(100, size=(n, idle))])
    ends = words.shape[1] * np.arange(n + 1)
    rows = sp.csr_matrix((np.ones(words.size, np.float32), words.ravel(), ends), shape=(n, 5 * labels + 100))
    rows.sum_duplicates()
    truth = sp.csr_matrix((np.ones(2 * n, np.float32), carried.ravel(), 2 * np.arange(n + 1)), shape=(n, labels))
    return normalize(rows).tocsr(), truth


@pytest.fixture(scope="module")
def data():
    return make_rows(800, 20, seed=0)


def soft_labels(rows, noisy, **settings):
    return corrected_labels(noisy, warm_start(rows, noisy, code_size=20, ridge=1.0), **settings)


def test_dropped_labels_come_back(data):
    rows, truth = data
    noisy = miss_labels(truth, 0.5, seed=1)
    soft = soft_labels(rows, noisy).toarray()
    dropped, absent = (truth - noisy).toarray() > 0, truth.toarray() == 0
    assert soft[dropped].mean() > 0.5
    assert soft[absent].mean() < 0.1
    assert abs(soft - truth).sum() < 0.8 * abs(noisy - truth).sum()


def test_wrong_labels_fade(data):
    rows, truth = data
    noisy = flip_labels_balanced(truth, 0.3, seed=1)
    soft = soft_labels(rows, noisy).toarray()
    observed, right = noisy.toarray() > 0, truth.toarray() > 0
    assert soft[observed & right].mean() > 0.9
    assert soft[observed & ~right].mean() < 0.5


def test_soft_labels_lie_within_0_and_1_and_few_are_new(data):
    rows, truth = data
    noisy = flip_labels_balanced(truth, 0.4, seed=1)
    soft = soft_labels(rows, noisy, proposed=3)
    assert soft.dtype == np.float32
    assert soft.data.min() > 0
    assert soft.data.max() <= 1
    new = (soft.toarray() > 0) & (noisy.toarray() == 0)
    assert new.sum(axis=1).max() <= 3


def test_clean_labels_stay_nearly_as_they_are(data):
    rows, truth = data
    soft = soft_labels(rows, truth)
    assert abs(soft - truth).sum() < 0.05 * truth.nnz


def test_labels_without_any_signal_are_left_alone():
    rows, truth = make_rows(4000, 20, seed=0)
    rng = np.random.default_rng(0)
    coins = sp.csr_matrix((rng.random(truth.shape) < 0.5).astype(np.float32))
    assert (soft_labels(rows, coins) != coins).nnz == 0
    full = sp.csr_matrix(np.ones(truth.shape, dtype=np.float32))
    assert soft_labels(rows, full) is full


def test_rates_are_read_off_the_two_ends_of_the_scores():
    rng = np.random.default_rng(0)
    right = np.arange(20_000) < 4000
    observed = np.where(right, rng.random(20_000) < 0.6, rng.random(20_000) < 0.1)
    labels = sp.csr_matrix(observed.reshape(1000, 20).astype(np.float32))
    rates = noise_rates(np.linspace(1, 0, 20_000), observed, labels)
    assert rates.missing == pytest.approx(0.4, abs=0.1)
    assert rates.wrong == pytest.approx(0.1, abs=0.03)


def test_the_robust_decoder_is_a_regression_on_leave_one_out_codes_drawn_to_the_start():
    rng = np.random.default_rng(0)
    codes, table = rng.standard_normal((300, 4)).astype(np.float32), rng.standard_normal((7, 4)).astype(np.float32)
    labels = sp.csr_matrix((rng.random((300, 7)) < 0.3).astype(np.float32))
    found = robust_decoder(codes, table, labels)
    pull = 0.5 * (codes**2).sum() / 4
    stacked = np.vstack([codes, np.sqrt(pull) * np.eye(4)])
    exact = np.linalg.lstsq(stacked, np.vstack([labels.toarray(), np.sqrt(pull) * table.T]), rcond=None)[0].T
    np.testing.assert_allclose(found, exact, atol=1e-4)


@pytest.mark.parametrize("noise", [miss_labels, flip_labels_balanced])
def test_a_round_ranks_new_rows_better_than_none(noise):
    rows, truth = make_rows(300, 20, seed=0, idle=10)
    new, right = make_rows(1000, 20, seed=1, idle=10)
    noisy = noise(truth, 0.5, seed=2)

    def precision(rounds: int) -> float:
        start = denoised_start(rows, noisy, 20, 1.0, rounds)
        table = robust_decoder(start.loo_codes, start.label_table, noisy) if rounds else start.label_table
        return evaluate(top_k(new @ start.word_table, table, None, 3)[0], right, (1, 2))["P@2"]

    assert precision(1) > precision(0) + 3


def test_rows_by_labels_never_stand_in_memory():
    rows, truth = make_rows(1000, 40_000, seed=0)
    start = warm_start(rows, truth, code_size=4, ridge=1.0)
    corrected_labels(truth[:100], WarmStart(start.word_table, start.label_table, start.loo_codes[:100], 1.0))  # compile
    tracemalloc.start()
    try:
        corrected_labels(truth, start)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1000 * 40_000 * 4 / 2
