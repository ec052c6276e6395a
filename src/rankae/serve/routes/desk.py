"""Decisions and uploads: what the desk page, and whoever else decides, tells the service."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from rankae.serve import figures
from rankae.serve.problems import ALWAYS, Refused, responses
from rankae.serve.routes.suggest import MOST_LABELS, Label, Text
from rankae.serve.service import Service, service_of
from rankae.serve.store import Decision
from rankae.serve.uploads import read_upload

router = APIRouter(tags=["desk"])
Number = Annotated[int, Path(ge=1, le=2**53)]
Labels = Annotated[list[Label], Field(max_length=MOST_LABELS)]
_NO_UPLOAD = "there is no such upload"
_DESK = ALWAYS | responses(404, 409)


class Shown(BaseModel):
    """A tag as the person saw it."""

    model_config = ConfigDict(extra="ignore")
    label: Label
    probability: float | None = Field(None, ge=0, le=1)
    score: float | None = Field(None, allow_inf_nan=False)


class Feedback(BaseModel):
    """A person's whole verdict on one text. A later one takes the place of this; both are kept."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "text": "A terminal emulator for the X Window System",
                    "accepted": ["interface::x11"],
                    "rejected": ["role::plugin"],
                    "added": ["works-with::text"],
                    "by": "Ada",
                }
            ]
        },
    )
    text: Text
    accepted: Labels = []
    rejected: Labels = []
    added: Labels = []
    by: str = Field("", max_length=200)
    shown: list[Shown] = Field([], max_length=MOST_LABELS)
    done: bool = Field(True, strict=True, description="False while the person has not finished with the text.")
    about: dict[str, JsonValue] = Field({}, description="Whatever belongs to it: an id, an upload, a flag.")
    uid: str | None = Field(
        None, pattern=r"^[\w-]{8,64}$", description="A name of the client's own; sent again, the decision is kept once."
    )


class Kept(BaseModel):
    decision: int = Field(description="The decision's number; 0 if it was kept before.")


class Lookup(BaseModel):
    text: Text


class DecisionShown(BaseModel):
    number: int
    at: str
    by: str
    model: str
    fingerprint: str
    accepted: list[str]
    rejected: list[str]
    added: list[str]
    shown: list[Shown]
    done: bool
    about: dict[str, JsonValue]


class Decisions(BaseModel):
    decisions: list[DecisionShown]


class Upload(BaseModel):
    number: int
    name: str
    at: str
    by: str
    kind: Literal["texts", "flags"]
    rows: int
    done: int


class Uploads(BaseModel):
    uploads: list[Upload]


class Row(BaseModel):
    place: int
    rows: int
    kind: Literal["texts", "flags"]
    text: str
    about: dict[str, JsonValue]
    decisions: list[DecisionShown]


class Next(BaseModel):
    place: int | None = Field(description="Null if nothing is left to do.")


@router.post("/v1/models/{model}/feedback", response_model=Kept, status_code=201, responses=_DESK)
async def feedback(model: str, body: Feedback, service: Annotated[Service, Depends(service_of)]) -> Any:
    """Keep a decision; when the answer comes, it is on the disk."""
    served, desk = service.shelf[model], service.desk
    if twice := set(body.rejected) & {*body.accepted, *body.added}:
        raise Refused(422, f"{min(twice)[:200]!r} is both accepted and rejected")
    if len(json.dumps(body.about)) > 100_000:
        raise Refused(413, "about holds more than 100,000 characters")
    decision = Decision(
        body.text,
        _once(body.accepted),
        _once(body.rejected),
        _once(body.added),
        body.by.strip(),
        served.name,
        served.fingerprint,
        [shown.model_dump() for shown in body.shown],
        body.done,
        body.about,
        uid=body.uid or "",
    )
    numbers = await desk.later(desk.add, [decision])
    figures.DECISIONS.labels(served.name).inc(bool(numbers[0]))
    return {"decision": numbers[0]}


@router.post("/v1/desk/decisions", response_model=Decisions, responses=_DESK)
async def decisions(body: Lookup, service: Annotated[Service, Depends(service_of)]) -> Any:
    """All decisions on a text, the latest last."""
    desk = service.desk
    return {"decisions": [_shown(found) for found in await desk.later(desk.of_document, body.text)]}


