"""Chooses the vectors beside the words of a text, and their weight, by the precision of the closed-form start.

The user names an encoder, or all installed ones are tried that can encode the texts in a few minutes.
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
from rankae.recipe.comparison import Comparison, FeatureTrial

NONE = "none"
WEIGHTS = (0.5, 1.0)  # of a vector beside words of length 1
_MOST_SECONDS = 600  # of encoding all texts, for an encoder that the user did not ask for


@dataclass(frozen=True)
class VectorCandidates:
    """The encoders and weights to try.

    encoder : a folder or an installed package; "none" for none; None for those that are installed, if `look`.
    weights : candidate weights of a vector beside the words of a row, which have length 1.
    """

    encoder: str | Path | None = None
    look: bool = False
    weights: Sequence[float] = WEIGHTS

    def blocks(self, texts: Sequence[str]) -> tuple[list[VectorBlock], Choice | None]:
        """The vectors to try, with weight 1, and the choice if there is nothing to try."""
        if (given := VectorBlock.given_with(texts)) is not None:
            return [given], None
        if isinstance(self.encoder, str) and self.encoder.lower() == NONE:
            return [], choice("encoder", NONE, AS_SET)
        if self.encoder is not None:
            encoder = open_encoder(self.encoder)
            return [VectorBlock(encoder.size, 1.0, encoder)], None
        return self._installed(texts) if self.look else ([], None)

    def _installed(self, texts: Sequence[str]) -> tuple[list[VectorBlock], Choice | None]:
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
    best: FeatureTrial,
    comparison: Comparison,
    by: str,
) -> tuple[VectorBlock | None, Choice]:
    """The vectors and weight that rank best beside the words of `best`, or None if words alone do; and the choice."""
    trials: list[tuple[VectorBlock | None, FeatureTrial]] = [(None, best)]
    for block in blocks:
        vectors = block.vectors(best.text.shown(texts))
        for weight in weights:
            weighted, text = block.weighing(weight), copy(best.text)
            text.block = weighted
            rows = weighted.beside(best.rows, vectors)
            trials.append((weighted, FeatureTrial(text, rows, best.settings, comparison.precision(text, rows))))
    best_trial = max(trials, key=lambda tried: tried[1].precision.mean())
    gain = best_trial[1].precision.mean() - best.precision.mean()
    chosen = best_trial[0] if gain > max(rules.GAIN_OF_VECTORS, best.chance(best_trial[1])) else None
    figures = {_described(weighted): float(tried.precision.mean()) for weighted, tried in trials}
    least = max(rules.GAIN_OF_VECTORS, best.chance(best_trial[1]))
    return chosen, choice("encoder", _described(chosen), f"{by}; more must gain {least:.1f}", figures)


def _described(block: VectorBlock | None) -> str:
    return NONE if block is None else f"{block.name} of weight {block.weight:g}"
