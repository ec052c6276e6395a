import numpy as np
import scipy.sparse as sp

from rankae.components.closed_form import ClosedForm
from rankae.recipe.trusted import likely_counts
from rankae.recipe.trusted_decoder import best_decoder, corrected, trusted_folds

LABELS = 8


def component_and_codes(rows: int, seed: int, wrong: float) -> tuple[ClosedForm, np.ndarray, sp.csr_matrix]:
    """Labels that are a linear map of codes, and a component whose D is off by `wrong`."""
    rng = np.random.default_rng(seed)
    codes = rng.standard_normal((rows, LABELS)).astype(np.float32)
    truth = np.random.default_rng(0).standard_normal((LABELS, LABELS)).astype(np.float32)
    off = np.random.default_rng(1).standard_normal((LABELS, LABELS)).astype(np.float32)
    labels = sp.csr_matrix((codes @ truth.T > 1).astype(np.float32))
    component = ClosedForm(np.eye(LABELS, dtype=np.float32), truth + wrong * off, np.zeros(LABELS, np.float32), {})
    return component, codes, labels


def test_a_wrong_decoder_is_put_right():
    component, codes, labels = component_and_codes(400, seed=2, wrong=3.0)
    found = best_decoder(component, codes, labels, trusted_folds(400))
    fresh, others, right = component_and_codes(400, seed=3, wrong=3.0)
    before, after = (p.predict_codes(others).propose(1)[:, 0] for p in (fresh, found.component))
    hits = [right[np.arange(400), top].sum() for top in (before, after)]
    assert hits[1] > hits[0] + 50


def test_a_decoder_that_no_correction_betters_stays():
    component, codes, _ = component_and_codes(60, seed=2, wrong=0.0)
    best = component.predict_codes(codes).propose(5)
    labels = sp.csr_matrix((np.ones(best.size, np.float32), best.ravel(), np.arange(61) * 5), shape=(60, LABELS))
    assert best_decoder(component, codes, labels, trusted_folds(60)).component is component


def test_what_a_fold_says_has_not_seen_the_fold():
    component, codes, labels = component_and_codes(100, seed=2, wrong=3.0)
    folds = trusted_folds(100)
    found = best_decoder(component, codes, labels, folds, pulls=(0.1,))
    rest = np.setdiff1d(np.arange(100), folds[0])
    alone = corrected(component, codes[rest], labels[rest], 0.1)
    np.testing.assert_allclose(found.without[0].label_table, alone.label_table)


def test_it_is_the_solution_of_its_equation():
    component, codes, labels = component_and_codes(50, seed=2, wrong=1.0)
    found = corrected(component, codes, labels, 0.2)
    z, y = codes - codes.mean(0), labels.toarray() - labels.toarray().mean(0)
    old, new = component.label_table, found.label_table
    scale = (y * (z @ old.T)).sum() / ((z @ old.T) ** 2).sum()
    pull = 0.2 * (z**2).sum() / LABELS
    gradient = z.T @ (z @ new.T - y) + pull * (new - scale * old).T
    assert abs(gradient).max() < 1e-3 * abs(z.T @ y).max()


def test_counts_are_those_before_the_noise():
    rng = np.random.default_rng(0)
    frequency = np.linspace(0.02, 0.6, 30)
    truth = rng.random((4000, 30)) < frequency
    noisy = truth ^ (rng.random(truth.shape) < 0.3)
    trusted = rng.random((600, 30)) < frequency
    found = likely_counts(sp.csr_matrix(noisy.astype(np.float32)), sp.csr_matrix(trusted.astype(np.float32)))
    assert abs(found / 4000 - frequency).max() < 0.05
    assert abs(noisy.mean(0) - frequency).max() > 0.2
    assert abs(found / 4000 - frequency).mean() < abs(trusted.mean(0) - frequency).mean()
