from __future__ import annotations

import numpy as np

from rankae.experiments.differences import paired_bootstrap


def test_a_small_but_steady_difference_is_real_because_rows_are_paired() -> None:
    rng = np.random.default_rng(0)
    hard = 100 * rng.random(400)  # rows differ far more than methods do
    steady = hard - 0.5 + rng.normal(0, 1, 400)
    (difference,) = paired_bootstrap(hard, [steady])
    assert difference.real
    assert 0 < difference.low < 0.5 < difference.high < 1


def test_chance_is_called_real_about_one_time_in_twenty() -> None:
    rng = np.random.default_rng(1)
    alike = [rng.random(200) for _ in range(200)]
    found = paired_bootstrap(rng.random(200) * 0 + 0.5, alike, resamples=400)
    assert 0.01 <= np.mean([difference.real for difference in found]) <= 0.12


def test_the_interval_is_the_one_of_normal_theory() -> None:
    gaps = np.random.default_rng(2).normal(1, 4, 1000)
    (difference,) = paired_bootstrap(gaps, [np.zeros(1000)])
    error = gaps.std() / np.sqrt(1000)
    assert abs(difference.points - gaps.mean()) < 1e-9
    np.testing.assert_allclose(
        [difference.low, difference.high], gaps.mean() + 1.96 * error * np.array([-1, 1]), atol=0.05
    )


def test_equal_methods_do_not_differ_and_nobody_else_is_no_difference() -> None:
    rows = np.arange(5.0)
    assert not paired_bootstrap(rows, [rows])[0].real
    assert paired_bootstrap(rows, []) == []
