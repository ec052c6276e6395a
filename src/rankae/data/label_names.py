"""Label names as weighted words, in the columns of the text features, if the names are informative."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from rankae.data.text import TextFeatures
from rankae.data.tokens import characters, pieces

_COMMON = 0.2  # of the labels: words in more names than this are not informative
_TELLING = 0.5  # the share of labels, or of their rows, that must have an informative name
_PARTED = re.compile(r"(?<=[a-z])(?=[A-Z])|_")  # givenName and given_name are two words each
# How much the words of each field count.
_WEIGHTS = {"name": 1.0, "alternatives": 0.5, "description": 0.3, "parents": 0.3}


@dataclass(frozen=True)
class LabelEntry:
    """A label with its names, description and parents."""

    label: str
    name: str
    alternatives: tuple[str, ...] = ()
    description: str = ""
    parents: tuple[str, ...] = field(default=())


def name_rows(entries: Sequence[LabelEntry], text: TextFeatures, counts: np.ndarray) -> sp.csr_matrix | None:
    """The weighted words of each label's names, labels x text columns; None if the names are only ids.

    counts : the number of training rows with each label.
    """
    weighted_words = [_weighted(entry, text) for entry in entries]
    labels_with = Counter(word for words in weighted_words for word in words)
    most = max(_COMMON * len(entries), 2)
    column = {word: places for word, places in text.columns_of(labels_with).items() if places}
    telling = [
        any(word in column and labels_with[word] <= most and _is_word(word) for word in words)
        for words in weighted_words
    ]
    if np.mean(telling) < _TELLING or counts @ np.array(telling) < _TELLING * counts.sum():
        return None
    return weighted_names(entries, text)


def weighted_names(entries: Sequence[LabelEntry], text: TextFeatures) -> sp.csr_matrix:
    """The weighted words of each label's names, labels x columns of texts, whether they say something or not.

    Where texts are read by runs of characters too, so are names: of *talo*, a text may have no more than *talossakin*.
    """
    weighted_words = [_weighted(entry, text) for entry in entries]
    blocks = [_unit_rows(weighted_words, text)]
    if (of_characters := text.of_characters) is not None:
        blocks.append(_unit_rows(list(map(_by_characters, weighted_words)), of_characters))
    width = text.width - sum(block.shape[1] for block in blocks)
    return sp.hstack([*blocks, sp.csr_matrix((len(weighted_words), width), dtype=np.float32)], format="csr")


def _unit_rows(weighted_words: Sequence[Mapping[str, float]], text: TextFeatures) -> sp.csr_matrix:
    """Names x columns of a vocabulary, weighted by inverse document frequency; words in no text weigh most."""
    column = {
        word: at for word, at in text.columns_of({word for words in weighted_words for word in words}).items() if at
    }
    indptr, indices, values = [0], [], []
    rarest = float(text.word_weights.max(initial=1.0))
    for words in weighted_words:
        own = {w: weight * (text.word_weights[column[w][0]] if w in column else rarest) for w, weight in words.items()}
        length = np.sqrt(sum(value * value for value in own.values())) or 1.0
        row = {place: value / length for word, value in own.items() for place in column.get(word, ())}
        indices += sorted(row)
        values += [row[place] for place in sorted(row)]
        indptr.append(len(indices))
    shape = len(weighted_words), len(text.words)
    return sp.csr_matrix((np.array(values, np.float32), np.array(indices, np.int32), indptr), shape=shape)


def _by_characters(words: Mapping[str, float]) -> dict[str, float]:
    runs: dict[str, float] = {}
    for word, weight in words.items():
        for run in characters([word]):
            runs[run] = max(runs.get(run, 0.0), weight)
    return runs


def _weighted(entry: LabelEntry, text: TextFeatures) -> dict[str, float]:
    """The words of an entry, each with the largest weight among the fields that contain it."""
    words: dict[str, float] = {}
    fields = {
        "name": [entry.name],
        "alternatives": entry.alternatives,
        "description": [entry.description],
        "parents": entry.parents,
    }
    for name, texts in fields.items():
        for said in texts:
            tokens = text.words_in(_PARTED.sub(" ", said))
            for word in tokens + pieces(tokens):
                words[word] = max(words.get(word, 0.0), _WEIGHTS[name])
    return _by_characters(words) if text.analyzer == "char" else words


def _is_word(word: str) -> bool:
    return any(character.isalpha() for character in word) and (len(word) > 1 or not word.isascii())
