"""The registry: lazy, and plain about what is missing."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from rankae.errors import MissingExtra, ModelFileError, RankaeError
from rankae.methods import registry


def test_listing_methods_imports_none_of_their_libraries() -> None:
    heavy = "{'torch', 'sklearn', 'scipy', 'omikuji', 'napkinxc', 'fasttext', 'numba'}"
    code = f"import sys, rankae.rivals as r; r.names(); print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_method_is_one_sentence_with_the_known_ones() -> None:
    with pytest.raises(RankaeError, match="no method 'svm'; choose one of .*parabel"):
        registry.create("svm")


def test_an_unknown_parameter_is_one_sentence_with_the_known_ones() -> None:
    with pytest.raises(RankaeError, match="knn has no parameter 'k'; it has neighbours"):
        registry.create("knn", k=3)


def test_a_value_of_the_wrong_type_is_one_sentence() -> None:
    with pytest.raises(RankaeError, match=r"^knn: neighbours cannot be 'five'; it takes a whole number$"):
        registry.create("knn", neighbours="five")
    registry.create("one-vs-rest", random_state=np.random.RandomState(0))  # of any type
    registry.create("rank-ae", ngrams=[1, 2])  # as JSON has it


@pytest.mark.parametrize("name", [n for n, method in registry.METHODS.items() if method.extra_package])
def test_a_missing_extra_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method = registry.METHODS[name]
    monkeypatch.delitem(sys.modules, method.where.partition(":")[0], raising=False)
    for module in [m for m in sys.modules if m.partition(".")[0] == method.extra_package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, method.extra_package, None)  # what Python does for "not installed"
    with pytest.raises(MissingExtra, match=rf"the method {name} needs .*rankae\[rivals\]"):
        registry.create(name)


def test_parameters_go_over_those_the_name_stands_for(monkeypatch: pytest.MonkeyPatch) -> None:
    near = registry.Method("rankae.rivals.knn:NearestRows", "", parameters={"neighbours": 1})
    monkeypatch.setitem(registry.METHODS, "nearest", near)
    assert registry.create("nearest").neighbours == 1
    assert registry.create("nearest", neighbours=5).neighbours == 5


def test_the_method_in_the_file_is_the_registered_name() -> None:
    for name, method in registry.METHODS.items():
        if not method.where.startswith("rankae.rivals.") or method.extra_package:
            continue
        assert registry.class_of(name).method == name


@pytest.mark.parametrize("name", ["knn", "one-vs-rest", "classifier-chain"])
def test_a_forged_matrix_is_refused_before_any_loop_reads_it(name: str) -> None:
    Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]] * 3)
    model = registry.create(name).fit(np.eye(12, dtype=np.float32), Y)
    settings, arrays = model._state()
    forged = next(n for n in arrays if n.endswith(".indices"))
    for wrong in (10**6, -7):
        bad = arrays[forged].copy()
        bad[0] = wrong
        with pytest.raises(ModelFileError, match="missing or inconsistent"):
            model._restore(settings, arrays | {forged: bad})
