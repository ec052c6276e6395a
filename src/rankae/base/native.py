"""Pickling of models whose library objects cannot be pickled."""

from __future__ import annotations

from typing import Any

_NATIVE = ("model_", "folder_")  # library objects, whose contents `_state` returns


class PickledByState:
    """Pickles (and copies) a model by `_state` and `_restore`, as saving and loading do."""

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[misc, assignment]
        if not hasattr(self, "model_"):
            return state
        rest = {name: value for name, value in state.items() if name not in _NATIVE}
        return rest | {"_pickled": self._state()}  # type: ignore[attr-defined]

    def __setstate__(self, state: dict[str, Any]) -> None:
        pickled = state.pop("_pickled", None)
        super().__setstate__(state)  # type: ignore[misc]
        if pickled is not None:
            self._restore(*pickled)  # type: ignore[attr-defined]
