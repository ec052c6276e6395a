"""The components of the default model, in the order in which the stacker reads their scores.

A new component is one file with a class like `Component`, and one line here. One that has `trained` is trained by the
orchestrator (`recipe.fitting`), without the rows that are held out and on all rows; the others are trained there by
name, each in its own way.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp

from rankae.components.closed_form import ClosedForm
from rankae.components.joint_network import JointNetwork
from rankae.components.label_names import LabelNames
from rankae.components.neighbours import Neighbours
from rankae.components.network import NetworkComponent
from rankae.components.predictions import Predictions
from rankae.components.ranker_weights import RankerWeights
from rankae.components.rankers import Rankers


class Component(Protocol):
    """What every component has. One that proposes no labels has `scores(rows, shortlist)` in place of `predict`."""

    name: str

    def predict(self, rows: sp.csr_matrix) -> Predictions:
        """Proposals and scores for a block of rows."""

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """JSON values and arrays, for the model file."""

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self: ...


class PlainComponent(Component, Protocol):
    """A component that rows and labels are all that it learns from."""

    @classmethod
    def trained(cls, rows: sp.csr_matrix, labels: sp.csr_matrix, seed: int) -> Self: ...


COMPONENTS: dict[str, Any] = {kind.name: kind for kind in (ClosedForm, JointNetwork, Neighbours, LabelNames, Rankers)}


def plain_components() -> dict[str, type[PlainComponent]]:
    """Those that the orchestrator trains without knowing them."""
    return {name: kind for name, kind in COMPONENTS.items() if hasattr(kind, "trained")}


def restored(name: str, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    """A component from its state; shrunk rankers are kept as prediction reads them, networks of older files as well."""
    if name == NetworkComponent.name and "members" in settings:
        return NetworkComponent.from_state(settings, arrays)
    kind = RankerWeights if name == Rankers.name and "vocabulary" in settings else COMPONENTS[name]
    return kind.from_state(settings, arrays)
