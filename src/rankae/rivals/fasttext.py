"""fastText's supervised mode (Joulin et al., 2017), by the fasttext-numpy2 package.

fastText reads a file with `__label__N` before the words of each line, and writes its own model file.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import fasttext
import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from rankae.base import LabelRanker
from rankae.errors import DataError
from rankae.rivals._packed_folder import pack, unpack
from rankae.rivals._ranked import Ranked, rank_pairs
from rankae.rivals._word_ids import tokens_of

MODEL_FILE = "model.bin"
MARK = "__label__"


class FastText(LabelRanker):
    """Mean of word (and word n-gram) vectors, then a linear classifier.

    fastText's own defaults (rate 0.1, 5 epochs, softmax) are for few classes and millions of rows. With many labels
    a row and thousands of rows they underfit badly; the defaults here were chosen on held-out rows of debtags and
    tmdb-plots (see docs/results/rivals.md).

    Parameters
    ----------
    learning_rate, epochs : of SGD; the rate falls linearly to 0.
    dim : size of word vectors.
    loss : "ova" (one-vs-all, every label of a row at each step), "softmax" or "hs" (hierarchical softmax);
        the last two train on one random label of a row at each step.
    word_ngrams : longest run of words that has a vector; runs are hashed into `buckets` vectors.
    min_count : rarer words are ignored.
    n_jobs : threads; with more than one a seed no longer fixes the result.
    random_state : seed.
    """

    method = "fasttext"
    reads = "text"

    def __init__(
        self,
        learning_rate: float = 0.5,
        epochs: int = 25,
        dim: int = 100,
        loss: str = "ova",
        word_ngrams: int = 1,
        buckets: int = 200_000,
        min_count: int = 1,
        n_jobs: int = 1,
        random_state: Any = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.dim = dim
        self.loss = loss
        self.word_ngrams = word_ngrams
        self.buckets = buckets
        self.min_count = min_count
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, rows: list[str], labels: sp.csr_matrix) -> None:
        if labels.nnz == 0:
            raise DataError("fasttext cannot learn: no row has a label")
        with TemporaryDirectory(prefix="rankae-") as folder:
            path = Path(folder) / "train.txt"
            write_fasttext_file(path, rows, labels)
            self.model_ = fasttext.train_supervised(
                input=str(path),
                lr=self.learning_rate,
                epoch=self.epochs,
                dim=self.dim,
                loss=self.loss,
                wordNgrams=self.word_ngrams,
                bucket=self.buckets if self.word_ngrams > 1 else 0,
                minCount=self.min_count,
                thread=self.n_jobs,
                seed=check_random_state(self.random_state).randint(2**31 - 1),
                verbose=0,
            )

    def _top(self, rows: list[str], k: int) -> Ranked:
        names, scores = self.model_.predict(lines_of(rows), k=k)
        answers = [
            [(int(name.removeprefix(MARK)), float(score)) for name, score in zip(*row, strict=True)]
            for row in zip(names, scores, strict=True)
        ]
        return rank_pairs(answers, k)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        with TemporaryDirectory(prefix="rankae-") as folder:
            self.model_.save_model(str(Path(folder) / MODEL_FILE))
            return {}, pack(folder)

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        with unpack(arrays) as folder:
            self.model_ = fasttext.load_model(str(Path(folder) / MODEL_FILE))


def lines_of(texts: list[str]) -> list[str]:
    """Each text as its words, lower case, with one space between: fastText only splits at white space.

    A word that looks like a label to fastText loses its mark.
    """
    return [" ".join(tokens).replace(MARK, "") for tokens in tokens_of(texts)]


def write_fasttext_file(path: Path, texts: list[str], labels: sp.csr_matrix) -> None:
    """A line a row; rows without a label teach fastText nothing and are left out."""
    with path.open("w", encoding="utf-8") as file:
        for row, line in enumerate(lines_of(texts)):
            columns = labels.indices[labels.indptr[row] : labels.indptr[row + 1]].tolist()
            if columns:
                file.write(" ".join(f"{MARK}{column}" for column in columns) + f" {line}\n")
