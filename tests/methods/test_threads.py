"""How far the number of threads matters to a model of the same seed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from threadpoolctl import threadpool_limits

from rankae import RankAE
from rankae.data import make_dataset

PRODUCTS = """
import rankae, torch
a, b = torch.randn(20000, 300), torch.randn(20000, 50)
found = []
for threads in (1, 8):
    torch.set_num_threads(threads)
    found.append(a.T @ b)
print(all(torch.equal(one, found[0]) for one in found))
"""


def fitted_with(threads, preset):
    """Probabilities of new rows by a model that is trained with so many threads."""
    train, test = make_dataset(rows=300, labels=200, test_rows=30)
    with threadpool_limits(threads, user_api="blas"):
        model = RankAE(preset, random_state=0, threads=threads).fit_dataset(train)
        return model.predict_proba(test.rows).toarray()


def test_fast_predicts_the_same_bit_for_bit():
    np.testing.assert_array_equal(fitted_with(1, "fast"), fitted_with(3, "fast"))


def test_a_network_differs_in_the_last_digits_at_most():
    np.testing.assert_allclose(fitted_with(1, "network"), fitted_with(3, "network"), atol=1e-3)


def test_long_sums_of_torch_do_not_depend_on_threads():
    ran = subprocess.run([sys.executable, "-c", PRODUCTS], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "True", ran.stderr
