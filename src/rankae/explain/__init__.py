"""Explains predictions: the words of a document that raise or lower each label's score.

- removal: how far the label's score falls when the word is removed from the document; for every method.
- contribution: the word's summand, if the score is a sum over words (the paper's network with linear E and D).
- attention: the channel attention of a word, summed over channels, as in the paper's Figure 5; the same for all labels.
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
