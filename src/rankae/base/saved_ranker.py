"""Saves a ranker to a model folder, and loads it, also from files that are damaged or forged."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from rankae.base.inputs import name_array
from rankae.base.parameters import check_parameters
from rankae.base.probabilities import Probabilities
from rankae.data.reading import ReadingSettings
from rankae.data.text import TextFeatures
from rankae.errors import ModelFileError, RankaeError
from rankae.model_file import ModelFile, read_model, write_model
from rankae.model_file.schema import Array, check_arrays, check_facts

_OF_THIS_CLASS = ("text.", "training.", "calibration.", "held_out.", "cuts.")  # arrays that no method writes

# Errors that a forged file may cause deep in a library.
_ERRORS_OF_FORGED_FILES = LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, MemoryError


class SavedRanker(Probabilities):
    """The part of `LabelRanker` that is written to a model folder and read from it."""

    method: ClassVar[str]  # the name in the registry and on the command line

    n_features_in_: int
    training_rows_: int
    most_labels_: int
    kind_: str
    text_: TextFeatures | None

    # What a method implements -----------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """JSON values and arrays that `_restore` needs besides the constructor's parameters."""
        raise NotImplementedError

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        raise NotImplementedError

    def _schema(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Array]:
        """Types and shapes of the model file's arrays, for methods whose `_restore` does not check them itself.

        Shapes may use the sizes "labels", "features" and "rows" (the number of training rows).
        """
        return {}

    # What a user calls ------------------------------------------------------------------------------------------

    def save(self, path: str | Path, **facts: Any) -> None:
        """Write the model folder (see `rankae.model_file`); `facts` such as metrics are kept in model.json."""
        self._check_fitted()
        settings, arrays = self._state()
        trust, trust_arrays = self._trust_state()
        arrays = arrays | trust_arrays | {"training.label_counts": self.label_counts_}
        if (reading := getattr(self, "reading_", None)) is not None:
            facts = {"reading": reading.to_json()} | facts
        tables, text = {"labels": self.classes_.tolist()}, None
        if self.text_ is not None:
            text, text_arrays, tables["words"] = self.text_.state()
            arrays |= {f"text.{name}": value for name, value in text_arrays.items()}
        write_model(
            path,
            method=self.method,
            settings={
                "parameters": self.get_params(deep=False),
                "kind": self.kind_,
                "threshold": self.threshold_,
                "most_labels": self.most_labels_,
                "features": self.n_features_in_,
                "training_rows": self.training_rows_,
                "text": text,
                "trust": trust,
                "state": settings,
            },
            arrays=arrays,
            tables=tables,
            facts=facts,
        )

    @classmethod
    def load(cls, path: str | Path, verify: bool = True) -> Self:
        """Read a model folder written by `save`; arrays are mapped from disk, not copied.

        verify : check the SHA-256 of every file (a second for two gigabytes or so).
        """
        return cls._loaded(read_model(path, method=cls.method, verify=verify), path)

    # How it is read ---------------------------------------------------------------------------------------------

    @classmethod
    def _loaded(cls, model_file: ModelFile, path: str | Path) -> Self:
        try:
            return cls._from_file(model_file)
        except RankaeError:
            raise
        except _ERRORS_OF_FORGED_FILES as error:
            raise ModelFileError(
                f"{path} lacks what a {cls.method} model needs ({type(error).__name__}: {_in_one_line(error)}); "
                "train it again"
            ) from error

    @classmethod
    def _from_file(cls, model_file: ModelFile) -> Self:
        settings, arrays = model_file.settings, model_file.arrays
        # Models of older versions may have parameters that no longer exist. A checkpoint folder is never restored.
        known = set(cls._get_param_names()) - {"checkpoint", "resume"}
        parameters = {name: value for name, value in settings["parameters"].items() if name in known}
        check_parameters(cls.method, cls, parameters)
        check_facts(settings, len(model_file.tables["labels"]))
        model = cls(**parameters)
        model.classes_ = name_array(model_file.tables["labels"])
        model.kind_ = settings["kind"]
        model.threshold_ = settings["threshold"]
        model.most_labels_ = settings["most_labels"]
        model.n_features_in_ = settings["features"]
        model.training_rows_, model.label_counts_ = settings["training_rows"], arrays["training.label_counts"]
        model.facts_ = model_file.facts
        model.reading_ = ReadingSettings.from_json(model_file.facts.get("reading"))
        model.text_ = None
        if settings["text"] is not None:
            text_arrays = {name.removeprefix("text."): v for name, v in arrays.items() if name.startswith("text.")}
            model.text_ = TextFeatures.from_state(settings["text"], text_arrays, model_file.tables["words"])
        model._restore_trust(settings.get("trust", {}), arrays)
        method_arrays = {n: v for n, v in arrays.items() if not n.startswith(_OF_THIS_CLASS)}
        sizes = {"labels": len(model.classes_), "features": model.n_features_in_, "rows": model.training_rows_}
        check_arrays({"training.label_counts": Array("iuf", ("labels",))}, arrays, sizes)
        check_arrays(model._schema(settings["state"], method_arrays), method_arrays, sizes)
        model._restore(settings["state"], method_arrays)
        return model


def _in_one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else f"{text[:197]}..."
