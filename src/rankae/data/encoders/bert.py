"""Inference of BERT and RoBERTa encoders from their safetensors files, in plain torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional

from rankae.errors import DataError

READ_TYPES = ("bert", "roberta", "xlm-roberta", "camembert")
_ACTIVATIONS = {
    "gelu": functional.gelu,
    "gelu_new": lambda x: functional.gelu(x, approximate="tanh"),
    "gelu_pytorch_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "relu": functional.relu,
}
_EMBEDDINGS = "embeddings.word_embeddings.weight"


class Bert:
    """Embeddings, layers of attention and of two products, and a pooling of the last layer."""

    def __init__(self, config: dict[str, Any], tensors: dict[str, torch.Tensor], pooling: str, window: int) -> None:
        if config.get("model_type") not in READ_TYPES:
            raise DataError(
                f"encoders of type {config.get('model_type')!r} are read as ONNX only (onnx/model.onnx in the folder); "
                f"from safetensors, those of type {', '.join(READ_TYPES)}"
            )
        prefix = next((name.removesuffix(_EMBEDDINGS) for name in tensors if name.endswith(_EMBEDDINGS)), None)
        if prefix is None:
            raise DataError("the encoder's safetensors file has no word embeddings")
        self.weights = {n.removeprefix(prefix): t.float() for n, t in tensors.items() if n.startswith(prefix)}
        self.layers, self.heads = int(config["num_hidden_layers"]), int(config["num_attention_heads"])
        self.epsilon = float(config.get("layer_norm_eps", 1e-12))
        activation = config.get("hidden_act", "gelu")
        if activation not in _ACTIVATIONS or config.get("position_embedding_type", "absolute") != "absolute":
            raise DataError(f"an encoder with activation {activation!r} or relative positions is read as ONNX only")
        self.activation, self.pooling = _ACTIVATIONS[activation], pooling
        self.size = int(config["hidden_size"])
        # RoBERTa's positions start after the id of its padding token.
        self.first_position = 0 if config["model_type"] == "bert" else int(config.get("pad_token_id", 1)) + 1
        positions = len(self.weights["embeddings.position_embeddings.weight"]) - self.first_position
        self.window: int | None = max(8, min(window, positions))

    def pooled(self, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            ids, size = torch.from_numpy(tokens), torch.from_numpy(lengths)
            inside = torch.arange(ids.shape[1])[None] < size[:, None]
            states = self._states(ids, inside)
            if self.pooling == "cls":
                return states[:, 0].numpy()
            if self.pooling == "max":
                return states.masked_fill(~inside[:, :, None], -torch.inf).amax(1).numpy()
            return ((states * inside[:, :, None]).sum(1) / size[:, None]).numpy()

    def _states(self, ids: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
        """The last layer, windows x subwords x size."""
        w = self.weights
        positions = self.first_position + torch.arange(ids.shape[1])
        x = functional.embedding(ids, w[_EMBEDDINGS])
        x = x + w["embeddings.position_embeddings.weight"][positions]
        x = self._normed(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        mask = None if bool(inside.all()) else inside[:, None, None, :]
        for layer in range(self.layers):
            prefix = f"encoder.layer.{layer}."
            query, key, value = (
                self._by_head(self._linear(x, f"{prefix}attention.self.{which}")) for which in ("query", "key", "value")
            )
            mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
            mixed = mixed.transpose(1, 2).reshape(x.shape)
            x = self._normed(
                x + self._linear(mixed, f"{prefix}attention.output.dense"), f"{prefix}attention.output.LayerNorm"
            )
            wide = self.activation(self._linear(x, f"{prefix}intermediate.dense"))
            x = self._normed(x + self._linear(wide, f"{prefix}output.dense"), f"{prefix}output.LayerNorm")
        return x

    def _linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _normed(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return functional.layer_norm(
            x, (self.size,), self.weights[f"{name}.weight"], self.weights[f"{name}.bias"], self.epsilon
        )

    def _by_head(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)
