"""Words, or words and pairs of words, with the title apart or not, with the pieces of compounds or not: what gives the
closed-form start that ranks best.

That is told by leave-one-out scores, or by trusted rows: by noisy labels, noise learnt by heart looks like an answer.
Where labels are noisy the start leans on word embeddings, and single words lean better than pairs, so that trusted rows
look at both together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import AS_SET, Choice, Choices, choice
from rankae.data.html import is_html, share_of_html
from rankae.data.hyphens import words_are_broken
from rankae.data.near_duplicates import sample_to_compare
from rankae.data.text import TextFeatures, checked_text, title_of
from rankae.recipe import rules
from rankae.recipe.comparison import CandidateEmbeddings, Comparison, Tried, clearly_best
from rankae.recipe.vector_choice import VectorCandidates, choose_vectors

# Bytes that the table of word vectors may take, 400 float32 a word: it bounds the vocabulary of n-grams.
_MOST_TABLE_BYTES = 2**29
_SOME_TEXTS = 2000  # tell whether words repeat
MOST_FEATURES = _MOST_TABLE_BYTES // (4 * 400)


@dataclass(frozen=True)
class TextCandidates:
    """What may be chosen: n-grams, the weight of titles, pieces, characters (see `TextFeatures`), and vectors.

    A single candidate is no choice.

    reading : further settings of `TextFeatures`, which are not chosen.
    vectors : what may stand beside words, see `rankae.recipe.vector_choice`.
    embeddings : what the start may take for the embeddings of words, given their names and the rows; trusted rows ask.
    """

    ngrams: Sequence[tuple[int, int]] = ((1, 1), (1, 2))
    titles: Sequence[float] = (0.0,)
    pieces: Sequence[bool] = (False,)
    analyzers: Sequence[str] = ("word",)
    min_df: int = 2
    max_features: int | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    vectors: VectorCandidates = field(default_factory=VectorCandidates)
    embeddings: CandidateEmbeddings = lambda words, rows: (None,)


def choose_text(
    texts: Sequence[str],
    labels: sp.csr_matrix,
    candidates: TextCandidates,
    seed: int = 0,
    trusted: tuple[Sequence[str], sp.csr_matrix] | None = None,
) -> tuple[TextFeatures, sp.csr_matrix, Choices]:
    """Fitted features, the rows of `texts`, and the choices.

    The n-grams are chosen first, then the weight of titles, if most texts have one, then whether to read pieces, then
    whether to read characters; each with what was chosen before. Vectors come last.

    trusted : further texts and their labels.
    """
    by = "leave-one-out precision" if trusted is None else "precision on trusted rows"
    titles, reading = candidates.titles, dict(candidates.reading)
    made: Choices = {}
    if reading.get("html") == "auto":
        share = share_of_html(texts)
        reading["html"] = "strip" if is_html(share) else "keep"
        if share > 0.01:
            made["html"] = choice("html", reading["html"], f"{100 * share:.0f} % of the texts hold HTML tags")
    if reading.get("hyphens") == "auto":
        reading["hyphens"] = "join" if words_are_broken(texts) else "keep"
        if reading["hyphens"] == "join":
            made["hyphens"] = choice("hyphens", "join", "words broken at the end of a line stand unbroken elsewhere")
    if 2 * sum(title_of(checked_text(text, i)) != "" for i, text in enumerate(texts)) < len(texts):
        titles = titles[:1]
    stages = [
        _Stage("ngrams", candidates.ngrams),
        _Stage("title", titles),
        _Stage("pieces", candidates.pieces, rules.GAIN_OF_PIECES),
        _Stage("analyzer", candidates.analyzers, rules.GAIN_OF_CHARACTERS),
    ]

    def features(settings: Mapping[str, Any]) -> TextFeatures:
        return TextFeatures(
            min_df=candidates.min_df, max_features=candidates.max_features or MOST_FEATURES, **settings, **reading
        )

    if len(candidates.analyzers) > 1 and not _characters_may_help(texts, features({})):
        stages[-1] = _Stage("analyzer", candidates.analyzers[:1])
    blocks, of_vectors = candidates.vectors.blocks(texts)
    undecided = any(len(stage.values) > 1 for stage in stages) or bool(blocks)
    # Leave-one-out scores of a sample will do, and spare the time to count the pairs of all texts.
    sample = np.arange(len(texts)) if trusted is not None else sample_to_compare(len(texts), seed)
    few = texts if len(sample) == len(texts) else [texts[i] for i in sample.tolist()]
    comparison = Comparison(labels[sample], seed, trusted, candidates.embeddings)

    def tried(settings: Mapping[str, Any]) -> Tried:
        text = features(settings)
        rows = text.fit_words(few)
        return Tried(text, rows, settings, comparison.precision(text, rows))

    first = {stage.name: stage.values[0] for stage in stages}
    best, found = None, {}
    if undecided:
        best = tried(first)
        for stage in stages:
            found[stage.name] = [best, *(tried({**best.settings, stage.name: value}) for value in stage.values[1:])]
            best = clearly_best(found[stage.name], stage.least)
    chosen = features(first if best is None else best.settings)
    block = None
    if best is not None and blocks:
        block, of_vectors = choose_vectors(blocks, candidates.vectors.weights, few, best, comparison, by)
    rows = chosen.fit_words(texts)
    if block is not None:
        rows = chosen.put_beside(rows, block, texts)
    for stage in stages:
        if len(stage.values) > 1 or stage.name == "ngrams" or stage.values[0] not in (0.0, False, "word"):
            made[stage.name] = stage.choice(getattr(chosen, stage.name), found.get(stage.name, []), by)
    made["vocabulary"] = choice("vocabulary", len(chosen.words), "features that the texts gave")
    if of_vectors is not None:
        made["encoder"] = of_vectors
    return chosen, rows, made


def _characters_may_help(texts: Sequence[str], words: TextFeatures) -> bool:
    """Whether many words stand in one text alone, as where words are inflected and compounded, and memory allows."""
    if sum(map(len, texts)) > rules.MOST_READ_BY_CHARACTERS:
        return False
    some = texts[:: max(1, len(texts) // _SOME_TEXTS)][:_SOME_TEXTS]
    documents = [words.words_in(text) for text in some]
    standing_in = Counter(word for document in documents for word in set(document))
    once = sum(standing_in[word] == 1 for document in documents for word in document)
    return once >= rules.CHARACTERS_FROM * sum(map(len, documents))


@dataclass(frozen=True)
class _Stage:
    """One setting to choose; what is not the first must gain so many points."""

    name: str
    values: Sequence[Any]
    least: float = 0.0

    def choice(self, value: Any, found: Sequence[Tried], by: str) -> Choice:
        if len(found) <= 1:
            return choice(self.name, value, AS_SET)
        least = max(self.least, found[0].chance(found[-1]))
        figures = {str(one.settings[self.name]): float(one.precision.mean()) for one in found}
        return choice(self.name, value, f"{by}; more must gain {least:.1f}", figures)
