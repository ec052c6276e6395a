"""Sentence encoders in ONNX, through onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from rankae.errors import DataError, MissingExtra


class OnnxEncoder:
    """An ONNX network of subwords; if it does not pool its last layer, that is done here."""

    def __init__(self, path: Path, pooling: str, window: int) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise MissingExtra(f"the encoder {path}", "encoder") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        options.log_severity_level = 3
        try:
            self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has a class of exception for each way to fail
            raise DataError(f"{path} is not an ONNX model that can be read: {str(error).splitlines()[0]}") from None
        self.inputs = {tensor.name for tensor in self.session.get_inputs()}
        if not {"input_ids"} <= self.inputs <= {"input_ids", "attention_mask", "token_type_ids", "position_ids"}:
            raise DataError(
                f"{path} reads {', '.join(sorted(self.inputs))}; an encoder reads input_ids, attention_mask"
            )
        outputs = {tensor.name: tensor for tensor in self.session.get_outputs()}
        self.pools = "sentence_embedding" in outputs
        self.output = "sentence_embedding" if self.pools else next(iter(outputs))
        size = outputs[self.output].shape[-1]
        if not isinstance(size, int):
            size = self._run(np.array([[0]]), np.array([1])).shape[-1]
        self.size, self.pooling = int(size), pooling
        self.window: int | None = window

    def pooled(self, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        states = self._run(tokens, lengths).astype(np.float32)
        if self.pools or states.ndim == 2:
            return states
        inside = np.arange(tokens.shape[1])[None] < lengths[:, None]
        if self.pooling == "cls":
            return states[:, 0]
        if self.pooling == "max":
            return np.where(inside[:, :, None], states, -np.inf).max(axis=1)
        return (states * inside[:, :, None]).sum(axis=1) / lengths[:, None].astype(np.float32)

    def _run(self, tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        inside = (np.arange(tokens.shape[1])[None] < lengths[:, None]).astype(np.int64)
        values: dict[str, Any] = {
            "input_ids": tokens.astype(np.int64),
            "attention_mask": inside,
            "token_type_ids": np.zeros_like(inside),
            "position_ids": np.broadcast_to(np.arange(tokens.shape[1]), tokens.shape).astype(np.int64),
        }
        return self.session.run([self.output], {name: values[name] for name in self.inputs})[0]
