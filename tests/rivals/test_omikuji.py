"""Parabel and Bonsai are omikuji's own, neither better nor worse."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from rankae.errors import DataError
from rankae.methods import registry

omikuji = pytest.importorskip("omikuji")


@pytest.fixture
def data() -> tuple[sp.csr_matrix, sp.csr_matrix]:
    random = np.random.default_rng(0)
    rows = sp.random(200, 30, density=0.2, format="csr", dtype=np.float32, random_state=random)
    labels = sp.csr_matrix(rows[:, :12].toarray() > 0.5, dtype=np.float32)
    return sp.csr_matrix(rows), labels


@pytest.mark.parametrize("name", ["parabel", "bonsai"])
def test_scores_are_those_of_omikuji_called_directly(name: str, data, tmp_path: Path) -> None:
    rows, labels = data
    ours = registry.create(name).fit(rows, labels)
    ours.model_.save(str(tmp_path))
    direct = omikuji.Model.load(str(tmp_path))
    columns, scores = ours.top_columns(rows, k=5)
    for row in range(50):
        pairs = list(zip(rows[row].indices.tolist(), rows[row].data.tolist(), strict=True))
        expected = direct.predict(pairs, beam_size=10, top_k=5)
        np.testing.assert_allclose(scores[row, : len(expected)], [score for _, score in expected], rtol=1e-5)
        assert set(columns[row, : len(expected)]) == {label for label, _ in expected}


def test_parabel_is_omikujis_default() -> None:
    ours, default = registry.create("parabel").hyper_parameters(), omikuji.Model.default_hyper_param()
    for field in dir(default):
        assert getattr(ours, field) == getattr(default, field), field


def test_the_training_file_holds_the_rows_exactly(data, tmp_path: Path) -> None:
    from rankae.rivals.omikuji import write_omikuji_file

    rows, labels = data
    write_omikuji_file(tmp_path / "train.txt", rows, labels)
    header, *lines = (tmp_path / "train.txt").read_text().splitlines()
    assert header.split() == [str(len(lines)), "30", "12"]
    kept = [i for i in range(200) if rows[i].nnz or labels[i].nnz]
    for row, line in zip(kept, lines, strict=True):
        names, *pairs = line.split(" ")
        assert [int(name) for name in names.split(",") if name] == labels[row].indices.tolist()
        assert [np.float32(pair.split(":")[1]) for pair in pairs] == rows[row].data.tolist()


def test_training_prints_nothing(data, capfd: pytest.CaptureFixture[str]) -> None:
    registry.create("parabel").fit(*data)
    print("still here", file=sys.stdout)
    assert capfd.readouterr() == ("still here\n", "")


def test_no_label_anywhere_is_one_sentence(data) -> None:
    with pytest.raises(DataError, match="parabel cannot learn: no row has a label"):
        registry.create("parabel").fit(data[0], sp.csr_matrix((200, 3)))
