"""Words, or words and pairs of words, with the title apart or not: what gives the closed-form start that ranks best.

That is told by leave-one-out scores, or by trusted rows: by noisy labels, noise learnt by heart looks like an answer.
Where labels are noisy the start leans on what words mean, and single words lean better than pairs, so that trusted rows
look at both together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import scipy.sparse as sp

from rankae.data.glove import Meanings
from rankae.data.text import TextFeatures, title_of
from rankae.recipe.trusted import Trusted, trusted_precision
from rankae.training.warm_start import honest_precision

# Bytes that the table of word vectors may take, 400 float32 a word: it bounds the vocabulary of n-grams.
_MOST_TABLE_BYTES = 2**29
MOST_FEATURES = _MOST_TABLE_BYTES // (4 * 400)


@dataclass(frozen=True)
class TextCandidates:
    """What may be chosen: n-grams and the weight of titles (see `TextFeatures`); one of each is no choice.

    meanings : what the start may take for the meanings of some words; trusted rows ask for it.
    """

    ngrams: Sequence[tuple[int, int]] = ((1, 1), (1, 2))
    titles: Sequence[float] = (0.0,)
    min_df: int = 2
    max_features: int | None = None
    meanings: Callable[[Sequence[str]], Sequence[Meanings | None]] = lambda words: (None,)


def choose_text(
    texts: Sequence[str],
    labels: sp.csr_matrix,
    candidates: TextCandidates,
    seed: int = 0,
    trusted: tuple[Sequence[str], sp.csr_matrix] | None = None,
) -> tuple[TextFeatures, sp.csr_matrix, dict[str, str]]:
    """Fitted features, the rows of `texts`, and a line for each choice.

    The n-grams are chosen first, then the weight of titles, if most texts have one.

    trusted : further texts and their labels.
    """
    by = "leave-one-out precision" if trusted is None else "precision on trusted rows"
    titles = candidates.titles
    if 2 * sum(isinstance(text, str) and title_of(text) != "" for text in texts) < len(texts):
        titles = titles[:1]
    settled = len(candidates.ngrams) == len(titles) == 1

    def precision_of(text: TextFeatures, rows: sp.csr_matrix) -> float:
        if trusted is None:
            return honest_precision(rows, labels, seed=seed)[1.0]
        witnesses, known = Trusted(text.transform(trusted[0]), trusted[1]), candidates.meanings(text.spelled())
        return max(trusted_precision(rows, labels, witnesses, seed=seed, meanings=own) for own in known)

    def tried(ngrams: tuple[int, int], title: float) -> _Tried:
        text = TextFeatures(ngrams, candidates.min_df, candidates.max_features or MOST_FEATURES, title=title)
        rows = text.fit_transform(texts)
        return _Tried(0.0 if settled else precision_of(text, rows), text, rows)

    by_ngrams = [tried(ngrams, titles[0]) for ngrams in candidates.ngrams]
    best = max(by_ngrams, key=lambda one: one.precision)
    by_title = [best, *(tried(best.text.ngrams, title) for title in titles[1:])]
    chosen = max(by_title, key=lambda one: one.precision)

    def line(found: list[_Tried], of: str) -> str:
        shown = ", ".join(f"{getattr(one.text, of)}: {one.precision:.1f}" for one in found)
        why = f"best {by} of {shown}" if len(found) > 1 else "as set"
        return f"{getattr(chosen.text, of)} ({why})"

    lines = {"ngrams": f"{line(by_ngrams, 'ngrams')}; {len(chosen.text.words)} features"}
    if len(by_title) > 1 or chosen.text.title:
        lines["title"] = line(by_title, "title")
    return chosen.text, chosen.rows, lines


class _Tried(NamedTuple):
    precision: float
    text: TextFeatures
    rows: sp.csr_matrix
