"""`POST /v1/models/{model}/batch`: a file up, its predictions streamed back."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from rankae.data import Dataset, iter_batches
from rankae.errors import RankaeError
from rankae.serve import figures
from rankae.serve.models import Served
from rankae.serve.problems import ALWAYS, Refused, responses
from rankae.serve.routes.suggest import MOST_LABELS
from rankae.serve.service import Service, service_of

router = APIRouter(tags=["suggest"])
_ROWS = 64  # of one step: others' requests come in between
_ENDINGS = {
    "text/csv": ".csv",
    "application/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/x-ndjson": ".jsonl",
    "application/jsonl": ".jsonl",
    "application/jsonlines": ".jsonl",
    "text/plain": ".txt",
}
_BODY = {"requestBody": {"required": True, "content": {kind: {"schema": {"type": "string"}} for kind in _ENDINGS}}}


@router.post(
    "/v1/models/{model}/batch",
    response_class=Response,
    responses=ALWAYS | responses(404) | {200: {"content": {"application/x-ndjson": {}, "text/csv": {}}}},
    openapi_extra=_BODY,
)
async def batch(
    model: str,
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    k: Annotated[int, Query(ge=1, le=MOST_LABELS)] = 5,
    format: Annotated[Literal["jsonl", "csv"], Query(description="Of the answer.")] = "jsonl",
    cut: Annotated[bool, Query(description="Keep only what passes the model's own cut.")] = False,
) -> Response:
    """Predictions for a CSV, JSONL or text file, line by line in the order of the rows, as `rankae predict` gives them.

    The whole file is looked through before the first line is answered: a mistake in it is one sentence, and no answer.
    """
    served = service.shelf[model]
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _ENDINGS:
        raise Refused(415, f"the body's content type must be one of {', '.join(_ENDINGS)}")
    folder = tempfile.TemporaryDirectory(prefix="rankae-batch-")
    try:
        path = Path(folder.name) / f"batch{_ENDINGS[kind]}"
        await _keep(request, path, service)
        await asyncio.to_thread(_look_through, served, path)
    except RankaeError as error:
        folder.cleanup()
        raise Refused(422, str(error).replace(str(path), "the file")) from None
    except BaseException:
        folder.cleanup()
        raise
    lines = _lines(service, served, path, min(k, len(served.names)), format, cut, folder)
    media = "text/csv; charset=utf-8" if format == "csv" else "application/x-ndjson"
    return StreamingResponse(lines, media_type=media)


async def _keep(request: Request, path: Path, service: Service) -> None:
    """Write the body to a file as it comes, within the limits of size and time."""
    size, most = 0, service.settings.most_upload
    stream = request.stream().__aiter__()
    with open(path, "wb") as file:
        while True:
            try:
                async with asyncio.timeout(service.settings.timeout):
                    piece = await anext(stream)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise Refused(408, "the body did not arrive in time") from None
            size += len(piece)
            if size > most:
                raise Refused(413, f"the body is larger than {most:,} bytes; send it in parts")
            file.write(piece)


def _read(served: Served, path: Path) -> Any:
    format = "lines" if path.suffix == ".txt" else None
    return iter_batches(path, format=format, batch=_ROWS, reading=served.ranker.reading_)


def _look_through(served: Served, path: Path) -> None:
    for rows in _read(served, path):
        if rows.texts is None:
            raise Refused(422, "the file holds features, not texts")


async def _lines(
    service: Service,
    served: Served,
    path: Path,
    k: int,
    format: str,
    cut: bool,
    folder: tempfile.TemporaryDirectory[str],
) -> AsyncIterator[bytes]:
    names = [json.dumps(name) for name in served.names]

    def run(items: Sequence[Dataset]) -> list[bytes]:
        return [_answer(served, names, rows, k, cut) for rows in items]

    try:
        batches = iter(await asyncio.to_thread(_read, served, path))
        while (rows := await asyncio.to_thread(next, batches, None)) is not None:
            found = await service.work.do(run, [rows], patient=True)
            figures.TEXTS.labels(served.name).inc(len(rows))
            yield found[0]
    finally:
        folder.cleanup()


def _answer(served: Served, names: list[str], rows: Dataset, k: int, cut: bool) -> bytes:
    ranked = served.top(rows.texts or [], k)
    lines = []
    for i in range(len(ranked)):
        kept = [entry for entry in zip(*ranked.row(i), strict=True) if entry[0] >= 0 and (entry[3] or not cut)]
        line = {
            "labels": [served.names[c] for c, _, _, _ in kept],
            "scores": [float(f"{s:.6g}") for _, s, _, _ in kept],
            "probabilities": None if ranked.probabilities is None else [float(f"{p:.6g}") for _, _, p, _ in kept],
        }
        lines.append(json.dumps({key: cells[i] for key, cells in rows.carried.items()} | line))
    return "".join(f"{line}\n" for line in lines).encode()
