"""Stand-ins for texts of other kinds, made of the shared texts: inflected and compounded words, papers broken at the
ends of lines, titles, lists of ingredients.

Every stand-in is made of training rows alone, and split by blocks of neighbouring rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankae.data import Dataset, load_dataset

_BLOCK = 64  # rows of one source stand together in debtags, and must not be on both sides
_SHARE = 0.2  # of the blocks, for validation
_CASES = ["", "", "n", "a", "ssa", "sta", "an", "lla", "lta", "lle", "na", "ksi", "tta", "t", "jen", "ja"]
_CLITICS = ["", "", "", "", "", "kin", "ko", "han", "nsa", "mme"]
_UNITS = ["cups", "tbsp", "tsp", "g", "large", "x"]
_ENDINGS = ["", "", "", "e", "en", "en", "er", "es", "n", "s", "em"]

Change = Callable[[str, np.random.Generator], str]


@dataclass(frozen=True)
class StandIn:
    """Rows of a data set with changed texts.

    rows : the most that are taken, training and validation together.
    """

    name: str
    data: str
    rows: int
    change: Change
    single_label: bool = False

    def rows_of(self, seed: int) -> tuple[Dataset, Dataset]:
        """Training and validation rows; labels that no training row carries are left out of the columns."""
        whole, random = load_dataset(self.data), np.random.default_rng([seed, 28])
        block = np.arange(len(whole)) // _BLOCK
        place = random.permutation(block[-1] + 1)[block]  # of each row's block
        chosen = np.flatnonzero(place < -(-self.rows // _BLOCK))
        held = place[chosen] < _SHARE * -(-self.rows // _BLOCK)
        texts = [self.change(whole.rows[i], random) for i in chosen.tolist()]
        changed = replace(whole.take(chosen), texts=texts)
        if self.single_label:
            changed = with_one_label(changed, random)
        train, validation = changed.take(np.flatnonzero(~held)), changed.take(np.flatnonzero(held))
        kept = np.flatnonzero(np.bincount(train.labels.indices, minlength=train.n_labels))
        names = [(train.label_names or [])[i] for i in kept]
        return replace(train, labels=train.labels[:, kept].tocsr(), label_names=names), validation.aligned_to(names)


def with_one_label(data: Dataset, random: np.random.Generator) -> Dataset:
    """Each row with one of its labels, drawn at random."""
    labels = data.labels.tocsr(copy=True)
    kept = np.zeros(labels.nnz, dtype=bool)
    for begin, end in zip(labels.indptr[:-1].tolist(), labels.indptr[1:].tolist(), strict=True):
        if end > begin:
            kept[random.integers(begin, end)] = True
    labels.data = labels.data * kept
    labels.eliminate_zeros()
    return replace(data, labels=labels)


def finnish(text: str, random: np.random.Generator) -> str:
    """Every word takes one of many endings, and some words are joined."""
    words: list[str] = []
    for word in text.split():
        if word.isalpha() and len(word) > 3:
            stem = word[:-1] if word[-2] == word[-1] or word[-1] in "eys" else word
            stem += "" if stem[-1] in "aiou" else "i"
            if words and words[-1].isalpha() and random.random() < 0.12:
                words[-1] += stem
                continue
            word = stem + random.choice(_CASES) + random.choice(_CLITICS)
        words.append(word)
    return " ".join(words)


def german(text: str, random: np.random.Generator) -> str:
    """Words are inflected, and a fifth of them joined to the word before."""
    words: list[str] = []
    for word in text.split():
        if word.isalpha() and len(word) > 3:
            if words and words[-1].isalpha() and len(words[-1]) > 3 and random.random() < 0.25:
                words[-1] += random.choice(["", "s", "en"]) + word.lower()
                continue
            word += random.choice(_ENDINGS)
        words.append(word)
    return " ".join(words)


def paper(text: str, random: np.random.Generator) -> str:
    """A German-like text in lines of 60 characters that break words."""
    lines, line = [], ""
    for word in german(" ".join(text.split()[:500]), random).split():
        if len(line) + len(word) >= 60:
            part = 60 - len(line)
            if len(word) > 7 and word.isalpha() and 2 < part < len(word) - 2:
                line, word = f"{line} {word[:part]}-", word[part:]
            lines.append(line.strip())
            line = ""
        line += f" {word}"
    return "\n".join([*lines, line.strip()])


def question(text: str, random: np.random.Generator) -> str:
    """The first 40 words, inflected."""
    return finnish(" ".join(text.split()[:40]), random)


def title(text: str, random: np.random.Generator) -> str:
    """The last 3 to 8 words of the first line."""
    return " ".join(text.strip().split("\n")[0].split()[-int(random.integers(3, 9)) :])


def opening(text: str, random: np.random.Generator) -> str:
    """3 to 8 words that follow each other."""
    words = text.split()
    size = int(random.integers(3, 9))
    first = int(random.integers(0, max(1, len(words) - size)))
    return " ".join(words[first : first + size])


def finnish_title(text: str, random: np.random.Generator) -> str:
    return finnish(title(text, random), random)


def german_opening(text: str, random: np.random.Generator) -> str:
    return german(opening(text, random), random)


def ingredients(texts: Sequence[str]) -> Change:
    """What makes of a text a list of its 12 rarest words, which at least 5 texts have, in any order."""
    documents = Counter(word for text in texts for word in set(_plain_words(text)))

    def change(text: str, random: np.random.Generator) -> str:
        words = [word for word in dict.fromkeys(_plain_words(text)) if documents[word] >= 5]
        rarest = sorted(words, key=lambda word: documents[word])[: int(random.integers(6, 15))]
        return ", ".join(np.array(rarest, dtype=object)[random.permutation(len(rarest))].tolist())

    return change


def recipe(text: str, random: np.random.Generator) -> str:
    """A list of ingredients in lines, with amounts."""
    lines = (f"{random.integers(1, 9)} {random.choice(_UNITS)} {word}" for word in _listed(text, random).split(", "))
    return "\n".join(lines)


def _plain_words(text: str) -> list[str]:
    return [word for word in (word.strip(".,;:!?()\"'").lower() for word in text.split()) if word.isalpha()]


def _listed(text: str, random: np.random.Generator) -> str:
    global _ingredients
    if _ingredients is None:
        _ingredients = ingredients(load_dataset("tmdb-plots").rows)  # type: ignore[arg-type]
    return _ingredients(text, random)


_ingredients: Change | None = None

STAND_INS = {
    one.name: one
    for one in (
        StandIn("Finnish questions", "eurlex57k", 3300, question),
        StandIn("Finnish descriptions", "debtags", 5000, finnish),
        StandIn("German papers", "eurlex57k", 5000, paper),
        StandIn("German plots", "tmdb-plots", 11011, german),
        StandIn("titles of laws", "eurlex57k", 15000, title),
        StandIn("Finnish titles", "eurlex57k", 4000, finnish_title),
        StandIn("titles of few packages", "debtags", 1000, title),
        StandIn("German openings of plots", "tmdb-plots", 3000, german_opening),
        StandIn("recipes, one label", "tmdb-plots", 4000, recipe, single_label=True),
        StandIn("titles of packages", "debtags", 23507, title),
        StandIn("openings of plots", "tmdb-plots", 11011, opening),
        StandIn("lists of ingredients", "tmdb-plots", 11011, _listed),
        StandIn("lists of ingredients, one label", "tmdb-plots", 11011, _listed, single_label=True),
    )
}
