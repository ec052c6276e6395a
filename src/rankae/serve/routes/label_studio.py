"""Label Studio's ML-backend routes. Its model address is http://HOST:PORT/label-studio/MODEL (or the root: the first
model). Tasks get pre-annotations for the first <Choices> or <Taxonomy> tag of the project's labelling configuration.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from rankae.serve.models import Served
from rankae.serve.problems import ALWAYS, Refused, responses
from rankae.serve.routes.suggest import MOST_CHARACTERS, MOST_TEXTS
from rankae.serve.service import Service, service_of
from rankae.serve.suggesting import Asked, suggestions

router = APIRouter(tags=["label studio"])
_TAG = re.compile(r"<(Choices|Taxonomy)\b([^<>]{0,2000})>")
_TEXT = re.compile(r"<(?:Text|HyperText)\b([^<>]{0,2000})>")
_ATTRIBUTE = re.compile(r"""(\w+)\s*=\s*("[^"]*"|'[^']*')""")
_MOST_CHOICES = 10
_MODEL = {"name": "model", "in": "path", "required": True, "schema": {"type": "string"}}  # routes without it exist too
_OF_MODEL: dict[str, Any] = {"responses": ALWAYS | responses(404), "openapi_extra": {"parameters": [_MODEL]}}


class Health(BaseModel):
    status: str
    model_class: str


class Setup(BaseModel):
    model_config = ConfigDict(extra="ignore")
    label_config: str | None = Field(None, alias="schema", max_length=1_000_000)


class SetUp(BaseModel):
    model_version: str


class Task(BaseModel):
    model_config = ConfigDict(extra="ignore")
    data: dict[str, Any]


class Tasks(BaseModel):
    model_config = ConfigDict(extra="ignore")
    tasks: list[Task] = Field(max_length=MOST_TEXTS)
    label_config: str | None = Field(None, max_length=1_000_000)


class Region(BaseModel):
    from_name: str
    to_name: str
    type: str
    value: dict[str, Any]
    score: float


class Prediction(BaseModel):
    result: list[Region]
    score: float
    model_version: str


class Predictions(BaseModel):
    results: list[Prediction]
    model_version: str


@router.get("/health", response_model=Health, responses=ALWAYS)
@router.get("/label-studio/{model}/health", response_model=Health, **_OF_MODEL)
async def health(request: Request, service: Annotated[Service, Depends(service_of)]) -> Any:
    return {"status": "UP", "model_class": _served(service, request).ranker.method}


@router.post("/setup", response_model=SetUp, responses=ALWAYS)
@router.post("/label-studio/{model}/setup", response_model=SetUp, **_OF_MODEL)
async def setup(body: Setup, request: Request, service: Annotated[Service, Depends(service_of)]) -> Any:
    return {"model_version": _served(service, request).fingerprint[:12]}


@router.post("/predict", response_model=Predictions, responses=ALWAYS)
@router.post("/label-studio/{model}/predict", response_model=Predictions, **_OF_MODEL)
async def predict(body: Tasks, request: Request, service: Annotated[Service, Depends(service_of)]) -> Any:
    served = _served(service, request)
    kind, from_name, to_name, field = _wanted(body.label_config or "")
    texts = [_text(task.data, field, number) for number, task in enumerate(body.tasks)]
    found = await suggestions(service.work, served, texts, Asked(_MOST_CHOICES, cut=True))
    version = served.fingerprint[:12]
    results = []
    for own in found:
        labels = [entry["label"] for entry in own]
        likely = [entry["probability"] or 0.0 for entry in own]
        score = sum(likely) / len(likely) if likely else 0.0
        value = {"choices": labels} if kind == "choices" else {"taxonomy": [[label] for label in labels]}
        region = {"from_name": from_name, "to_name": to_name, "type": kind, "value": value, "score": score}
        results.append({"result": [region], "score": score, "model_version": version})
    return {"results": results, "model_version": version}


def _served(service: Service, request: Request) -> Served:
    model = request.path_params.get("model")
    return service.shelf.first if model is None else service.shelf[model]


def _wanted(config: str) -> tuple[str, str, str, str | None]:
    """Kind, from_name and to_name of the tag that takes labels, and the task's field that holds the text."""
    tag, text = _TAG.search(config), _TEXT.search(config)
    if tag is None:
        return "choices", "labels", "text", None
    own = _attributes(tag.group(2))
    field = _attributes(text.group(1)).get("value", "").removeprefix("$") if text else None
    return tag.group(1).lower(), own.get("name", "labels"), own.get("toName", "text"), field or None


def _attributes(tag: str) -> dict[str, str]:
    return {name: value[1:-1] for name, value in _ATTRIBUTE.findall(tag)}


def _text(data: dict[str, Any], field: str | None, number: int) -> str:
    """The task's text: of the configured field, else "text", else the first string."""
    for value in (data.get(field or "text"), data.get("text"), *data.values()):
        if isinstance(value, str):
            if len(value) > MOST_CHARACTERS:
                raise Refused(413, f"task {number}: the text is longer than {MOST_CHARACTERS:,} characters")
            return value
    raise Refused(422, f"task {number} holds no text")
