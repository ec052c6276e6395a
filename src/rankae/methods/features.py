"""The features of RankAE: words of texts, word embeddings, names of labels, and the scale of dense features.

What the user leaves open is chosen from the data and recorded in `choices_`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import Choices, choice
from rankae.base.inputs import Targets, is_text, label_matrix, labels_among, name_array
from rankae.base.ranker import LabelRanker, Rows
from rankae.base.tables import texts_of
from rankae.components.stack import Stack
from rankae.data.label_file import read_label_file
from rankae.data.label_names import LabelEntry, name_rows, weighted_names
from rankae.data.lsa import lsa_embeddings, side_by_side
from rankae.data.scaling import Scaling
from rankae.data.text import TextFeatures
from rankae.data.tokens import WORD
from rankae.data.vectors import with_vectors
from rankae.data.word_embeddings import WordEmbeddings, find_glove, glove_embeddings, glove_size, starting_vectors
from rankae.errors import DataError, ModelFileError, RankaeError
from rankae.numerics.row_search import is_dense
from rankae.numerics.threads import limited_to
from rankae.recipe.scale_choice import choose_scaling
from rankae.recipe.text_choice import TextCandidates, choose_text
from rankae.recipe.vector_choice import WEIGHTS, VectorCandidates

_LONGEST_DOCUMENT = 400
_NONE, _OWN = "none", "own"  # values of `word_vectors` that are not a file
_TITLE = 0.5  # weight of a title's words that is tried; 0.3 and 0.7 did as well
_SCALING = "scaling."  # prefix of its arrays in a model file


class ChosenFeatures(LabelRanker):
    """A ranker whose features are chosen; see `RankAE` for the parameters."""

    words: str
    word_vectors: str | Path | None
    ngrams: tuple[int, int] | None
    title: float | None
    pieces: bool | None
    min_df: int
    max_features: int | None
    token_pattern: str | None
    analyzer: str | None
    accents: str
    html: str
    hyphens: str
    encoder: str | Path | None
    encoder_weight: float | None
    label_names: bool | None
    labels: str | Path | None
    scale: str | bool | None
    threads: int | None

    @property
    @abstractmethod
    def _seed(self) -> int: ...

    @property
    @abstractmethod
    def _effort(self) -> str:
        """Which candidate features to try: "full", "low", "text" (no encoder) or "none" (the paper to the letter)."""

    def _training_rows(self, X: Any, targets: Targets, trusted: tuple[Any, Any] | None = None) -> Rows:
        self.choices_: Choices = {}
        self.scaling_: Scaling | None = None
        X = with_vectors(X)
        if not is_text(X) or len(X) != targets.matrix.shape[0]:
            if self.words != "bag":
                raise DataError("a recurrent word encoder reads raw text: give strings, not a feature matrix")
            rows = super()._training_rows(X, targets)
            # A mismatch between rows and labels is reported by the caller.
            if not isinstance(rows, list) and rows.shape[0] == targets.matrix.shape[0]:
                asked = False if self.scale is None and self._effort == "none" else self.scale
                with limited_to(self.threads):
                    self.scaling_, choices = choose_scaling(rows, targets.matrix, asked, self._seed)
                self.choices_ |= choices
            return rows if self.scaling_ is None else self.scaling_(rows)
        if self.scale:
            raise RankaeError(f"scale={self.scale} is for dense features, and texts have sparse ones; leave it out")
        if self.words != "bag":
            self.text_ = TextFeatures(min_df=self.min_df, max_features=self.max_features, **self._reading())
            self.text_.fit(X)
            self.text_.block = None  # a recurrent encoder reads words alone
            self.n_features_in_ = len(self.text_.words)
            return self.text_.sequences(X, _LONGEST_DOCUMENT)
        given = trusted is not None
        if trusted is not None:
            texts, labels = texts_of(with_vectors(trusted[0])), trusted[1]
            trusted = (texts, labels_among(labels, targets.classes, pass_over=True)) if is_text(texts) else None
        with limited_to(self.threads):
            self.text_, rows, choices = choose_text(
                X, targets.matrix, self._text_candidates(given), self._seed, trusted
            )
        self.choices_ |= choices
        self.n_features_in_ = rows.shape[1]
        return rows

    def _text_candidates(self, trusted: bool) -> TextCandidates:
        """The candidate features of raw text: the user's value of each setting, or what there is to try."""
        ngrams = [(1, 1)] if self._effort == "none" else [(1, 1), (1, 2)]
        much = self._effort in ("full", "text")
        titles, pieces = ((0.0, _TITLE), (False, True)) if much else ((0.0,), (False,))
        analyzers = ("word",) if self._effort == "none" else ("word", "word+char")
        return TextCandidates(
            ngrams if self.ngrams is None else [(self.ngrams[0], self.ngrams[1])],  # from JSON it is a list
            titles if self.title is None else (self.title,),
            pieces if self.pieces is None else (self.pieces,),
            analyzers if self.analyzer is None else (self.analyzer,),
            self.min_df,
            self.max_features,
            self._reading(),
            VectorCandidates(
                self.encoder,
                look=self._effort == "full",
                weights=WEIGHTS if self.encoder_weight is None else (self.encoder_weight,),
            ),
            self._effort in ("low", "text"),
            partial(self._candidate_embeddings, trusted=trusted),
        )

    def _reading(self) -> dict[str, Any]:
        """The user's settings of how a text is split into words."""
        return {
            "token_pattern": self.token_pattern or WORD,
            "accents": self.accents,
            "html": self.html,
            "hyphens": self.hyphens,
        }

    def _rows(self, X: Any) -> Rows:
        X = texts_of(X)
        if self.words != "bag" and self.text_ is not None and is_text(X):
            return self.text_.sequences(X, _LONGEST_DOCUMENT)
        rows = super()._rows(X)
        return rows if self.scaling_ is None or isinstance(rows, list) else self.scaling_(rows)

    @property
    def _columns(self) -> int:
        """Number of columns that the model reads: features, and a constant one if they are scaled."""
        return self.n_features_in_ + (self.scaling_ is not None)

    def _starting_vectors(self, word_size: int) -> np.ndarray | None:
        """GloVe vectors for the words that have one and random ones for the others, as in the paper.

        They come from the user's file, or from the one in the data folder if its vectors have the right size.
        """
        words, path, why = self._spelled_words, self.word_vectors, "as set"
        if path is None and words is not None and (file := find_glove()) is not None:
            if (size := glove_size(file)) == word_size:
                path, why = file, "word_vectors='none' does without"
            else:
                why = f"the vectors of {file.name} have {size} numbers, not {word_size}"
                self.choices_["word_vectors"] = choice("word_vectors", "none", why)
        if path is None or self._asked_for(_NONE):
            return None
        if self._asked_for(_OWN):
            raise RankaeError("word_vectors='own' has no meaning for the preset 'paper'; name a file of GloVe vectors")
        vectors, known_count = starting_vectors(_required_words(words), path, word_size, self._seed)
        why = f"it knows {known_count} of {len(vectors)} features; {why}"
        self.choices_["word_vectors"] = choice("word_vectors", Path(path).name, why)
        return vectors

    def _asked_for(self, word_vectors: str) -> bool:
        return isinstance(self.word_vectors, str) and self.word_vectors.lower() == word_vectors

    @property
    def _spelled_words(self) -> Sequence[str] | None:
        return None if self.text_ is None else self.text_.spelled()

    def _candidate_embeddings(
        self, words: Sequence[str] | None, rows: sp.csr_matrix, trusted: bool
    ) -> list[WordEmbeddings | None]:
        """Candidate word embeddings for the recipe: the user's, or none and those available.

        Embeddings computed from the rows themselves (LSA) are a candidate only if there are trusted rows to judge them:
        held-out rows of the training data overrate them, because they have contributed to them.
        """
        if self._asked_for(_NONE):
            return [None]
        if self._asked_for(_OWN):
            return [lsa_embeddings(rows, self._seed)]
        if self.word_vectors is not None:
            return [glove_embeddings(_required_words(words), self.word_vectors)]
        if self._effort != "full":
            return [None]
        file = None if words is None else find_glove()
        available = [] if file is None else [glove_embeddings(_required_words(words), file)]
        if trusted and not is_dense(rows):
            available.append(lsa_embeddings(rows, self._seed))
        return [None, side_by_side(*available)] if available else [None]

    def _with_listed_labels(self, Y: Any) -> Any:
        """Y, extended by the labels of the user's label file that no row has."""
        self._entries: dict[str, LabelEntry] = {}
        if self.labels is None:
            return Y
        targets = Y if isinstance(Y, Targets) else label_matrix(Y)
        carried = targets.classes.tolist()
        if targets.kind == "indicator" or not all(isinstance(name, str) for name in carried):
            raise DataError(f"{self.labels} lists labels by name, but those of the rows have only numbers")
        self._entries = {entry.label: entry for entry in read_label_file(self.labels, carried)}
        names = [*carried, *(label for label in self._entries if label not in set(carried))]
        labels = targets.matrix
        labels = sp.csr_matrix((labels.data, labels.indices, labels.indptr), shape=(labels.shape[0], len(names)))
        return Targets(labels, name_array(names), targets.kind)

    def _name_rows(self, labels: sp.csr_matrix) -> sp.csr_matrix | None:
        """Names of labels as weighted words in the columns of the rows; None if names are not used."""
        classes = self.classes_.tolist()
        if self.text_ is None or self.label_names is False or not all(isinstance(name, str) for name in classes):
            return None
        counts = np.bincount(labels.indices, minlength=len(classes))
        # A label without rows that the label file does not list gets no name, so it is never predicted.
        entries = [
            self._entries.get(name) or LabelEntry(name, name if count else "")
            for name, count in zip(classes, counts, strict=True)
        ]
        names = name_rows(entries, self.text_, counts)
        if names is None:
            if self.label_names:
                raise RankaeError("the names of labels share no words with the texts; leave label_names out")
            return None
        known = int((np.diff(names.indptr) > 0).sum())
        why = f"words of texts name {known} of {len(classes)} labels"
        self.choices_["label_names"] = choice("label_names", True, why)
        return names

    def _with_new_names(self, stack: Stack, classes: np.ndarray) -> Stack:
        """The stack with the names of the new labels, which are the last of `classes`."""
        fresh = classes.tolist()[len(self.classes_) :]
        if stack.names is None or self.text_ is None or not all(isinstance(name, str) for name in fresh):
            return stack
        names = weighted_names([LabelEntry(name, name) for name in fresh], self.text_)
        return replace(stack, names=stack.names.with_more(names)) if fresh else stack

    def _scaling_arrays(self) -> dict[str, np.ndarray]:
        """Arrays of the model file."""
        return (
            {} if self.scaling_ is None else {_SCALING + name: array for name, array in self.scaling_.arrays().items()}
        )

    def _restored_scaling(self, arrays: dict[str, np.ndarray]) -> Scaling | None:
        scaling = {name.removeprefix(_SCALING): arrays.pop(name) for name in list(arrays) if name.startswith(_SCALING)}
        if not scaling:
            return None
        shapes = {"mean": (self.n_features_in_,), "deviation": (self.n_features_in_,), "constant": (1,)}
        if {name: value.shape for name, value in scaling.items()} != shapes:
            raise ModelFileError("the scale of the model's features does not fit them; train it again")
        return Scaling.from_arrays(**scaling)


def _required_words(words: Sequence[str] | None) -> Sequence[str]:
    if words is None:
        raise DataError("word_vectors needs raw text: a feature matrix has no words to look up")
    return words