@router.get("/v1/desk/uploads", response_model=Uploads, responses=_DESK)
async def uploads(service: Annotated[Service, Depends(service_of)]) -> Any:
    """Uploaded files, and how much of each is done."""
    desk = service.desk
    return {"uploads": await desk.later(desk.uploads)}


@router.post(
    "/v1/desk/uploads",
    response_model=Upload,
    status_code=201,
    responses=_DESK,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                kind: {"schema": {"type": "string"}} for kind in ("text/csv", "application/x-ndjson", "text/plain")
            },
        }
    },
)
async def upload(
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    name: Annotated[
        str, Query(min_length=1, max_length=200, description="The file's name; its ending tells the format.")
    ],
    by: Annotated[str, Query(max_length=200)] = "",
    text_column: Annotated[
        str | None, Query(min_length=1, max_length=400, description='Where the text stands; "title,body" joins two.')
    ] = None,
) -> Any:
    """Texts to work through: .txt (a text a line), .csv or .jsonl; or the flags of `rankae audit` (.jsonl)."""
    desk = service.desk
    content = await request.body()
    kind, rows = await asyncio.to_thread(read_upload, name, content, text_column)
    number = await desk.later(desk.upload, name, by.strip(), kind, rows)
    found = await desk.later(desk.uploads)
    return next(one for one in found if one["number"] == number)


@router.delete("/v1/desk/uploads/{number}", status_code=204, responses=_DESK)
async def drop(number: Number, service: Annotated[Service, Depends(service_of)]) -> Response:
    """Forget an upload; the decisions on its texts are kept."""
    if not await service.desk.later(service.desk.drop_upload, number):
        raise Refused(404, _NO_UPLOAD)
    return Response(status_code=204)


@router.get("/v1/desk/uploads/{number}/rows/{place}", response_model=Row, responses=_DESK)
async def row(
    number: Number, place: Annotated[int, Path(ge=0, le=2**53)], service: Annotated[Service, Depends(service_of)]
) -> Any:
    """One text of an upload, with the decisions on it."""
    desk = service.desk
    found = await desk.later(desk.row, number, place)
    if found is None:
        raise Refused(404, "there is no such row")
    made = await desk.later(desk.of_document, found["text"])
    if found["kind"] == "flags":  # a text may have many flags
        made = [one for one in made if one.about.get("upload") == number and one.about.get("place") == place]
    return found | {"decisions": [_shown(one) for one in made]}


@router.get("/v1/desk/uploads/{number}/next", response_model=Next, responses=_DESK)
async def next_row(
    number: Number,
    service: Annotated[Service, Depends(service_of)],
    after: Annotated[int, Query(ge=-1, le=2**53)] = -1,
) -> Any:
    """The next text that nobody has finished."""
    desk = service.desk
    if not await desk.later(desk.has_upload, number):
        raise Refused(404, _NO_UPLOAD)
    return {"place": await desk.later(desk.next_open, number, after)}


@router.get(
    "/v1/desk/export",
    response_class=Response,
    responses=_DESK | {200: {"content": {"text/csv": {}, "application/x-ndjson": {}}}},
)
async def export(
    service: Annotated[Service, Depends(service_of)],
    format: Literal["jsonl", "csv"] = "jsonl",
    kind: Literal["texts", "flags"] = "texts",
) -> Response:
    """The last word on each text, as training data; with kind=flags the decisions on audit flags."""
    from rankae.serve.exports import flag_lines, training_lines

    desk = service.desk
    lines = flag_lines if kind == "flags" else training_lines
    content = await desk.later(lambda: b"".join(lines(desk, format)))
    media = "text/csv; charset=utf-8" if format == "csv" else "application/x-ndjson"
    headers = {"Content-Disposition": f'attachment; filename="{"flags" if kind == "flags" else "decisions"}.{format}"'}
    return Response(content, media_type=media, headers=headers)


def _once(labels: list[str]) -> list[str]:
    return list(dict.fromkeys(labels))


def _shown(decision: Decision) -> dict[str, Any]:
    names = DecisionShown.model_fields
    return {name: getattr(decision, name) for name in names}
