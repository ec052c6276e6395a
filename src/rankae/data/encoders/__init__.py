"""Pretrained encoders: from a text to one vector of a few hundred numbers, such that texts on one thing lie together.

An encoder is a local folder, or an installed package that carries one; nothing is ever downloaded. Two kinds are read:
sentence encoders (BERT-like, ONNX or safetensors) and static tables of subword vectors (model2vec, wordllama).
"""

from __future__ import annotations

from rankae.data.encoders.encoder import Encoder, Vectors
from rankae.data.encoders.places import find_encoder, installed_encoders, open_encoder

__all__ = ["Encoder", "Vectors", "find_encoder", "installed_encoders", "open_encoder"]
