"""PLT and BR are napkinXC's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils import check_random_state

from rankae.methods import registry

models = pytest.importorskip("napkinxc.models")


@pytest.mark.parametrize(("name", "direct_class"), [("plt", models.PLT), ("br", models.BR)])
def test_scores_are_those_of_napkinxc_called_directly(name: str, direct_class: type, tmp_path: Path) -> None:
    from rankae.rivals.napkinxc import seed_c_library

    random = np.random.default_rng(0)
    rows = sp.csr_matrix(sp.random(200, 30, density=0.2, format="csr", dtype=np.float32, random_state=random))
    labels = sp.csr_matrix(rows[:, :12].toarray() > 0.5, dtype=np.float32)
    columns, scores = registry.create(name, random_state=5).fit(rows, labels).top_columns(rows, k=4)

    seed = check_random_state(5).randint(2**31 - 1)
    seed_c_library(seed)
    direct = direct_class(str(tmp_path / "model"), seed=seed, threads=1)  # all else as napkinXC sets it
    direct.fit(rows, labels)
    expected = direct.predict_proba(rows, top_k=4)
    assert columns.tolist() == [[label for label, _ in row] for row in expected]
    np.testing.assert_allclose(scores, [[score for _, score in row] for row in expected], rtol=1e-6)
