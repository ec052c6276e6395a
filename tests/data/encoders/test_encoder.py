"""Encoders read texts as their networks were made to, in windows, batches and from the cache, with the same result."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from torch import nn

from rankae.data.encoders import Encoder, open_encoder
from rankae.data.encoders.places import encoder_of_digest
from rankae.errors import DataError


def torch_layer(tensors: dict, layer: int, size: int) -> nn.TransformerEncoderLayer:
    """The same layer by torch's own class."""
    own = nn.TransformerEncoderLayer(size, 2, 16, 0.0, "gelu", layer_norm_eps=1e-12, batch_first=True)
    at = f"encoder.layer.{layer}"

    def both(name: str) -> list[torch.Tensor]:
        return [tensors[f"{at}.{name}.{kind}"] for kind in ("weight", "bias")]

    parts = [both(f"attention.self.{which}") for which in ("query", "key", "value")]
    with torch.no_grad():
        own.self_attn.in_proj_weight.copy_(torch.cat([weight for weight, _ in parts]))
        own.self_attn.in_proj_bias.copy_(torch.cat([bias for _, bias in parts]))
        for module, name in (
            (own.self_attn.out_proj, "attention.output.dense"),
            (own.norm1, "attention.output.LayerNorm"),
            (own.linear1, "intermediate.dense"),
            (own.linear2, "output.dense"),
            (own.norm2, "output.LayerNorm"),
        ):
            module.weight.copy_(both(name)[0])
            module.bias.copy_(both(name)[1])
    return own.train()


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_a_bert_says_what_torchs_own_layers_say(encoders, pooling):
    tensors = encoders.tensors(0)
    ids = torch.tensor([[2, 4, 6, 3]])  # [CLS] red apple [SEP]
    with torch.no_grad():
        words, positions, types = (
            tensors[f"embeddings.{of}_embeddings.weight"] for of in ("word", "position", "token_type")
        )
        states = words[ids] + positions[:4] + types[0]
        norm = [tensors[f"embeddings.LayerNorm.{kind}"] for kind in ("weight", "bias")]
        states = nn.functional.layer_norm(states, (encoders.size,), *norm, eps=1e-12)
        for layer in range(encoders.layers):
            states = torch_layer(tensors, layer, encoders.size)(states)
    expected = {"mean": states.mean(1), "cls": states[:, 0], "max": states.amax(1)}[pooling][0].numpy()
    found = open_encoder(encoders.bert(pooling=pooling)).encode(["Red apple"])[0]
    np.testing.assert_allclose(found, expected / np.linalg.norm(expected), atol=1e-5)


def test_texts_of_any_length_are_read_alike_alone_and_together(encoders):
    encoder = open_encoder(encoders.bert())
    texts = ["red apple", "", "green pear wine " * 9, "beer", "red " * 4000, "unknown words"]
    together = encoder.encode(texts)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_allclose(encoder.encode([text])[0], vector, atol=1e-5)
    assert not together[1].any()
    np.testing.assert_allclose(np.linalg.norm(together[[0, 2, 3, 4, 5]], axis=1), 1, atol=1e-5)


def test_the_end_of_a_long_text_counts(encoders):
    encoder = open_encoder(encoders.bert())
    begin = "red apple " * 6
    assert np.abs(encoder.encode([begin]) - encoder.encode([begin + "beer wine beer"])).max() > 1e-4


def test_a_static_table_gives_the_mean_of_its_rows(encoders):
    encoder = open_encoder(encoders.static())
    red, apple, both = encoder.encode(["red", "apple", "Red apple"])
    raw = np.random.default_rng(0).standard_normal((len(encoders.words), encoders.size)).astype(np.float16)
    mean = raw[4].astype(np.float32) + raw[6].astype(np.float32)
    np.testing.assert_allclose(both, mean / np.linalg.norm(mean), atol=1e-5)
    assert encoder.quick
    assert np.abs(red - apple).max() > 0.1


def test_what_is_cached_is_not_read_again_and_damage_is(encoders, monkeypatch):
    encoder = open_encoder(encoders.bert())
    texts = [f"red apple {'wine ' * i}" for i in range(80)]
    first = encoder.encode(texts)
    cache = next((encoders.folder / "cache" / "rankae" / "encoded").glob("*.vectors"))
    monkeypatch.setattr(Encoder, "_encoded", lambda *_: pytest.fail("it was read again"))
    np.testing.assert_array_equal(encoder.encode(texts[::-1]), first[::-1])
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(encoders.folder / "cache"))
    data = bytearray(cache.read_bytes())
    data[40] ^= 1  # in the vector of the first record
    cache.write_bytes(data[:-7])  # and the last one is cut off, as by a kill
    np.testing.assert_allclose(encoder.encode(texts), first, atol=1e-6)
    np.testing.assert_allclose(encoder.encode(texts), first, atol=1e-6)


