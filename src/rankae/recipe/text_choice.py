"""Chooses the features of raw text: n-grams, titles, pieces of words, characters, and the vectors of an encoder.

A choice is the one whose closed-form start ranks best, by leave-one-out scores or on trusted rows. With trusted rows,
which are given where labels are noisy, every candidate is measured with the word embeddings that suit it best: the
start then uses embeddings, and they help single words more than pairs.
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
from rankae.data.text import TextFeatures
from rankae.data.text_reader import checked_text, title_of
from rankae.recipe import rules
from rankae.recipe.comparison import CandidateEmbeddings, Comparison, FeatureTrial, clearly_best
from rankae.recipe.vector_choice import VectorCandidates, choose_vectors

# The vocabulary of n-grams is bounded so that a table of word vectors, 400 float32 per word, takes so many bytes.
_MOST_TABLE_BYTES = 2**29
_SOME_TEXTS = 2000  # texts that are read to see whether words repeat
MOST_FEATURES = _MOST_TABLE_BYTES // (4 * 400)


@dataclass(frozen=True)
class TextCandidates:
    """Candidate values of n-grams, title weight, pieces and analyzer (see `TextFeatures`); a single one is fixed.

    reading : further, fixed settings of `TextFeatures`.
    vectors : candidate vectors beside the words (see `rankae.recipe.vector_choice`).
    low_effort : try character n-grams only if many words occur in one text only.
    embeddings : function from words and rows to the candidate word embeddings; used with trusted rows only.
    """

    ngrams: Sequence[tuple[int, int]] = ((1, 1), (1, 2))
    titles: Sequence[float] = (0.0,)
    pieces: Sequence[bool] = (False,)
    analyzers: Sequence[str] = ("word",)
    min_df: int = 2
    max_features: int | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    vectors: VectorCandidates = field(default_factory=VectorCandidates)
    low_effort: bool = False
    embeddings: CandidateEmbeddings = lambda words, rows: (None,)


def choose_text(
    texts: Sequence[str],
    labels: sp.csr_matrix,
    candidates: TextCandidates,
    seed: int = 0,
    trusted: tuple[Sequence[str], sp.csr_matrix] | None = None,
) -> tuple[TextFeatures, sp.csr_matrix, Choices]:
    """Fitted features, the rows of `texts`, and the choices.

    The settings are chosen one after the other: n-grams, title weight (if most texts have a title), pieces, analyzer,
    and last the vectors.

    trusted : further texts and their labels.
    """
    by = "leave-one-out precision" if trusted is None else "precision on trusted rows"
    titles, reading = candidates.titles, dict(candidates.reading)
    choices: Choices = {}
    if reading.get("html") == "auto":
        share = share_of_html(texts)
        reading["html"] = "strip" if is_html(share) else "keep"
        if share > 0.01:
            choices["html"] = choice("html", reading["html"], f"{100 * share:.0f} % of the texts hold HTML tags")
    if reading.get("hyphens") == "auto":
        reading["hyphens"] = "join" if words_are_broken(texts) else "keep"
        if reading["hyphens"] == "join":
            choices["hyphens"] = choice("hyphens", "join", "words broken at the end of a line stand unbroken elsewhere")
    if 2 * sum(title_of(checked_text(text, i)) != "" for i, text in enumerate(texts)) < len(texts):
        titles = titles[:1]
    stages = [
        _Stage("ngrams", candidates.ngrams),
        _Stage("title", titles),
        _Stage("pieces", candidates.pieces, rules.GAIN_OF_PIECES),
        _Stage("analyzer", candidates.analyzers, _least_gain_of_characters(texts)),
    ]

    def features(settings: Mapping[str, Any], of_texts: int = len(texts)) -> TextFeatures:
        of_pairs = least_texts_of_pairs(candidates.min_df, of_texts / len(texts))
        most = candidates.max_features or MOST_FEATURES
        return TextFeatures(min_df=candidates.min_df, min_df_longer=of_pairs, max_features=most, **settings, **reading)

    if len(candidates.analyzers) > 1 and not _characters_may_help(texts, features({}), candidates.low_effort):
        stages[-1] = _Stage("analyzer", candidates.analyzers[:1])
    blocks, vector_choice = candidates.vectors.blocks(texts)
    undecided = any(len(stage.values) > 1 for stage in stages) or bool(blocks)
    # A sample suffices for leave-one-out scores, and saves counting the word pairs of all texts.
    sample = np.arange(len(texts)) if trusted is not None else sample_to_compare(len(texts), seed)
    sample_texts = texts if len(sample) == len(texts) else [texts[i] for i in sample.tolist()]
    comparison = Comparison(labels[sample], seed, trusted, candidates.embeddings)

    def trial(settings: Mapping[str, Any]) -> FeatureTrial:
        text = features(settings, len(sample_texts))
        rows = text.fit_words(sample_texts)
        return FeatureTrial(text, rows, settings, comparison.precision(text, rows))

    first = {stage.name: stage.values[0] for stage in stages}
    best, trials = None, {}
    if undecided:
        best = trial(first)
        for stage in stages:
            trials[stage.name] = [best, *(trial({**best.settings, stage.name: value}) for value in stage.values[1:])]
            best = clearly_best(trials[stage.name], stage.least)
    chosen = features(first if best is None else best.settings)
    block = None
    if best is not None and blocks:
        block, vector_choice = choose_vectors(blocks, candidates.vectors.weights, sample_texts, best, comparison, by)
    rows = chosen.fit_words(texts)
    if block is not None:
        rows = chosen.put_beside(rows, block, texts)
    for stage in stages:
        if len(stage.values) > 1 or stage.name == "ngrams" or stage.values[0] not in (0.0, False, "word"):
            choices[stage.name] = stage.choice(getattr(chosen, stage.name), trials.get(stage.name, []), by)
    choices["vocabulary"] = choice("vocabulary", len(chosen.words), "features that the texts gave")
    if vector_choice is not None:
        choices["encoder"] = vector_choice
    return chosen, rows, choices


def least_texts_of_pairs(min_df: int, share: float = 1.0) -> int:
    """In how many texts a pair of words must be; of a sample, in as large a share of them."""
    return max(min_df, round(rules.ROWS_OF_A_PAIR * min_df * share))


def _least_gain_of_characters(texts: Sequence[str]) -> float:
    return rules.GAIN_OF_CHARACTERS * max(1.0, sum(map(len, texts)) / rules.CHARACTERS_A_GAIN)


def _characters_may_help(texts: Sequence[str], words: TextFeatures, low_effort: bool) -> bool:
    """Whether memory suffices and, at low effort, whether many words occur in one text only, as inflected ones do."""
    if sum(map(len, texts)) > rules.MOST_READ_BY_CHARACTERS:
        return False
    if not low_effort:
        return True
    sample = texts[:: max(1, len(texts) // _SOME_TEXTS)][:_SOME_TEXTS]
    documents = [words.words_in(text) for text in sample]
    document_frequency = Counter(word for document in documents for word in set(document))
    once = sum(document_frequency[word] == 1 for document in documents for word in document)
    return once >= rules.CHARACTERS_FROM * sum(map(len, documents))


@dataclass(frozen=True)
class _Stage:
    """One setting to choose; a value other than the first must gain at least `least` points."""

    name: str
    values: Sequence[Any]
    least: float = 0.0

    def choice(self, value: Any, trials: Sequence[FeatureTrial], by: str) -> Choice:
        if len(trials) <= 1:
            return choice(self.name, value, AS_SET)
        least = max(self.least, trials[0].chance(trials[-1]))
        figures = {str(one.settings[self.name]): float(one.precision.mean()) for one in trials}
        return choice(self.name, value, f"{by}; more must gain {least:.1f}", figures)
