import numpy as np
import scipy.sparse as sp

from rankae.numerics.singular_vectors import leading_vectors


def test_few_columns_give_the_leading_singular_vectors():
    labels = sp.csr_matrix((np.random.default_rng(0).random((120, 12)) < 0.2).astype(np.float32))
    found = leading_vectors(labels, 12)
    _, _, exact = np.linalg.svd(labels.toarray())
    np.testing.assert_allclose(np.abs(np.sum(found * exact.T, axis=0)), 1, atol=1e-3)


def test_many_columns_give_the_leading_singular_vectors():
    rng = np.random.default_rng(0)
    frequency = np.full(1500, 0.004)
    frequency[:5] = 0.8, 0.6, 0.45, 0.3, 0.2
    labels = sp.csr_matrix((rng.random((400, 1500)) < frequency).astype(np.float32))
    found = leading_vectors(labels, 40, iterations=8)
    np.testing.assert_allclose(found.T @ found, np.eye(40), atol=1e-4)
    exact = np.linalg.svd(labels.toarray())[2][:5].T
    np.testing.assert_allclose(np.linalg.norm(found.T @ exact, axis=0), 1, atol=1e-2)


def test_columns_that_say_the_same_are_survived():
    labels = sp.csr_matrix(np.repeat(np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1]], 400, axis=1))
    found = leading_vectors(labels, 5)
    assert np.isfinite(found).all()
