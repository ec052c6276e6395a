"""Models that earlier versions wrote still load and still say what they said."""

import json
from pathlib import Path

import numpy as np
import pytest

from rankae import load

SAVED = sorted((Path(__file__).parents[1] / "saved").glob("format-*"))
TEXTS = [f"{a} {b}" for a in ("red", "green", "blue") for b in ("apple", "car", "wine")]


def test_there_are_saved_models():
    assert SAVED


@pytest.mark.parametrize("folder", SAVED, ids=lambda folder: folder.name)
def test_an_old_model_still_answers(folder):
    expected = json.loads((folder / "expected.json").read_text())
    names, scores = load(folder / "model").predict_top(TEXTS, 3)
    assert names.tolist() == expected["names"]
    np.testing.assert_allclose(scores, expected["scores"], rtol=1e-5, atol=1e-4)
