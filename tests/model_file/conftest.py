"""A toy model on disk, and what it takes to tamper with one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankae.errors import ModelFileError
from rankae.model_file import read_model, write_model


@pytest.fixture(scope="session")
def toy() -> dict[str, Any]:
    """What `write` puts into a model, with values that are easily lost on the way."""
    return {
        "method": "toy",
        "settings": {"ngrams": (1, 2), "threshold": float("-inf"), "nested": {"list": [1, None, {"x": "y"}]}},
        "arrays": {
            "codes": np.arange(12, dtype=np.float32).reshape(3, 4),
            "transposed": np.arange(6, dtype=np.int64).reshape(2, 3).T,
            "scalar": np.float64(2.5) * np.ones(()),
            "none": np.empty((0, 4), dtype=np.float32),
            "flags": np.array([True, False, True]),
            "halves": np.array([0.5, 1.5], dtype=np.float16),
        },
        "tables": {
            "labels": ["news", "日本語", 'quo"te\n', 3, -1.5, True, None, (1, ("a", None)), ()],
            "words": ["a"],
        },
    }


@pytest.fixture(scope="session")
def write(toy: dict[str, Any]) -> Callable[..., Path]:
    """Write the toy model, some of its content changed."""

    def write_toy(place: Path, **changes: Any) -> Path:
        write_model(place, **(toy | changes))
        return place

    return write_toy


@pytest.fixture
def place(tmp_path: Path, write: Callable[..., Path]) -> Path:
    return write(tmp_path / "model")


@pytest.fixture(scope="session")
def refused() -> Callable[..., str]:
    """Read what must be refused, and give the one sentence that says why."""

    def read_refused(place: Path, **options: Any) -> str:
        with pytest.raises(ModelFileError) as caught:
            read_model(place, **options)
        sentence = str(caught.value)
        assert "\n" not in sentence
        return sentence

    return read_refused


@pytest.fixture(scope="session")
def forge() -> Callable[[Path, Callable[[dict[str, Any]], Any]], None]:
    """Change model.json as somebody would who knows the format: with the right SHA-256."""

    def edit_manifest(place: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
        manifest = json.loads((place / "model.json").read_text())
        del manifest["sha256"]
        edit(manifest)
        text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
        manifest["sha256"] = hashlib.sha256(text.encode()).hexdigest()
        (place / "model.json").write_text(json.dumps(manifest))

    return edit_manifest


@pytest.fixture(scope="session")
def replace_file(forge: Callable[..., None]) -> Callable[[Path, str, bytes], None]:
    """Swap a file and record its new size and SHA-256."""

    def swap(place: Path, name: str, new: bytes) -> None:
        (place / name).write_bytes(new)
        record = {"size": len(new), "sha256": hashlib.sha256(new).hexdigest()}
        forge(place, lambda manifest: manifest["files"].update({name: record}))

    return swap
