"""The shapes of large public data sets, for generated data of the same shape.

Rows, labels, features and labels per row are the extreme classification repository's; words per row are the published
mean numbers of features that are not 0. The laws of frequency are fitted: on Amazon-670K to its most frequent label
(1,826 rows) and to the labels of more than five rows (about 100,000); on the others a plain Zipf law.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rankae.data.drawing import MIXTURE, ZIPF, FrequencyLaw, Mixture
from rankae.errors import DataError

_HEAPS = 0.6  # a collection of F times the rows has F^0.6 times the words


@dataclass(frozen=True)
class Shape:
    """Numbers of rows, features and labels, and their means per row."""

    rows: int
    test_rows: int
    features: int
    labels: int
    labels_per_row: float
    words_per_row: float
    law: FrequencyLaw = ZIPF
    mixture: Mixture = MIXTURE

    def scaled(self, factor: float) -> Shape:
        """The shape with `factor` times the rows and labels; the number of words shrinks more slowly (Heaps' law)."""
        if not 0 < factor <= 100:
            raise DataError(f"the scale is {factor:g}; give a factor above 0 and up to 100, such as 0.05")
        return replace(
            self,
            rows=max(10, round(self.rows * factor)),
            test_rows=max(10, round(self.test_rows * factor)),
            labels=max(10, round(self.labels * factor)),
            features=max(100, round(self.features * factor**_HEAPS)),
        )


SHAPES = {
    "amazoncat-13k": Shape(1_186_239, 306_782, 203_882, 13_330, 5.04, 71.2),
    "wiki-500k": Shape(1_813_391, 783_743, 2_381_304, 501_070, 4.77, 385.3),
    "amazon-670k": Shape(490_449, 153_025, 135_909, 670_091, 5.45, 75.7, FrequencyLaw(0.6, 5.4)),
}


def shape_of(name: str) -> Shape:
    if name.lower() not in SHAPES:
        raise DataError(f"there is no shape {name!r}; choose one of {', '.join(SHAPES)}")
    return SHAPES[name.lower()]
