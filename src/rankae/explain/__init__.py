"""Why a model gives a document its labels: the words that made each label's score rise or fall.

Three answers, from the most general to the most special:

- removal: how far the label's score falls when the word is taken out of the document. Exact by definition, for every
  method, however its score comes about.
- contribution: the word's own summand, where the score is a sum over words (the paper's network with linear E and D).
- attention: the channel attention of a word, summed over channels, as in the paper's Figure 5. It speaks for no label
  in particular.
"""

from __future__ import annotations

from rankae.explain.documents import Document, RowDocument, TextDocument, document_of
from rankae.explain.explanation import Explanation, explain
from rankae.explain.faithfulness import DeletionCurve, deletion_curve

__all__ = [
    "DeletionCurve",
    "Document",
    "Explanation",
    "RowDocument",
    "TextDocument",
    "deletion_curve",
    "document_of",
    "explain",
]
