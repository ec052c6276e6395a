"""Pretrained encoders, which map a text to a vector of a few hundred numbers.

An encoder is a local folder or an installed package; nothing is ever downloaded. Two kinds are supported: sentence
encoders (BERT-like, ONNX or safetensors) and static tables of subword vectors (model2vec, wordllama).
"""

from __future__ import annotations

from rankae.data.encoders.encoder import Encoder, Vectors
from rankae.data.encoders.places import find_encoder, installed_encoders, open_encoder

__all__ = ["Encoder", "Vectors", "find_encoder", "installed_encoders", "open_encoder"]
