"""What the paper leaves open, chosen on rows that the network has not seen (section 3.1), in short runs on a sample.

1. The point to start from: values that gain together, but not one by one.
2. One setting after the other from there: a value is taken if it beats the best before it by more than one standard
   error of their difference.
3. The number of epochs. The learning rate falls to 0 at the end of a schedule, so a short one is not the beginning of
   a long one: each is run by itself, longer ones until one is no better. On a few thousand texts sixteen epochs learn
   the rows by heart; where labels are many and rare, four learn next to nothing.
4. The settings after "epochs", for that many epochs: what gains only in long trainings.
5. One training on all rows with what was chosen.

All trials have the same sample. Together they read about as many rows as one training of 16 epochs on 16,000 rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import Choices, choice
from rankae.data.near_duplicates import novel_rows
from rankae.data.splits import split_runs
from rankae.errors import RankaeError
from rankae.model_file.replace_file import write_text
from rankae.paper.joint import train_joint
from rankae.paper.rank_network import RankNetwork, Rows, select_rows
from rankae.paper.settings import JointSettings
from rankae.progress import bar

Open = Mapping[str, Sequence[Any]]
Starts = Mapping[str, Mapping[str, Any]]

_SHORT = 8  # epochs of a trial of steps 1 and 2
_SAMPLE = 4000  # rows of a trial
_MOST_READ = 192_000  # rows that the trials of steps 1 and 2 read together
_HELD_OUT, _MOST_HELD_OUT = 0.1, 3000
_ENOUGH_HELD_OUT = 1000  # of fewer rows than ten times that, up to a fifth is held out
_FEWEST_HELD_OUT = 20  # fewer rows do not tell one setting from another
_FEWEST_LEARNT = 2500  # rows of a trial, if there are as many: fewer choose another decay than all of them would
_PLACES = (1, 3, 5)
_NAME = "choices.json"
_AS_PRESET = "preset"  # the name of the starting point that the preset is


def batch_for(rows: int) -> int:
    """Rows of a step: small batches for small data, which would otherwise see few steps."""
    return 32 if rows < 8000 else 64 if rows < 30_000 else 128


def train_as_chosen(
    rows: Rows,
    labels: sp.csr_matrix,
    settings: JointSettings,
    open_settings: Open,
    *,
    starts: Starts = MappingProxyType({}),
    validation: tuple[Rows, sp.csr_matrix] | None = None,
    checkpoint_dir: str | Path | None = None,
    **options: Any,
) -> tuple[RankNetwork, Choices]:
    """As `train_joint`, with the settings that suit rows which the network has not seen.

    Rows with a near-duplicate among those learnt from do not count: they reward memory.

    Parameters
    ----------
    settings : where the search starts; a setting that is not in `open_settings` or `starts` stays.
    open_settings : the values to try of each setting, the most important setting first; "epochs" comes last by itself.
    starts : other points to start from, by name: what they change of `settings`.
    validation : rows to choose by; of the last training, the epoch that suits them is returned. Without, a tenth of the
        rows (of few, a fifth) is held out for that, and then all rows are learnt from.
    checkpoint_dir : holds the figures of finished trials, so that a killed run goes on where it was.
    options : further arguments of `train_joint`.

    Returns
    -------
    the network, and the choices with the figures behind them.
    """
    learn, check = (rows, labels), validation
    count = labels.shape[0]
    if check is None and count * _HELD_OUT >= _FEWEST_HELD_OUT:
        share = min(max(_HELD_OUT, min(2 * _HELD_OUT, _ENOUGH_HELD_OUT / count)), _MOST_HELD_OUT / count)
        kept, held = split_runs(labels, share, settings.seed)
        learn, check = (select_rows(rows, kept), labels[kept]), (select_rows(rows, held), labels[held])
    if check is None:
        choices = {"epochs": choice("epochs", settings.epochs, "too few rows to try others")}
    else:
        trials = Trials(*learn, _without_copies(check, learn[0]), options | {"resume": False})
        trials.remember_in(checkpoint_dir, resume=options.get("resume", False))
        settings, choices = _chosen(trials, settings, open_settings, starts)
    final = {"validation": validation, "checkpoint_dir": checkpoint_dir} | options
    return train_joint(rows, labels, settings, **final), choices


@dataclass
class Trials:
    """Short trainings, each remembered by its settings and its number of rows.

    check : the rows that figures are measured on, and their labels.
    """

    rows: Rows
    labels: sp.csr_matrix
    check: tuple[Rows, sp.csr_matrix]
    options: dict[str, Any]
    figures: dict[str, np.ndarray] = field(default_factory=dict)
    file: Path | None = None

    def merit(self, settings: JointSettings, most_rows: int) -> np.ndarray:
        """Mean of P@1, P@3 and P@5 of each held-out row after a training on so many rows; 0 if it diverged."""
        name = json.dumps([most_rows, {k: v for k, v in vars(settings).items() if k not in ("threads", "device")}])
        if name not in self.figures:
            sample = np.arange(self.labels.shape[0])
            if len(sample) > most_rows:
                sample = np.sort(np.random.default_rng(settings.seed).permutation(sample)[:most_rows])
            try:
                network = train_joint(select_rows(self.rows, sample), self.labels[sample], settings, **self.options)
                self.figures[name] = self._precision(network)
            except RankaeError:  # it diverged
                self.figures[name] = np.zeros(self.check[1].shape[0])
            self._note()
        return self.figures[name]

    def _precision(self, network: RankNetwork) -> np.ndarray:
        rows, labels = self.check
        top = network.top(rows, _PLACES[-1])[0]
        hits = np.zeros((labels.shape[0], _PLACES[-1]))
        for i, own in enumerate(np.split(labels.indices, labels.indptr[1:-1])):
            hits[i, : top.shape[1]] = np.isin(top[i], own)
        return np.mean([100 * hits[:, :k].mean(1) for k in _PLACES], axis=0)

    def remember_in(self, folder: str | Path | None, resume: bool) -> None:
        """Keep the figures in a file of this folder, and use those that are there."""
        if folder is None:
            return
        self.file = Path(folder) / _NAME
        if resume and self.file.exists():
            try:
                found = {str(k): np.array(v, dtype=float) for k, v in json.loads(self.file.read_text()).items()}
            except (ValueError, TypeError, AttributeError):
                raise RankaeError(f"{self.file} is not readable; delete it to choose anew") from None
            shape = (self.check[1].shape[0],)
            self.figures = {name: figures for name, figures in found.items() if figures.shape == shape}

    def _note(self) -> None:
        if self.file is not None:
            write_text(self.file, json.dumps({name: rows.tolist() for name, rows in self.figures.items()}))


def _chosen(
    trials: Trials, settings: JointSettings, open_settings: Open, starts: Starts
) -> tuple[JointSettings, Choices]:
    choices: Choices = {}
    tried: dict[Any, np.ndarray]
    rows, names = trials.labels.shape[0], list(open_settings)
    early = names[: names.index("epochs")] if "epochs" in names else names
    further = {name: len(set(values) - {getattr(settings, name)}) for name, values in open_settings.items()}
    short_trials = 1 + len(starts) + sum(further[name] for name in early)
    count = min(rows, _SAMPLE, max(_FEWEST_LEARNT, _MOST_READ // (short_trials * _SHORT)))
    long = {"batch": batch_for(count)}
    short = {**long, "epochs": _SHORT}
    reason = f"by {trials.check[1].shape[0]} rows not learnt from"

    def note(name: str, value: Any, tried: Mapping[Any, np.ndarray], epochs: str) -> None:
        figures = {one: float(merits.mean()) for one, merits in tried.items()}
        choices[name] = choice(name, value, f"{reason}, {epochs} epochs of {count}", figures)

    with bar("choosing settings", short_trials + sum(further[name] for name in names if name not in early)) as progress:

        def merit(changes: Mapping[str, Any]) -> np.ndarray:
            known = len(trials.figures)
            merits = trials.merit(replace(settings, **changes), count)
            progress.advance(len(trials.figures) - known, precision=float(merits.mean()))
            return merits

        if starts:
            tried = {name: merit({**changes, **short}) for name, changes in {_AS_PRESET: {}, **starts}.items()}
            best = _first_of_the_best(tried)
            note("starting_point", best, tried, str(_SHORT))
            settings = replace(settings, **starts.get(best, {}))
        for name in names:
            own = getattr(settings, name)
            if name == "epochs":
                tried = _lengths(open_settings[name], lambda length: merit({**long, "epochs": length}))
                best = _first_of_the_best(tried)
                note(name, best, tried, "/".join(map(str, tried)))
            else:
                used = short if name in early else long
                tried = {value: merit({**used, name: value}) for value in dict.fromkeys([own, *open_settings[name]])}
                best = _first_of_the_best(tried)
                note(name, best, tried, str(used.get("epochs", settings.epochs)))
            settings = replace(settings, **{name: best})
    return settings, choices


def _first_of_the_best(tried: Mapping[Any, np.ndarray]) -> Any:
    """The first, unless one after it is better by more than its standard error, and so on."""
    best = next(iter(tried))
    for value, merits in tried.items():
        if _better(merits, tried[best]):
            best = value
    return best


def _lengths(lengths: Sequence[int], merit: Callable[[int], np.ndarray]) -> dict[int, np.ndarray]:
    """The figures of the number of epochs that is known, of longer ones while they gain, else of shorter ones."""
    first = min(lengths, key=lambda length: abs(length - _SHORT))
    tried = {first: merit(first)}
    for longer in (True, False):
        for length in sorted((one for one in lengths if (one > first) == longer and one != first), reverse=not longer):
            tried[length] = merit(length)
            if tried[length].mean() < max(one.mean() for one in tried.values()):
                break
        if max(tried, key=lambda length: tried[length].mean()) != first:
            break
    return tried


def _better(new: np.ndarray, old: np.ndarray) -> bool:
    """Whether the advantage over the same rows is more than its standard error: less may well be chance."""
    gain = new - old
    return bool(gain.mean() > gain.std() / len(gain) ** 0.5)


def _without_copies(check: tuple[Rows, sp.csr_matrix], learnt: Rows) -> tuple[Rows, sp.csr_matrix]:
    rows, labels = check
    if not isinstance(rows, sp.csr_matrix):
        return check
    novel = novel_rows(rows, among=learnt)
    return rows[novel], labels[novel]
