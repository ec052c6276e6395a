"""The same seed gives the same model on any number of threads."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
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


@pytest.mark.parametrize("preset", ["fast", "network"])
def test_predictions_are_the_same_bit_for_bit(preset):
    train, test = make_dataset(rows=300, labels=200, test_rows=30)
    found = []
    for threads in (1, 3):
        with threadpool_limits(threads, user_api="blas"):
            model = RankAE(preset, random_state=0, threads=threads).fit_dataset(train)
            found.append(model.predict_proba(test.rows).toarray())
    np.testing.assert_array_equal(*found)


def test_long_sums_of_torch_do_not_depend_on_threads():
    ran = subprocess.run([sys.executable, "-c", PRODUCTS], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "True", ran.stderr
