"""The choices that the recipe makes, and their note on disk, so that a killed run need not make them again."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import scipy.sparse as sp
import torch

from rankae.errors import RankaeError
from rankae.recipe.evidence import held_out_opinions, parts_that_help, train_combiner
from rankae.recipe.notes import Training
from rankae.recipe.settings import RecipeSettings, resolved
from rankae.refine.combine import Combiner
from rankae.training.checkpoint import Checkpoint, read_checkpoint, write_checkpoint

_FEWEST_ROWS = 100  # fewer rows say nothing about which parts help


@dataclass(frozen=True)
class Choice:
    """Settings with every choice made, and the combiner of the parts that were kept."""

    settings: RecipeSettings
    combiner: Combiner | None


def make_choice(rows: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings, training: Training) -> Choice:
    settings = resolved(settings, rows, labels, training)
    allowed = _allowed(settings) if rows.shape[0] >= _FEWEST_ROWS else ["code"]
    combiner = None
    if len(allowed) > 1:
        opinions, right = held_out_opinions(rows, labels, settings, training)
        began = time.perf_counter()
        if settings.choose:
            allowed = parts_that_help(opinions, right, labels, settings, training)
        if len(allowed) > 1:
            opinions = opinions.of(allowed, labels.shape[1])
            combiner = train_combiner(opinions, right, labels, settings, training)
        training.timed("combiner", began)
    training.choices["parts"] = ", ".join(allowed)
    return Choice(_only(settings, allowed), combiner)


def note_choice(folder: str | Path, chosen: Choice, asked: RecipeSettings, data: list[int], training: Training) -> None:
    weights = chosen.combiner.weights if chosen.combiner is not None else {}
    facts = {
        "asked": asdict(asked),
        "data": data,
        "settings": asdict(chosen.settings),
        "choices": training.choices,
        "evidence": training.evidence,
        "threshold": training.threshold,
    }
    tensors = {name: torch.from_numpy(value) for name, value in weights.items()}
    write_checkpoint(folder, Checkpoint(tensors, facts))


def noted_choice(folder: str | Path, asked: RecipeSettings, data: list[int], training: Training) -> Choice | None:
    """The choice that an interrupted run made, if it was about the same data and settings."""
    found = read_checkpoint(folder)
    if found is None:
        return None
    if found.facts.get("asked") != asdict(asked) or found.facts.get("data") != data:
        raise RankaeError(f"{folder} is from other data or settings; train without --resume, or restore them")
    training.choices.update(found.facts["choices"])
    training.evidence.update(found.facts["evidence"])
    training.threshold = found.facts["threshold"]
    weights = {name: value.numpy() for name, value in found.tensors.items()}
    return Choice(RecipeSettings(**found.facts["settings"]), Combiner(weights) if weights else None)


def _allowed(settings: RecipeSettings) -> list[str]:
    switches = {"network": settings.network, "neighbours": settings.neighbours, "rankers": settings.rankers}
    return ["code", *(name for name, on in switches.items() if on)]


def _only(settings: RecipeSettings, parts: list[str]) -> RecipeSettings:
    return replace(
        settings,
        network=settings.network if "network" in parts else 0,
        neighbours="neighbours" in parts,
        rankers="rankers" in parts,
    )
