"""Annif's REST API v1: a client written for Annif works by changing the address.

A model's name is the project id. Subjects have no URIs here; the label takes that place.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Body, Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from rankae import __version__
from rankae.serve import figures
from rankae.serve.models import Served
from rankae.serve.problems import ALWAYS, Refused, responses
from rankae.serve.routes.suggest import MOST_LABELS, Text
from rankae.serve.service import Service, service_of
from rankae.serve.store import Decision
from rankae.serve.suggesting import Asked, suggestions

router = APIRouter(tags=["annif"])
MOST_DOCUMENTS = 32
_LANGUAGE = "und"  # undetermined: the model does not record its language


class Info(BaseModel):
    title: str
    version: str


class Backend(BaseModel):
    backend_id: str


class Vocabulary(BaseModel):
    vocab_id: str
    languages: list[str]
    size: int
    loaded: bool


class Project(BaseModel):
    project_id: str
    name: str
    language: str
    backend: Backend
    vocab: Vocabulary
    vocab_language: str
    is_trained: bool
    modification_time: datetime


class Projects(BaseModel):
    projects: list[Project]


class Vocabularies(BaseModel):
    vocabs: list[Vocabulary]


class Result(BaseModel):
    uri: str
    label: str
    notation: str | None
    score: float


class Results(BaseModel):
    results: list[Result]


class BatchResults(Results):
    document_id: str | None


class Document(BaseModel):
    model_config = ConfigDict(extra="ignore")
    text: Text
    document_id: str | None = Field(None, max_length=1000)


class Documents(BaseModel):
    documents: list[Document] = Field(max_length=MOST_DOCUMENTS)


class Subject(BaseModel):
    model_config = ConfigDict(extra="ignore")
    label: str | None = Field(None, max_length=1000)
    uri: str | None = Field(None, max_length=1000)


class IndexedDocument(BaseModel):
    model_config = ConfigDict(extra="ignore")
    text: Text
    subjects: list[Subject] = Field(max_length=MOST_LABELS)


class _Form(BaseModel):
    text: Text
    limit: int = Field(10, ge=0, le=2**31 - 1)
    threshold: float = Field(0.0, ge=0, le=1)
    language: str | None = None


_FORM = TypeAdapter(_Form)
_FORM_SCHEMA = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-www-form-urlencoded": {
                "schema": {
                    "type": "object",
                    "required": ["text"],
                    "properties": {
                        "text": {"type": "string"},
                        "limit": {"type": "integer", "default": 10, "minimum": 0},
                        "threshold": {"type": "number", "default": 0.0, "minimum": 0, "maximum": 1},
                        "language": {"type": "string"},
                    },
                }
            }
        },
    }
}


@router.get("/v1/", response_model=Info, responses=ALWAYS)
async def about() -> Any:
    return {"title": "rankae, in the shape of the Annif REST API", "version": __version__}


@router.get("/v1/vocabs", response_model=Vocabularies, responses=ALWAYS)
async def vocabularies(service: Annotated[Service, Depends(service_of)]) -> Any:
    return {"vocabs": [_vocabulary(model) for model in service.shelf]}


@router.get("/v1/projects", response_model=Projects, responses=ALWAYS)
async def projects(service: Annotated[Service, Depends(service_of)]) -> Any:
    return {"projects": [_project(model) for model in service.shelf]}


@router.get("/v1/projects/{project_id}", response_model=Project, responses=ALWAYS | responses(404))
async def project(project_id: str, service: Annotated[Service, Depends(service_of)]) -> Any:
    return _project(service.shelf[project_id])


@router.post(
    "/v1/projects/{project_id}/suggest",
    response_model=Results,
    responses=ALWAYS | responses(404),
    openapi_extra=_FORM_SCHEMA,
)
async def suggest(project_id: str, request: Request, service: Annotated[Service, Depends(service_of)]) -> Any:
    """Subjects of one text; the body is a form, as HTML forms send it."""
    model = service.shelf[project_id]
    form = _form(await request.body(), request.headers.get("content-type", ""))
    found = await _results(service, model, [form.text], form.limit, form.threshold)
    return found[0]


@router.post(
    "/v1/projects/{project_id}/suggest-batch", response_model=list[BatchResults], responses=ALWAYS | responses(404)
)
async def suggest_batch(
    project_id: str,
    body: Documents,
    service: Annotated[Service, Depends(service_of)],
    limit: Annotated[int, Query(ge=0, le=2**31 - 1)] = 10,
    threshold: Annotated[float, Query(ge=0, le=1)] = 0.0,
    language: str | None = None,
) -> Any:
    """Subjects of up to 32 texts."""
    texts = [document.text for document in body.documents]
    found = await _results(service, service.shelf[project_id], texts, limit, threshold)
    return [one | {"document_id": given.document_id} for one, given in zip(found, body.documents, strict=True)]


@router.post("/v1/projects/{project_id}/learn", status_code=204, responses=ALWAYS | responses(404))
async def learn(
    project_id: str,
    body: Annotated[list[IndexedDocument], Body(max_length=1000)],
    service: Annotated[Service, Depends(service_of)],
) -> Response:
    """Keep indexed documents as decisions; `rankae update` learns from them."""
    model = service.shelf[project_id]
    if service.store is None:
        raise Refused(403, "the service keeps no decisions; start it with --desk FOLDER to allow learning")
    kept = []
    for document in body:
        names = [subject.label or subject.uri for subject in document.subjects]
        known = [name for name in names if name in model.columns]
        new = [name for name in names if name and name not in model.columns]
        kept.append(
            Decision(document.text, known, [], new, "annif", model.name, model.fingerprint, about={"from": "annif"})
        )
    await service.store.later(service.store.add, kept)
    figures.DECISIONS.labels(model.name).inc(len(kept))
    return Response(status_code=204)


async def _results(
    service: Service, model: Served, texts: list[str], limit: int, threshold: float
) -> list[dict[str, Any]]:
    if limit == 0:
        return [{"results": []} for _ in texts]
    found = await suggestions(service.work, model, texts, Asked(min(limit, MOST_LABELS)))
    return [{"results": [r for r in map(_result, own) if r["score"] >= threshold]} for own in found]


def _result(entry: dict[str, Any]) -> dict[str, Any]:
    likely = entry["probability"]
    # Annif's scores lie between 0 and 1: without calibration the logistic function maps the score there.
    score = likely if likely is not None else 1 / (1 + 2.718281828459045 ** -max(-500.0, min(500.0, entry["score"])))
    return {"uri": entry["label"], "label": entry["label"], "notation": None, "score": score}


def _form(body: bytes, kind: str) -> _Form:
    if kind.partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise Refused(415, "the body must be application/x-www-form-urlencoded")
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise Refused(400, "the body is no form of UTF-8 text") from None
    try:
        return _FORM.validate_python({name: values[-1] for name, values in fields.items()})
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from None


def _project(model: Served) -> dict[str, Any]:
    return {
        "project_id": model.name,
        "name": model.name,
        "language": _LANGUAGE,
        "backend": {"backend_id": model.ranker.method},
        "vocab": _vocabulary(model),
        "vocab_language": _LANGUAGE,
        "is_trained": True,
        "modification_time": datetime.fromtimestamp(model.version[1] / 1e9, UTC),
    }


def _vocabulary(model: Served) -> dict[str, Any]:
    return {"vocab_id": model.name, "languages": [_LANGUAGE], "size": len(model.names), "loaded": True}
