"""`rankae train --plan` and `--memory`: the estimated cost of training, and settings that fit the memory."""

from __future__ import annotations

import json as json_module
import re
from typing import TYPE_CHECKING, Any

import typer

from rankae.errors import RankaeError

if TYPE_CHECKING:
    from rankae.base.ranker import LabelRanker
    from rankae.data import Dataset
    from rankae.recipe.plan import Plan

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_BUSY = 1.5  # programs per core from which the plan says that training will wait
_WORTH_A_PLAN = 0.02  # of the free memory: data that takes less needs no plan


def parse_size(text: str) -> float:
    """Bytes.

    >>> parse_size("1.5G") == 1.5 * 2**30
    True
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?\s*", text.upper())
    if not match or float(match[1]) == 0:
        raise RankaeError(f"--memory is {text!r}; give a size such as 8G or 500M")
    return float(match[1]) * _UNITS[match[2]]


def plan_of(ranker: LabelRanker, rows: Dataset, memory: float | None) -> Plan:
    from rankae.methods.rank_ae import RankAE

    if not isinstance(ranker, RankAE):
        raise RankaeError(f"plans are made for rank-ae, not for {ranker.method}; leave out --plan and --memory")
    return ranker.plan(rows.rows, rows.labels, memory)


def keep_within(ranker: LabelRanker, rows: Dataset, memory: float | None) -> dict[str, Any]:
    """Reduce the settings so that training fits the memory; returns the plan as a fact of the model.

    Without --memory, nothing is planned for data that is small compared with the free memory.
    """
    from rankae.methods.presets import JOINT, preset_settings
    from rankae.methods.rank_ae import RankAE
    from rankae.recipe.plan import free_memory

    if memory is None:
        if not isinstance(ranker, RankAE) or preset_settings(ranker.preset)[0] in JOINT:
            return {}
        held = 8.0 * rows.features.nnz if rows.features is not None else sum(map(len, rows.texts or ()))
        if held < _WORTH_A_PLAN * free_memory():
            return {}
    plan = plan_of(ranker, rows, memory)
    ranker.set_params(**{name: getattr(plan.settings, name) for name in plan.changed})
    for name, change in plan.changed.items():
        typer.echo(f"{name}: {change}, to keep within {_size(plan.budget)}", err=True)
    return {"plan": plan.as_json()}


def show_plan(plan: Plan, json: bool) -> None:
    from rankae.report.terminal import print_table

    if json:
        typer.echo(json_module.dumps(plan.as_json()))
        return
    steps = [[name, _time(seconds), _size(plan.memory.get(name, 0))] for name, seconds in plan.seconds.items()]
    total = ["together", _time(sum(plan.seconds.values())), _size(plan.peak)]
    print_table("training", ["step", "time", "memory"], [*steps, total])
    model = [[name, _size(size)] for name, size in plan.model.items()]
    print_table("model", ["table", "size"], [*model, ["together", _size(sum(plan.model.values()))]])
    for name, change in plan.changed.items():
        typer.echo(f"{name}: {change}, to keep within {_size(plan.budget)}")
    if (factor := plan.as_json()["waiting_factor"]) >= _BUSY:
        typer.echo(f"other programs run here now: by the clock it takes about {factor:.1f} times as long")
    typer.echo("settings: " + ", ".join(f"{name} {value}" for name, value in plan.as_json()["settings"].items()))


def _size(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB" if size else "-"


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
