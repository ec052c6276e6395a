"""Vectors beside words: whose, and how much they weigh; kept where the closed-form start then ranks better.

What encoders there are is the user's to say, or they are looked for: tables of subword vectors cost nothing, sentence
encoders are tried where the texts at hand can be read in a few minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from rankae.base.choices import AS_SET, Choice, choice
from rankae.data.encoders import installed_encoders, open_encoder
from rankae.data.vectors import VectorBlock
from rankae.errors import MissingExtra
from rankae.recipe import rules
from rankae.recipe.comparison import Comparison, Tried

NONE = "none"
WEIGHTS = (0.5, 1.0)  # of a vector beside words of length 1
_MOST_SECONDS = 600  # that reading all texts may take unasked


@dataclass(frozen=True)
class VectorCandidates:
    """What the user says of vectors.

    encoder : a folder or an installed package; "none" for none; None to look for one, if `look`.
    weights : how much a vector may weigh beside the words of a row, which have length 1.
    """

    encoder: str | Path | None = None
    look: bool = False
    weights: Sequence[float] = WEIGHTS

    def blocks(self, texts: Sequence[str]) -> tuple[list[VectorBlock], Choice | None]:
        """The vectors to try, of weight 1, and that choice, where there is none to make."""
        if (given := VectorBlock.given_with(texts)) is not None:
            return [given], None
        if isinstance(self.encoder, str) and self.encoder.lower() == NONE:
            return [], choice("encoder", NONE, AS_SET)
        if self.encoder is not None:
            encoder = open_encoder(self.encoder)
            return [VectorBlock(encoder.size, 1.0, encoder)], None
        return self._found(texts) if self.look else ([], None)

    def _found(self, texts: Sequence[str]) -> tuple[list[VectorBlock], Choice | None]:
        blocks, too_slow = [], []
        names = installed_encoders()
        for name in names:
            try:
                encoder = open_encoder(name)
            except MissingExtra as missing:
                return [], choice("encoder", NONE, str(missing))
            seconds = encoder.seconds(texts)
            if seconds > _MOST_SECONDS:
                too_slow.append(f"{name} would take about {seconds / 60:.0f} minutes, --set encoder={name} does try it")
            else:
                blocks.append(VectorBlock(encoder.size, 1.0, encoder))
        if not names:
            too_slow.append(
                "what a pretrained encoder knows can be worth 1 to 3 points of P@1 on texts: "
                "pip install 'rankae[encoder]', and see docs/text.md for encoders"
            )
        return blocks, None if blocks else choice("encoder", NONE, "; ".join(too_slow))


def choose_vectors(
    blocks: Sequence[VectorBlock],
    weights: Sequence[float],
    texts: Sequence[str],
    best: Tried,
    comparison: Comparison,
    by: str,
) -> tuple[VectorBlock | None, Choice]:
    """The vectors and their weight that rank `texts` best beside the words of `best`; None where words do without.

    Returns
    -------
    the vectors, or None, and that choice.
    """
    found: list[tuple[VectorBlock | None, Tried]] = [(None, best)]
    for block in blocks:
        vectors = block.vectors(best.text.shown(texts))
        for weight in weights:
            own, text = block.weighing(weight), copy(best.text)
            text.block = own
            rows = own.beside(best.rows, vectors)
            found.append((own, Tried(text, rows, best.settings, comparison.precision(text, rows))))
    ahead = max(found, key=lambda tried: tried[1].precision.mean())
    gain = ahead[1].precision.mean() - best.precision.mean()
    chosen = ahead[0] if gain > max(rules.GAIN_OF_VECTORS, best.chance(ahead[1])) else None
    figures = {_told(own): float(tried.precision.mean()) for own, tried in found}
    least = max(rules.GAIN_OF_VECTORS, best.chance(ahead[1]))
    return chosen, choice("encoder", _told(chosen), f"{by}; more must gain {least:.1f}", figures)


def _told(block: VectorBlock | None) -> str:
    return NONE if block is None else f"{block.name} of weight {block.weight:g}"
