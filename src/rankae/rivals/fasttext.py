"""fastText's supervised mode (Joulin et al., 2017), by the fasttext-numpy2 package.

fastText reads a file with `__label__N` before the words of each line, and writes its own model file.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Literal

import fasttext
import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from rankae.base.native import PickledByState
from rankae.base.parameters import Count, Positive, RandomState, Threads
from rankae.base.ranker import LabelRanker
from rankae.base.search_space import Between, OneOf, Space
from rankae.errors import DataError
from rankae.rivals._native_probe import FASTTEXT, probe
from rankae.rivals._packed_folder import pack, unpack
from rankae.rivals._ranked import Ranked, rank_pairs
from rankae.rivals._word_ids import tokens_of

MODEL_FILE = "model.bin"
MARK, END_OF_LINE = "__label__", "</s>"  # fastText's own marks
# One-vs-all looks at every label at every step. With the 36,468 of debdeps it diverges, and would take hours.
_MOST_ONE_VS_ALL = 4000


@dataclass(kw_only=True, eq=False, repr=False)
class FastText(PickledByState, LabelRanker):
    """Mean of word (and word n-gram) vectors, then a linear classifier.

    fastText's own defaults (rate 0.1, 5 epochs, softmax) are for few classes and millions of rows. With many labels
    a row and thousands of rows they underfit badly; the defaults here were chosen on held-out rows of debtags and
    tmdb-plots (see docs/results/rivals.md).

    Parameters
    ----------
    learning_rate, epochs : of SGD; the rate falls linearly to 0.
    dim : size of word vectors.
    loss : "ova" (one-vs-all, every label of a row at each step), "softmax" or "hs" (hierarchical softmax);
        the last two train on one random label of a row at each step. "auto" is "ova", or "hs" for over 4,000 labels.
    word_ngrams : longest run of words that has a vector (each its own, where fastText would hash them).
    min_count : rarer words and runs are ignored.
    n_jobs : threads; with more than one a seed no longer fixes the result.
    random_state : seed.
    """

    method = "fasttext"
    reads = "text"
    search_space: ClassVar[Space] = {
        "learning_rate": Between(0.05, 1.0, log=True),
        "epochs": OneOf((10, 25, 50)),
        "word_ngrams": OneOf((1, 2)),
    }

    learning_rate: Positive = 0.2
    epochs: Count = 25
    dim: Count = 100
    loss: Literal["auto", "ova", "softmax", "hs"] = "auto"
    word_ngrams: Count = 1
    min_count: Count = 1
    n_jobs: Threads = 1
    random_state: RandomState = None

    def _fit(self, rows: list[str], labels: sp.csr_matrix) -> None:
        if labels.nnz == 0:
            raise DataError("fasttext cannot learn: no row has a label")
        random = check_random_state(self.random_state)
        loss = self.loss
        if loss == "auto":
            loss = "ova" if labels.shape[1] <= _MOST_ONE_VS_ALL else "hs"
        lines = self._lines(rows)
        counts = Counter(word for line in lines for word in line)
        words = sorted(word for word, count in counts.items() if count >= self.min_count)
        with TemporaryDirectory(prefix="rankae-") as folder:
            examples, start = Path(folder) / "train.txt", Path(folder) / "start.vec"
            write_examples(examples, lines, labels, set(words))
            write_start(start, [*words, END_OF_LINE], self.dim, random)
            try:
                self.model_ = fasttext.train_supervised(
                    input=str(examples),
                    pretrainedVectors=str(start),
                    lr=self.learning_rate,
                    epoch=self.epochs,
                    dim=self.dim,
                    loss=loss,
                    bucket=0,
                    thread=self.n_jobs,
                    seed=random.randint(2**31 - 1),
                    verbose=0,
                )
            except RuntimeError as error:
                if "NaN" not in str(error):
                    raise
                raise DataError(f"fasttext diverged: lower its learning_rate of {self.learning_rate}") from error

    def _lines(self, rows: list[str]) -> list[list[str]]:
        return [with_ngrams(tokens, self.word_ngrams) for tokens in tokens_of(rows)]

    def _top(self, rows: list[str], k: int) -> Ranked:
        names, scores = self.model_.predict([" ".join(line) for line in self._lines(rows)], k=k)
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
            probe(self.method, FASTTEXT.format(name=MODEL_FILE), folder, 100)
            self.model_ = fasttext.load_model(str(Path(folder) / MODEL_FILE))


def with_ngrams(words: list[str], longest: int) -> list[str]:
    """The words, then their runs of 2 up to `longest` as words of their own; none that fastText takes for a label."""
    words = [word.replace(MARK, "") or "_" for word in words]
    runs = (zip(*(words[i:] for i in range(n)), strict=False) for n in range(2, longest + 1))
    return words + ["|".join(run) for same_length in runs for run in same_length]


def write_examples(path: Path, lines: list[list[str]], labels: sp.csr_matrix, words: set[str]) -> None:
    """A line a row, only with words that are in `words`; rows without a label teach fastText nothing: left out."""
    with path.open("w", encoding="utf-8") as file:
        for row, line in enumerate(lines):
            columns = labels.indices[labels.indptr[row] : labels.indptr[row + 1]].tolist()
            if columns:
                marked = [f"{MARK}{column}" for column in columns]
                file.write(" ".join(marked + [word for word in line if word in words]) + "\n")


def write_start(path: Path, words: list[str], dim: int, random: np.random.RandomState) -> None:
    """The random vectors that training starts from.

    fastText draws them itself, but with one thread, the only setting in which a seed fixes the result, it fills
    a tenth of its table and leaves the rest as the memory was found, often NaN.
    """
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{len(words)} {dim}\n")
        for word in words:
            vector = random.uniform(-1 / dim, 1 / dim, dim)
            file.write(f"{word} " + " ".join([f"{value:.4g}" for value in vector.tolist()]) + "\n")
