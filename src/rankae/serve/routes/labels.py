"""`GET /v1/models`, a model's card, and type-ahead over its labels."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field, JsonValue

from rankae import __version__
from rankae.serve.models import Served
from rankae.serve.problems import ALWAYS, responses
from rankae.serve.service import Service, service_of
from rankae.serve.statistics import statistics

router = APIRouter(tags=["models"])


class ModelInfo(BaseModel):
    name: str
    method: str
    labels: int
    fingerprint: str = Field(description="Tells one model from another; decisions are kept with it.")
    loaded: str
    calibrated: bool
    cut: str | None = Field(description="What the stored cut aims at; null for the threshold of training.")


class Models(BaseModel):
    models: list[ModelInfo]
    desk: bool = Field(description="Whether decisions are kept.")
    version: str


class Card(BaseModel):
    """What is known of a model; `desk` is what people's decisions say of it."""

    name: str
    facts: dict[str, str]
    choices: list[tuple[str, str]]
    figures: dict[str, float | None] | None
    held_out_rows: int
    calibration: list[dict[str, float]]
    labels: list[dict[str, JsonValue]]
    all_labels: int
    desk: dict[str, JsonValue] | None


class LabelFound(BaseModel):
    label: str
    rows: int = Field(description="On how many training rows the label stood.")


class LabelsFound(BaseModel):
    labels: list[LabelFound]


def info(model: Served) -> dict[str, Any]:
    cuts = model.ranker.cuts_
    return {
        "name": model.name,
        "method": model.ranker.method,
        "labels": len(model.names),
        "fingerprint": model.fingerprint,
        "loaded": model.loaded,
        "calibrated": model.calibrated,
        "cut": None if cuts is None else cuts.aim,
    }


@router.get("/v1/models", response_model=Models, responses=ALWAYS)
async def models(service: Annotated[Service, Depends(service_of)]) -> Any:
    """The models that are served."""
    found = [info(model) for model in service.shelf]
    return {"models": found, "desk": service.store is not None, "version": __version__}


@router.get("/v1/models/{model}/labels", response_model=LabelsFound, responses=ALWAYS | responses(404))
async def labels(
    model: str,
    service: Annotated[Service, Depends(service_of)],
    q: Annotated[str, Query(max_length=200, description="What was typed; case and accents do not matter.")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> Any:
    """Type-ahead: labels that begin with, hold a word that begins with, or hold what was typed."""
    served = service.shelf[model]
    counts = served.ranker.label_counts_
    return {"labels": [{"label": served.names[i], "rows": int(counts[i])} for i in served.search.find(q, limit)]}


@router.get("/v1/models/{model}/card", response_model=Card, responses=ALWAYS | responses(404))
async def model_card(model: str, service: Annotated[Service, Depends(service_of)]) -> Any:
    """What the model learnt from, and how good it is on rows that it had not seen, label by label."""
    served = service.shelf[model]
    found = dict(await asyncio.to_thread(lambda: served.card))
    found["desk"] = None
    if service.store is not None:
        told = await service.store.later(statistics, service.store)
        own = {one["label"]: one for one in told.pop("labels")}
        found["labels"] = [
            line | {k: v for k, v in own.get(line["label"], {}).items() if k != "label"} for line in found["labels"]
        ]
        found["desk"] = told
    return found
