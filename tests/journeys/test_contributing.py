"""The worked examples of CONTRIBUTING.md, run as they stand there: each file, then its registry line."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import rankae
from rankae import load_dataset
from rankae.data import formats
from rankae.methods import registry

GUIDE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
TEXTS = ["red apple", "green apple", "red wine", "white wine"] * 30
LABELS = [["fruit", "red"], ["fruit"], ["drink", "red"], ["drink"]] * 30


def block(title: str) -> str:
    (found,) = re.findall(rf'```python title="{re.escape(title)}"\n(.*?)```', GUIDE, re.DOTALL)
    return found


@pytest.fixture
def install(monkeypatch):
    """Make a file of the guide importable under the place that its title names."""

    def put(title: str) -> types.ModuleType:
        name = title.removeprefix("src/").removesuffix(".py").replace("/", ".")
        module = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(block(title), title, "exec"), vars(module))
        return module

    return put


def test_a_method_is_one_file_and_one_line(install, monkeypatch, tmp_path):
    install("src/rankae/rivals/centroids.py")
    entries = eval(f"{{{block('registry line')}}}", {"Method": registry.Method})
    monkeypatch.setattr(registry, "METHODS", registry.METHODS | entries)
    model = registry.create("centroids", favour_rare=0.25).fit(TEXTS, LABELS)
    best, scores = model.predict_top(["an apple", "white wine"], k=3)
    assert best[:, 0].tolist() == ["fruit", "drink"]
    assert (np.diff(scores, axis=1) <= 0).all()
    model.save(tmp_path / "model")
    again = registry.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_top(TEXTS, k=3)[1], model.predict_top(TEXTS, k=3)[1])
    assert registry.search_space("centroids").keys() == {"favour_rare"}
    with pytest.raises(rankae.RankaeError, match="no parameter"):
        registry.create("centroids", favour=1)


def test_a_format_is_one_file_and_one_line(install, monkeypatch, tmp_path):
    install("src/rankae/data/formats/tagged.py")
    (tagged,) = eval(f"({block('formats line')})", {"Format": formats.Format})
    monkeypatch.setattr(formats, "FORMATS", formats.FORMATS | {tagged.name: tagged})
    monkeypatch.setattr(formats, "ENDINGS", formats.ENDINGS | dict.fromkeys(tagged.endings, tagged))
    place = tmp_path / "rows.tagged"
    place.write_text("fruit, red\tred apple\ndrink\twhite wine\n\tnothing known\n")
    data = load_dataset(place)
    assert data.texts == ["red apple", "white wine", "nothing known"]
    assert data.label_names == ["drink", "fruit", "red"]
    assert data.labels.sum(axis=1).ravel().tolist()[0] == [2, 1, 0]
    place.write_text("no tab here\n")
    with pytest.raises(rankae.DataError, match="line 1: there is no tab"):
        load_dataset(place)


def test_a_component_is_one_file_and_one_line(install, monkeypatch, tmp_path):
    from rankae.components import registry as components

    module = install("src/rankae/components/sketches.py")
    (kind,) = eval(f"({block('components line')})", vars(module))
    monkeypatch.setitem(components.COMPONENTS, kind.name, kind)
    model = rankae.RankAE("fast", min_df=1).fit(TEXTS, LABELS)
    assert "sketches" in model.model_.state()[0]["components"]
    assert model.predict(["an apple"]) == [["fruit"]]
    model.save(tmp_path / "model")
    again = rankae.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_top(TEXTS[:4], k=3)[1], model.predict_top(TEXTS[:4], k=3)[1])
