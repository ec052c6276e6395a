"""rankae, omikuji and napkinXC, each measured from its cheapest entry.

omikuji: its C functions on arrays that are ready: neither writing and predicted its input file nor its Python loop over
words is on the clock, its weights are made dense before, and rows are shared out among threads. napkinXC: its calls on
CSR matrices, the model loaded before. rankae: `fit` and `top_columns`, with all that they check and prepare.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

K = 5
Answer = Callable[[sp.csr_matrix], Any]


class System(Protocol):
    """What can be trained on a matrix and then answers with the columns of the K best labels of each row."""

    def train(self, x: sp.csr_matrix, y: sp.csr_matrix, folder: Path, threads: int) -> dict[str, Any]:
        """Train and leave the model in `folder`; "seconds" is the time of training, the rest is told beside it."""

    def answer(self, folder: Path, threads: int) -> Answer:
        """A function that predicts; it answers in the system's own form."""

    def columns(self, answer: Any) -> np.ndarray:
        """An answer as columns, [rows, K], -1 where there are fewer."""


class Rankae:
    def __init__(self, preset: str) -> None:
        self.preset = preset

    def train(self, x: sp.csr_matrix, y: sp.csr_matrix, folder: Path, threads: int) -> dict[str, Any]:
        from rankae import RankAE

        model = RankAE(self.preset, threads=threads)
        began = time.perf_counter()
        model.fit(x, y)
        seconds = time.perf_counter() - began
        model.save(folder / "model")
        return {"seconds": seconds, "parts": dict(getattr(model, "seconds_", {}))}

    def answer(self, folder: Path, threads: int) -> Answer:
        from rankae import RankAE

        model = RankAE.load(folder / "model").set_params(threads=threads)
        return lambda x: model.top_columns(x, K)[0]

    def columns(self, answer: Any) -> np.ndarray:
        return answer


class Omikuji:
    """Parabel: omikuji's default settings."""

    def train(self, x: sp.csr_matrix, y: sp.csr_matrix, folder: Path, threads: int) -> dict[str, Any]:
        from omikuji import Model, ffi, lib

        from rankae.rivals.omikuji import Parabel, quiet, write_omikuji_file

        pool = ffi.gc(lib.init_omikuji_thread_pool(threads), lib.free_omikuji_thread_pool)
        with TemporaryDirectory() as aside, quiet():
            path = Path(aside) / "train.txt"
            write_omikuji_file(path, x, y)
            began = time.perf_counter()
            data = ffi.gc(lib.load_omikuji_data_set(str(path).encode(), pool), lib.free_omikuji_data_set)
            read = time.perf_counter()
            model = Model(lib.train_omikuji_model(data, Parabel().hyper_parameters(), pool))
            seconds = time.perf_counter() - read
            model.save(str(folder))
        return {"seconds": seconds, "parts": {"predicted its file (not counted)": read - began}}

    def answer(self, folder: Path, threads: int) -> Answer:
        from omikuji import Model, ffi, lib

        from rankae.rivals.omikuji import Parabel, quiet

        with quiet():
            model = Model.load(str(folder))
            model.densify_weights(n_threads=threads)
        beam = Parabel().beam_size

        def some(x: sp.csr_matrix, rows: range, out: np.ndarray) -> None:
            # A pool of one thread: sharing out rows costs less than sharing out the three trees of each row.
            pool = ffi.gc(lib.init_omikuji_thread_pool(1), lib.free_omikuji_thread_pool)
            words = ffi.cast("uint32_t *", ffi.from_buffer(x.indices))
            weights = ffi.cast("float *", ffi.from_buffer(x.data))
            labels, scores = ffi.new("uint32_t[]", K), ffi.new("float[]", K)
            starts = x.indptr.tolist()
            for i in rows:
                a, b = starts[i], starts[i + 1]
                n = lib.omikuji_predict(
                    model._model_ptr, beam, b - a, words + a, weights + a, K, labels, scores, pool
                )  # fmt: skip
                out[i, :n] = list(labels[0:n])

        def answer(x: sp.csr_matrix) -> np.ndarray:
            out = np.full((x.shape[0], K), -1, dtype=np.int32)
            parts = min(threads, x.shape[0])
            cuts = [x.shape[0] * t // parts for t in range(parts + 1)]
            if parts == 1:
                some(x, range(*cuts), out)
                return out
            with ThreadPoolExecutor(parts) as workers:  # omikuji's call releases Python's lock
                list(workers.map(lambda a, b: some(x, range(a, b), out), cuts[:-1], cuts[1:]))
            return out

        return answer

    def columns(self, answer: Any) -> np.ndarray:
        return answer


class NapkinXC:
    """PLT: napkinXC's default settings."""

    def train(self, x: sp.csr_matrix, y: sp.csr_matrix, folder: Path, threads: int) -> dict[str, Any]:
        from napkinxc.models import PLT

        model = PLT(str(folder), threads=threads, seed=0)
        began = time.perf_counter()
        model.fit(x, y)
        return {"seconds": time.perf_counter() - began, "parts": {}}

    def answer(self, folder: Path, threads: int) -> Answer:
        from napkinxc.models import PLT

        model = PLT(str(folder), threads=threads)
        model.load()
        return lambda x: model.predict_proba(x, top_k=K)

    def columns(self, answer: Any) -> np.ndarray:
        from rankae.rivals._ranked import rank_pairs

        return rank_pairs(answer, K)[0]


def system(name: str) -> System:
    """By name: "omikuji", "napkinxc", or "rankae-PRESET"."""
    if name == "omikuji":
        return Omikuji()
    if name == "napkinxc":
        return NapkinXC()
    return Rankae(name.removeprefix("rankae-"))
