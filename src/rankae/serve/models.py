"""The served models, and replacing one by its retrained version without dropping a request."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rankae.base.choose_cuts import Aim, choose_cuts
from rankae.base.cuts import Cuts
from rankae.base.ranker import LabelRanker
from rankae.errors import ModelFileError, RankaeError
from rankae.methods import load
from rankae.model_file import read_manifest
from rankae.model_file.folder import MANIFEST
from rankae.model_file.replace import find_folder
from rankae.serve import figures
from rankae.serve.labels import LabelSearch
from rankae.serve.problems import Refused

log = logging.getLogger("rankae.serve")
_WARM_UP = ["a few words to begin with", "and some more of them, so that several rows are read at a time"]
_MOST_CUTS = 100
_NAME = re.compile(r"[^\x00-\x1f/\\]{1,200}")


@dataclass(frozen=True)
class Ranked:
    """Labels of some texts, best first, rows x k.

    probabilities : None for a model without calibration.
    passed : whether the model assigns the label: by its stored cut, else by its threshold.
    """

    columns: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray | None
    passed: np.ndarray

    def __len__(self) -> int:
        return len(self.columns)

    def row(self, i: int) -> tuple[list[int], list[float], list[float | None], list[bool]]:
        """Columns, scores, probabilities and `passed` of one text."""
        likely = [None] * self.columns.shape[1] if self.probabilities is None else self.probabilities[i].tolist()
        return self.columns[i].tolist(), self.scores[i].tolist(), likely, self.passed[i].tolist()


@dataclass(frozen=True)
class Served:
    """One served model. It is immutable, so a request uses the same model from beginning to end."""

    name: str
    folder: Path
    ranker: LabelRanker
    fingerprint: str
    facts: dict[str, Any]
    version: tuple[int, ...]
    loaded: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    _cuts: dict[str, Cuts] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, name: str, folder: str) -> Served:
        """Load the model and predict once, so that everything is compiled and in memory for the first request."""
        if not _NAME.fullmatch(name):
            raise RankaeError(f"{folder} cannot be served under the name {name!r}; rename the folder")
        place = Path(folder)
        version = version_of(place)
        ranker = load(place)
        if ranker.reads != "text" and ranker.text_ is None:
            raise RankaeError(
                f"{folder} was trained on a feature matrix; the service reads texts, so it cannot serve it"
            )
        if "threads" in ranker.get_params(deep=False):
            ranker.set_params(threads=1)  # requests are computed in parallel, each on one thread
        manifest = read_manifest(place)
        served = cls(name, place, ranker, manifest["sha256"], manifest["facts"], version)
        for k in (1, 5):
            served.ranker.top_columns(_WARM_UP[:1], k)
            served.ranker.top_columns(_WARM_UP, k)
        served.search.find("a")
        return served

    @cached_property
    def names(self) -> list[str]:
        return [str(name) for name in self.ranker.classes_.tolist()]

    @cached_property
    def columns(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def search(self) -> LabelSearch:
        return LabelSearch(self.names, self.ranker.label_counts_)

    @cached_property
    def card(self) -> dict[str, Any]:
        from rankae.serve.card import card

        return card(self)

    def top(self, texts: Sequence[str], k: int, aim: str | None = None) -> Ranked:
        """The k best labels of each text; with an `aim`, `passed` follows the cut for that aim."""
        columns, scores = self.ranker.top_columns(list(texts), min(k, len(self.names)))
        probabilities = self.ranker.probabilities(columns, scores) if self.calibrated else None
        if aim is None or probabilities is None:
            passed = self.ranker.selected(columns, scores, probabilities)
        else:
            passed = self.cuts(aim).selected(columns, probabilities)
        return Ranked(columns, scores, probabilities, np.asarray(passed) & (columns >= 0))

    def cuts(self, aim: str) -> Cuts:
        """The cut for an aim, chosen on the model's held-out rows; computed once for each aim."""
        if aim not in self._cuts:
            held_out = self.ranker.held_out_
            if held_out is None:
                raise RankaeError(f"{self.name} keeps no held-out rows to choose a cut on; train it again")
            wanted = Aim.parse(aim)
            likely = self.ranker.probabilities(held_out.columns, held_out.scores)
            if len(self._cuts) >= _MOST_CUTS:
                self._cuts.clear()
            self._cuts[aim] = choose_cuts(held_out, likely, wanted)
        return self._cuts[aim]

    @property
    def calibrated(self) -> bool:
        return self.ranker.calibration_ is not None


def version_of(folder: Path) -> tuple[int, ...]:
    """A value that changes whenever the folder is replaced by another model."""
    try:
        found = (find_folder(folder) / MANIFEST).stat()
    except OSError:
        raise ModelFileError(f"{folder} is not a model folder: it has no {MANIFEST}") from None
    return found.st_ino, found.st_mtime_ns, found.st_size


class Shelf:
    """The served models by name."""

    def __init__(self, folders: dict[str, str]) -> None:
        self.folders = folders
        self._served: dict[str, Served] = {}
        self._refused: dict[str, tuple[int, ...]] = {}

    def open(self) -> None:
        for name, folder in self.folders.items():
            self._served[name] = Served.read(name, folder)

    def __getitem__(self, name: str) -> Served:
        if name not in self._served:
            raise Refused(404, "there is no such model; /v1/models lists them")
        return self._served[name]

    def __iter__(self):
        return iter(self._served.values())

    @property
    def first(self) -> Served:
        return next(iter(self._served.values()))

    async def watch(self, seconds: float) -> None:
        """Watch for retrained models; each is loaded and warmed up before it replaces the old one."""
        while True:
            await asyncio.sleep(seconds)
            for name, served in list(self._served.items()):
                await self._refresh(name, served)

    async def _refresh(self, name: str, served: Served) -> None:
        try:
            version = version_of(served.folder)
        except ModelFileError:
            return  # deleted, or being replaced now; the old model is still in memory
        if version in (served.version, self._refused.get(name)):
            return
        try:
            fresh = await asyncio.to_thread(Served.read, name, self.folders[name])
        except Exception as error:  # a broken file must not stop the service: the old model goes on
            log.error("%s: the new model is not served: %s", name, error)
            figures.FAILED_RELOADS.labels(name).inc()
            self._refused[name] = version
            return
        self._served[name] = fresh
        figures.RELOADS.labels(name).inc()
        log.info("%s: model %s is served in place of %s", name, fresh.fingerprint[:12], served.fingerprint[:12])
