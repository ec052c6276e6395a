"""Model files of other libraries, stored inside ours.

Omikuji, napkinXC and fastText can only read and write files in their own formats. Each file becomes one uint8 array of
the model file; for prediction, the arrays are written to a temporary folder that lives as long as the model.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

PREFIX = "file."


def pack(folder: str | Path) -> dict[str, np.ndarray]:
    """The files of a (flat) folder as arrays."""
    files = sorted(Path(folder).iterdir())
    return {PREFIX + file.name: np.fromfile(file, dtype=np.uint8) for file in files}


def unpack(arrays: dict[str, np.ndarray]) -> TemporaryDirectory:
    """Put packed files into a temporary folder, removed when the returned object goes."""
    folder = TemporaryDirectory(prefix="rankae-")
    for name, content in arrays.items():
        if name.startswith(PREFIX):
            np.asarray(content, dtype=np.uint8).tofile(Path(folder.name) / Path(name.removeprefix(PREFIX)).name)
    return folder
