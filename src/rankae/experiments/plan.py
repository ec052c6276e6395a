"""The cells of an experiment, and how those that are not finished are run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from rankae.base.literals import literal
from rankae.data.sources import find_source
from rankae.errors import MissingExtra, RankaeError
from rankae.experiments.cells import Cell, Result, Store, data_name
from rankae.experiments.isolated import run_isolated
from rankae.methods import registry
from rankae.progress import bar

MOST_SEEDS = 20  # that `finished_series` looks for


@dataclass(frozen=True)
class Contender:
    """A method in a comparison: the name that tables show, its name in the registry, and its parameters.

    tuned : whether parameters may be searched; some methods take too long for that.
    """

    name: str
    method: str
    parameters: dict[str, Any] = field(default_factory=dict)
    tuned: bool = True


@dataclass(frozen=True)
class Series:
    """One contender on one data set (at one noise rate), with several seeds to average."""

    data: str
    contender: Contender
    seeds: int = 1
    noise: tuple[str, float] | None = None
    trials: int = 0
    k: tuple[int, ...] = (1, 3, 5)
    reading: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What tables call the data, with its noise."""
        name = data_name(self.data)
        return name if self.noise is None else noisy_name(name, *self.noise)

    def cell(self, seed: int) -> Cell:
        c = self.contender
        # No noise is the same for every kind: one measurement serves them all.
        noise = ("missing", 0.0) if self.noise is not None and self.noise[1] == 0 else self.noise
        return Cell(self.data, c.method, c.parameters, seed, noise, k=self.k, reading=self.reading)


@dataclass(frozen=True)
class Outcome:
    """The finished cells of a series, or the reason why there are none."""

    series: Series
    cells: list[Cell]
    results: list[Result]
    reason: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Running:
    """How cells are run.

    folder : for the report.
    isolate : whether each cell runs in a process of its own.
    jobs : number of series that run at the same time.
    retry : whether cells that failed or could not run are run again.
    minutes : time limit of a cell that runs in a process of its own.
    tell : called with every cell that was run and its result.
    again : methods whose cells in this plan are run again even if they are finished.
    cells : folder of the cells, which several reports may share; by default within `folder`.
    report_only : whether to run nothing and report the finished cells, with all their seeds.
    reading : options of `load_dataset` for all data sets.
    remote : function that calls another function on a cluster and waits for the result; each cell is then one task.
    """

    folder: Path
    isolate: bool = True
    jobs: int = 1
    retry: bool = False
    minutes: float | None = None
    tell: Callable[[Cell, Result], None] | None = None
    cells: Path | None = None
    report_only: bool = False
    again: frozenset[str] = frozenset()
    reading: dict[str, Any] = field(default_factory=dict)
    remote: Callable[..., Any] | None = None

    @property
    def store(self) -> Store:
        return Store(self.cells or self.folder / "cells")


def run_series(plan: Sequence[Series], running: Running) -> list[Outcome]:
    """Run the missing cells; returns outcomes in the order of the plan."""
    plan = [replace(series, reading=running.reading) for series in plan] if running.reading else plan
    if running.report_only:
        return finished_series(plan, running.store)
    for source in dict.fromkeys(series.data for series in plan):
        find_source(source)  # refuse a wrong name before the first cell, not after an hour
    # Methods are imported here, because concurrent imports of one library in several threads fail.
    seeds = {method: _is_random(method) for method in {series.contender.method for series in plan}}
    run_cell = _runner(running)
    with bar("experiments", len(plan)) as progress, ThreadPoolExecutor(max(1, running.jobs)) as pool:

        def one(series: Series) -> Outcome:
            # A deterministic method gives the same result for every seed, unless the noise differs.
            differs = seeds[series.contender.method] or (series.noise is not None and series.noise[1] > 0)
            outcome = _run_one(series, series.seeds if differs else 1, run_cell)
            progress.advance()
            return outcome

        waiting = [pool.submit(one, series) for series in plan]
        try:
            return [future.result() for future in waiting]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def finished_series(plan: Sequence[Series], store: Store) -> list[Outcome]:
    """The finished cells of a plan, with all their seeds; series without any are left out."""
    all_outcomes = [_run_one(series, MOST_SEEDS, store.find) for series in plan]
    outcomes = [outcome for outcome in all_outcomes if outcome.cells or outcome.reason]
    if not outcomes:
        raise RankaeError(f"{store.folder}: none of these cells is finished; run them first")
    return outcomes


