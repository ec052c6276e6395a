"""The components of the default model, in the order in which the stacker reads their scores.

A new component is one file with a class that implements `Component`, and one line here. The orchestrator
(`recipe.fitting`) trains every component that has `trained`, without the held-out rows and on all rows; it trains the
others by name, each in its own way.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp

from rankae.components.closed_form import ClosedForm
from rankae.components.joint_network import JointNetwork
from rankae.components.label_names import LabelNames
from rankae.components.legacy_network import NetworkComponent
from rankae.components.neighbours import Neighbours
from rankae.components.predictions import Predictions
from rankae.components.ranker_weights import RankerWeights
from rankae.components.rankers import Rankers


class Component(Protocol):
    """The interface of a component. One that proposes no labels has `scores(rows, shortlist)` in place of `predict`."""

    name: str

    def predict(self, rows: sp.csr_matrix) -> Predictions:
        """Proposals and scores for a block of rows."""

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """JSON values and arrays, for the model file."""

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self: ...


class PlainComponent(Component, Protocol):
    """A component that is trained from rows and labels alone."""

    @classmethod
    def trained(cls, rows: sp.csr_matrix, labels: sp.csr_matrix, seed: int) -> Self: ...


COMPONENTS: dict[str, Any] = {kind.name: kind for kind in (ClosedForm, JointNetwork, Neighbours, LabelNames, Rankers)}


def plain_components() -> dict[str, type[PlainComponent]]:
    """The components that the orchestrator trains generically."""
    return {name: kind for name, kind in COMPONENTS.items() if hasattr(kind, "trained")}


def restored(name: str, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    """A component from its state; shrunk rankers and networks of older files have classes of their own."""
    if name == NetworkComponent.name and "members" in settings:
        return NetworkComponent.from_state(settings, arrays)
    kind = RankerWeights if name == Rankers.name and "vocabulary" in settings else COMPONENTS[name]
    return kind.from_state(settings, arrays)
