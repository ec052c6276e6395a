"""Words, or words and pairs of words, with the title apart or not, with the pieces of compounds or not: what gives the
closed-form start that ranks best.

That is told by leave-one-out scores, or by trusted rows: by noisy labels, noise learnt by heart looks like an answer.
Where labels are noisy the start leans on word embeddings, and single words lean better than pairs, so that trusted rows
look at both together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rankae.data.html import is_html, share_of_html
from rankae.data.near_duplicates import novel_rows, sample_to_compare
from rankae.data.text import TextFeatures, checked_text, title_of
from rankae.data.word_embeddings import WordEmbeddings
from rankae.metrics import standard_error
from rankae.paper.closed_form import leave_one_out_precision
from rankae.recipe.trusted import Trusted, trusted_precision

CandidateEmbeddings = Callable[[Sequence[str], sp.csr_matrix], Sequence[WordEmbeddings | None]]

# Bytes that the table of word vectors may take, 400 float32 a word: it bounds the vocabulary of n-grams.
_MOST_TABLE_BYTES = 2**29
MOST_FEATURES = _MOST_TABLE_BYTES // (4 * 400)
# Points of precision that pieces must be worth. On debdeps they gain 2; on debtags a quarter, and on rows split off
# train that was worth nothing to the whole model.
_GAIN_OF_PIECES = 0.5


@dataclass(frozen=True)
class TextCandidates:
    """What may be chosen: n-grams, the weight of titles, and pieces (see `TextFeatures`); one of each is no choice.

    reading : further settings of `TextFeatures`, which are not chosen.
    embeddings : what the start may take for the embeddings of words, given their names and the rows; trusted rows ask.
    """

    ngrams: Sequence[tuple[int, int]] = ((1, 1), (1, 2))
    titles: Sequence[float] = (0.0,)
    pieces: Sequence[bool] = (False,)
    min_df: int = 2
    max_features: int | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    embeddings: CandidateEmbeddings = lambda words, rows: (None,)


def choose_text(
    texts: Sequence[str],
    labels: sp.csr_matrix,
    candidates: TextCandidates,
    seed: int = 0,
    trusted: tuple[Sequence[str], sp.csr_matrix] | None = None,
) -> tuple[TextFeatures, sp.csr_matrix, dict[str, str]]:
    """Fitted features, the rows of `texts`, and a line for each choice.

    The n-grams are chosen first, then the weight of titles, if most texts have one, then whether to read pieces.

    trusted : further texts and their labels.
    """
    by = "leave-one-out precision" if trusted is None else "precision on trusted rows"
    titles, reading = candidates.titles, dict(candidates.reading)
    lines = {}
    if reading.get("html") == "auto":
        share = share_of_html(texts)
        reading["html"] = "strip" if is_html(share) else "keep"
        if share > 0.01:
            lines["html"] = f"{reading['html']} ({100 * share:.0f} % of the texts hold HTML tags)"
    if 2 * sum(title_of(checked_text(text, i)) != "" for i, text in enumerate(texts)) < len(texts):
        titles = titles[:1]
    choices = candidates.ngrams, titles, candidates.pieces
    # Leave-one-out scores of a sample will do, and spare the time to count the pairs of all texts.
    sample = np.arange(len(texts)) if trusted is not None else sample_to_compare(len(texts), seed)
    few = texts if len(sample) == len(texts) else [texts[i] for i in sample.tolist()]
    comparison = _Comparison(labels[sample], seed, trusted, candidates.embeddings)

    def features(ngrams: tuple[int, int], title: float, pieces: bool) -> TextFeatures:
        most = candidates.max_features or MOST_FEATURES
        return TextFeatures(ngrams, candidates.min_df, most, title=title, pieces=pieces, **reading)

    def tried(ngrams: tuple[int, int], title: float, pieces: bool) -> _Tried:
        text = features(ngrams, title, pieces)
        if max(map(len, choices)) == 1:
            return _Tried(text, np.zeros(1))
        return _Tried(text, comparison.precision(text, text.fit_transform(few)))

    by_ngrams = [tried(ngrams, titles[0], candidates.pieces[0]) for ngrams in candidates.ngrams]
    best = _clearly_best(by_ngrams)
    by_title = [best, *(tried(best.text.ngrams, title, candidates.pieces[0]) for title in titles[1:])]
    best = _clearly_best(by_title)
    by_pieces = [best, *(tried(best.text.ngrams, best.text.title, pieces) for pieces in candidates.pieces[1:])]
    best = _clearly_best(by_pieces, _GAIN_OF_PIECES)
    chosen = features(best.text.ngrams, best.text.title, best.text.pieces)
    rows = chosen.fit_transform(texts)

    def line(found: list[_Tried], of: str, least: float = 0.0) -> str:
        why = "as set"
        if len(found) > 1:
            shown = ", ".join(f"{getattr(one.text, of)}: {one.precision.mean():.1f}" for one in found)
            why = f"{by} of {shown}; more must gain {max(least, found[0].chance(found[-1])):.1f}"
        return f"{getattr(chosen, of)} ({why})"

    lines["ngrams"] = f"{line(by_ngrams, 'ngrams')}; {len(chosen.words)} features"
    if len(by_title) > 1 or chosen.title:
        lines["title"] = line(by_title, "title")
    if len(by_pieces) > 1 or chosen.pieces:
        lines["pieces"] = line(by_pieces, "pieces", _GAIN_OF_PIECES)
    return chosen, rows, lines


class _Comparison:
    """Candidates held against each other on the same rows: those without a near-duplicate by the first."""

    def __init__(
        self,
        labels: sp.csr_matrix,
        seed: int,
        trusted: tuple[Sequence[str], sp.csr_matrix] | None,
        embeddings: CandidateEmbeddings,
    ) -> None:
        self.labels, self.seed, self.trusted, self.embeddings = labels, seed, trusted, embeddings
        self._validation: np.ndarray | None = None

    def precision(self, text: TextFeatures, rows: sp.csr_matrix) -> np.ndarray:
        """Of each row of the validation set, by the closed-form start on these features."""
        if self.trusted is None:
            if self._validation is None:
                self._validation = novel_rows(rows)
            return leave_one_out_precision(rows, self.labels, self._validation, seed=self.seed)[1.0]
        validation = Trusted(text.transform(self.trusted[0]), self.trusted[1])
        if self._validation is None:
            self._validation = validation.novel(rows)
        validation = validation.taken(self._validation)
        known = self.embeddings(text.spelled(), rows)
        found = [trusted_precision(rows, self.labels, validation, seed=self.seed, embeddings=own) for own in known]
        return max(found, key=np.mean)


class _Tried(NamedTuple):
    text: TextFeatures
    precision: np.ndarray

    def chance(self, other: _Tried) -> float:
        """Points of precision by which the other may well be ahead by chance."""
        return standard_error(other.precision - self.precision)  # of the same rows


def _clearly_best(found: Sequence[_Tried], least: float = 0.0) -> _Tried:
    """The first, unless a later one gains more than chance explains and than `least`: features cost memory, time."""
    chosen = found[0]
    for other in found[1:]:
        if other.precision.mean() - chosen.precision.mean() > max(least, chosen.chance(other)):
            chosen = other
    return chosen