def _run_one(series: Series, seeds: int, run_cell: Callable[[Cell], Result | None]) -> Outcome:
    """Search parameters if asked, then run one cell for each seed; the first refusal ends the series."""
    fixed = dict(series.contender.parameters)
    parameters = fixed
    method = registry.method_of(series.contender.method)
    chooses_itself = series.noise is not None and method.trusted_choose == "parameters"
    is_tuned = series.trials and series.contender.tuned and not chooses_itself
    if is_tuned and registry.search_space(series.contender.method):
        search = run_cell(replace(series.cell(0), trials=series.trials))
        if search is None:
            return Outcome(series, [], [])
        if search["status"] != "done":
            return Outcome(series, [], [], f"while tuning: {search['reason']}")
        parameters = fixed | search["parameters"]
    cells, results = [], []
    reason = None
    for seed in range(seeds):
        cell = replace(series.cell(seed), parameters=parameters)
        result = run_cell(cell)
        if result is None:
            continue  # not run yet, and only finished cells are reported
        if result["status"] == "done":
            cells.append(cell)
            results.append(result)
            continue
        reason = reason or result["reason"]
        if result["status"] == "cannot":
            break
    return Outcome(series, cells, results, reason, parameters)


def _runner(running: Running) -> Callable[[Cell], Result]:
    """Runs a cell unless it is finished already."""
    store = running.store
    if running.remote is not None:
        store = Store(store.folder.resolve())  # workers may stand in other folders
        run = partial(running.remote, run_isolated, store=store, minutes=running.minutes)
    elif running.isolate:
        run = partial(run_isolated, store=store, minutes=running.minutes)
    else:
        from rankae.experiments import measure  # every method's libraries, which isolated cells import for themselves

        run = partial(measure.run, store=store)

    renewed: set[str] = set()  # one cell may serve several series

    def run_cell(cell: Cell) -> Result:
        if cell.method in running.again and cell.key not in renewed:
            renewed.add(cell.key)
            store.forget(cell)
        result = store.find(cell)
        if result is None or (running.retry and result["status"] != "done"):
            result = run(cell)
            if running.tell is not None:
                running.tell(cell, result)
        return result

    return run_cell


def _is_random(method: str) -> bool:
    try:
        return (
            not registry.method_of(method).repeatable or "random_state" in registry.class_of(method)._get_param_names()
        )
    except RankaeError:  # it cannot be imported; its cell will report why
        return False


def contenders(methods: Iterable[str], settings: Iterable[str] = (), untuned: Iterable[str] = ()) -> list[Contender]:
    """Methods by name, with settings such as "xml-cnn.glove=vectors.txt" or "fastxml.trees=20".

    untuned : methods whose parameters are not searched.
    """
    if not (chosen := list(dict.fromkeys(methods))):
        raise RankaeError("no method is named; give some, such as rank-ae,parabel")
    parameters_of: dict[str, dict[str, Any]] = {}
    for setting in settings:
        target, equals, value = setting.partition("=")
        method, dot, parameter = target.rpartition(".")
        if not (equals and dot and parameter):
            raise RankaeError(f"the setting {setting!r} is not of the form METHOD.PARAMETER=VALUE")
        if method not in chosen:
            raise RankaeError(f"the setting {setting!r} is for {method!r}, which is not among the methods")
        parameters_of.setdefault(method, {})[parameter] = literal(value)
    as_is = set(untuned)
    for name in [*chosen, *as_is]:
        registry.method_of(name)  # refuses a wrong name
    for name, parameters in parameters_of.items():
        with suppress(MissingExtra):  # its cells will report it
            registry.create(name, **parameters)
    return [Contender(name, name, parameters_of.get(name, {}), name not in as_is) for name in chosen]


def noisy_name(data: str, kind: str, rate: float) -> str:
    return f"{data}, {kind} {100 * rate:g} %"