def test_an_encoder_is_found_again_by_its_digest_and_no_other_is_taken(encoders, monkeypatch):
    folder = encoders.bert()
    encoder = open_encoder(folder)
    assert encoder_of_digest(encoder.name, encoder.digest).digest == encoder.digest  # the user's cache knows where
    monkeypatch.setenv("XDG_CACHE_HOME", str(encoders.folder / "another"))
    with pytest.raises(DataError, match="not on this machine; name its folder in the environment variable"):
        encoder_of_digest(encoder.name, encoder.digest)
    with pytest.raises(DataError, match="not on this machine"):
        encoder_of_digest(str(folder), encoder.digest)  # a path in a model file is never followed
    monkeypatch.setenv("RANKAE_ENCODERS", str(folder))
    assert encoder_of_digest(encoder.name, encoder.digest).digest == encoder.digest
    monkeypatch.setenv("RANKAE_ENCODERS", str(encoders.bert("other", seed=1)))
    with pytest.raises(DataError, match="other weights"):
        encoder_of_digest(encoder.name, encoder.digest)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda folder: (folder / "tokenizer.json").unlink(), "needs tokenizer.json"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "not a tokenizer"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"12345678"), "not a safetensors file"),
        (lambda folder: (folder / "config.json").write_text("[1"), "not JSON"),
        (lambda folder: (folder / "config.json").write_text('{"model_type": "mpnet"}'), "read as ONNX only"),
        (lambda folder: (folder / "config.json").write_text('{"model_type": "bert"}'), "lack what an encoder needs"),
    ],
)
def test_a_damaged_folder_is_one_sentence(encoders, damage, why):
    folder = encoders.bert()
    damage(folder)
    with pytest.raises(DataError, match=why):
        open_encoder(folder)


def test_an_unknown_name_says_what_there_is():
    with pytest.raises(DataError, match="there is no encoder 'no-such-encoder'"):
        open_encoder("no-such-encoder")


def test_an_onnx_encoder_is_pooled_like_any_other(encoders):
    onnx = pytest.importorskip("onnxruntime")
    assert onnx
    folder = encoders.bert()
    write_onnx(folder / "model.onnx", table=np.arange(12 * 4, dtype=np.float32).reshape(12, 4))
    (folder / "model.safetensors").unlink()
    found = open_encoder(folder).encode(["red apple"])[0]
    mean = np.arange(12 * 4, dtype=np.float32).reshape(12, 4)[[2, 4, 6, 3]].mean(0)
    np.testing.assert_allclose(found, mean / np.linalg.norm(mean), atol=1e-6)
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(DataError, match="not an ONNX model"):
        open_encoder(folder)


def write_onnx(path, table: np.ndarray) -> None:
    """The least network in ONNX, written by hand: last_hidden_state = table[input_ids]."""

    def field(number: int, value: bytes | int | str) -> bytes:
        if isinstance(value, int):
            return varint(number << 3) + varint(value)
        value = value.encode() if isinstance(value, str) else value
        return varint(number << 3 | 2) + varint(len(value)) + value

    def varint(n: int) -> bytes:
        out = bytearray()
        while n > 127:
            out.append(n & 127 | 128)
            n >>= 7
        return bytes([*out, n])

    def tensor_type(kind: int, *dims: str | int) -> bytes:
        shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
        return field(1, field(1, kind) + field(2, shape))

    node = field(1, "table") + field(1, "input_ids") + field(2, "last_hidden_state") + field(4, "Gather")
    weights = b"".join(field(1, n) for n in table.shape) + field(2, 1) + field(8, "table") + field(9, table.tobytes())
    given = field(1, "input_ids") + field(2, tensor_type(7, "rows", "subwords"))
    made = field(1, "last_hidden_state") + field(2, tensor_type(1, "rows", "subwords", table.shape[1]))
    graph = field(1, node) + field(2, "graph") + field(5, weights) + field(11, given) + field(12, made)
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(2, 13)))


def test_a_pickled_model_finds_its_encoder(encoders):
    from rankae.data.vectors import VectorBlock

    encoder = open_encoder(encoders.bert())
    block = pickle.loads(pickle.dumps(VectorBlock(encoder.size, 1.0, encoder)))  # noqa: S301
    np.testing.assert_allclose(block.vectors(["red"]), encoder.encode(["red"]), atol=1e-6)
