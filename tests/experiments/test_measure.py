from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankae import RankAE
from rankae.data import load_dataset
from rankae.experiments.cells import Cell, Store
from rankae.experiments.measure import fit_and_check, measure, noisy_and_clean, run, train_and_test


def test_measures_are_the_means_of_what_every_row_adds(texts: str) -> None:
    result, rows = measure(Cell(texts, "knn", k=(1, 3)))
    assert sorted(rows) == ["P@1", "P@3", "PSP@1", "PSP@3", "nDCG@1", "nDCG@3"]
    for name, values in rows.items():
        assert len(values) == result["test_rows"] == 60
        assert values.astype(float).mean() == pytest.approx(result["scores"][name], rel=1e-3)
    assert result["scores"]["P@1"] > 40
    assert result["model_megabytes"] > 0


def test_noise_is_on_the_rows_to_learn_from_alone(matrix: str) -> None:
    train, _ = train_and_test(matrix)
    clean, held = fit_and_check(train)
    noisy, check = noisy_and_clean(train, Cell(matrix, "knn", noise=("missing", 0.5)))
    assert (len(noisy), len(check)) == (160, 40)
    assert (check.labels != held.labels).nnz == 0
    assert 0.3 < noisy.labels.nnz / clean.labels.nnz < 0.7
    assert (noisy.labels > clean.labels).nnz == 0


def test_every_seed_draws_its_own_noise(matrix: str) -> None:
    train, _ = train_and_test(matrix)
    first, second = (
        noisy_and_clean(train, Cell(matrix, "knn", seed=seed, noise=("flip", 0.3)))[0].labels for seed in (0, 1)
    )
    assert (first != second).nnz > 0


def test_a_method_that_trusts_rows_is_given_the_clean_ones(matrix: str, monkeypatch) -> None:
    given = []
    fit = RankAE.fit_dataset

    def spy(self, data, trusted=None):
        given.append(trusted)
        return fit(self, data, trusted)

    monkeypatch.setattr(RankAE, "fit_dataset", spy)
    for method, parameters in (("rank-ae", {"preset": "fast"}), ("bce-ae", {"epochs": 1})):
        measure(Cell(matrix, method, parameters, noise=("missing", 0.3)))
    _, held = fit_and_check(train_and_test(matrix)[0])
    for trusted in given:
        assert (trusted.labels != held.labels).nnz == 0
    measure(Cell(matrix, "rank-ae", {"preset": "fast"}))
    assert given[2] is None


def test_data_without_a_test_split_gives_up_a_fifth(matrix: str) -> None:
    train, test = train_and_test(str(Path(matrix) / "train.txt"))
    assert (len(train), len(test)) == (160, 40)
    assert len(load_dataset(matrix, "train")) == 200


def test_what_goes_wrong_is_a_result_with_its_reason(matrix: str, tmp_path: Path, monkeypatch) -> None:
    store = Store(tmp_path)
    refused = run(Cell(matrix, "one-vs-rest", {"label_limit": 3}), store)
    assert refused["status"] == "cannot"
    assert "up to 3 labels" in refused["reason"]

    def burst(*_):
        raise np.linalg.LinAlgError("did not converge")

    monkeypatch.setattr("rankae.rivals.knn.NearestRows._fit", burst)
    failed = run(Cell(matrix, "knn"), store)
    assert (failed["status"], failed["reason"]) == ("failed", "LinAlgError: did not converge")
