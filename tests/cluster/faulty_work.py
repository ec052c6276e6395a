"""Work that goes wrong once, as its settings say: a mark in a folder tells that it has."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np


def doubled(shared: dict[str, Any], settings: dict[str, Any], span: tuple[int, int]) -> dict[str, np.ndarray]:
    mark = Path(settings["marks"]) / f"{span[0]}"
    if span[0] == 0 and (settings["always"] or not mark.exists()):
        mark.touch()
        if settings["fault"] == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if settings["fault"] == "hangs":
            time.sleep(600)
        if settings["fault"] == "disk full":
            raise OSError(28, "No space left on device")
    return {"twice": 2 * shared["numbers"][span[0] : span[1]]}
