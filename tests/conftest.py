"""What all tests share: quiet threads, repeatable random examples, the command line, and the way to real data."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Two workers run on two cores (`pytest -n 2`): more threads than that would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from rankae.cli.entry import run

# Only tests that ask for real data may see it: word vectors that lie there would change what others train. It stays in
# the environment by another name, for the workers of `pytest -n` have theirs from this process.
if "RANKAE_DATA" in os.environ:
    os.environ["RANKAE_TEST_DATA"] = os.environ.pop("RANKAE_DATA")
_REAL_DATA = os.environ.get("RANKAE_TEST_DATA")

settings.register_profile("rankae", deadline=None, derandomize=True)
settings.load_profile("rankae")


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


@pytest.fixture
def rankae(capfdbinary, monkeypatch) -> Callable[..., Ran]:
    """Run `rankae ARGUMENTS` with `stdin` as its standard input."""

    def call(*arguments: object, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Ran(code, out.decode(), err.decode())

    return call


@pytest.fixture
def real_data() -> Callable[[str], Path]:
    """Gives the folder of a real data set by name, or skips the test where there is none."""

    def folder(name: str) -> Path:
        if not _REAL_DATA:
            pytest.skip("RANKAE_DATA is not set, so there is no real data to test on")
        found = Path(_REAL_DATA) / name
        if not found.is_dir():
            pytest.skip(f"there is no data set {name} in {_REAL_DATA}")
        return found

    return folder


@pytest.fixture
def encoders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TinyEncoders:
    """Writes encoders of a few words; the cache of what they have read is the test's own."""
    pytest.importorskip("tokenizers")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return TinyEncoders(tmp_path)


class TinyEncoders:
    """Folders of encoders as the Hugging Face hub has them, with random weights."""

    words = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "apple", "pear", "wine", "beer", "fruit", "drink")
    size = 8
    layers = 2

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def bert(self, name: str = "tiny-bert", seed: int = 0, pooling: str = "mean") -> Path:
        from safetensors.torch import save_file

        folder = self.folder / name
        (folder / "1_Pooling").mkdir(parents=True)
        config = {
            "model_type": "bert", "hidden_size": self.size, "num_hidden_layers": self.layers, "hidden_act": "gelu",
            "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 12, "layer_norm_eps": 1e-12,
        }  # fmt: skip
        modes = {f"pooling_mode_{mode}_tokens": mode == pooling for mode in ("mean", "max")}
        pooled = modes | {"pooling_mode_cls_token": pooling == "cls"}
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooled))
        save_file(self.tensors(seed), str(folder / "model.safetensors"))
        self._write_tokenizer(folder, framed=True)
        return folder

    def static(self, name: str = "tiny-table", seed: int = 0) -> Path:
        """As model2vec keeps it."""
        import numpy as np
        from safetensors.numpy import save_file

        folder = self.folder / name
        folder.mkdir()
        table = np.random.default_rng(seed).standard_normal((len(self.words), self.size)).astype(np.float16)
        save_file({"embeddings": table}, str(folder / "model.safetensors"))
        (folder / "config.json").write_text(json.dumps({"model_type": "model2vec"}))
        self._write_tokenizer(folder, framed=False)
        return folder

    def tensors(self, seed: int) -> dict[str, Any]:
        """Of a BERT, by their usual names."""
        import torch

        generator, h = torch.Generator().manual_seed(seed), self.size
        shapes = {"embeddings.word_embeddings": (len(self.words), h), "embeddings.position_embeddings": (12, h)}
        shapes |= {"embeddings.token_type_embeddings": (2, h), "embeddings.LayerNorm": (h,)}
        for own in (f"encoder.layer.{layer}" for layer in range(self.layers)):
            shapes |= {f"{own}.attention.self.{which}": (h, h) for which in ("query", "key", "value")}
            shapes |= {f"{own}.attention.output.dense": (h, h), f"{own}.attention.output.LayerNorm": (h,)}
            shapes |= {f"{own}.intermediate.dense": (16, h), f"{own}.output.dense": (h, 16)}
            shapes |= {f"{own}.output.LayerNorm": (h,)}
        tensors = {f"{name}.weight": torch.randn(shape, generator=generator) for name, shape in shapes.items()}
        biased = [name for name in shapes if "_embeddings" not in name]
        tensors |= {f"{name}.bias": 0.1 * torch.randn(shapes[name][0], generator=generator) for name in biased}
        return tensors | {f"{name}.weight": 1 + tensors[f"{name}.bias"] for name in shapes if "LayerNorm" in name}

    def _write_tokenizer(self, folder: Path, framed: bool) -> None:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

        vocabulary = {word: i for i, word in enumerate(self.words)}
        tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.Lowercase()
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        if framed:
            tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
        tokenizer.enable_truncation(4)  # as such files often say; windows see to it instead
        tokenizer.save(str(folder / "tokenizer.json"))
