"""`POST /v1/models/{model}/batch`: a file up, its predictions streamed back."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from rankae.data import Dataset, iter_batches
from rankae.errors import RankaeError
from rankae.report.answers import Answer, CsvLines, JsonLines, Table, Writer, carried_of, check_kept
from rankae.serve import figures
from rankae.serve.models import Served
from rankae.serve.problems import ALWAYS, Refused, busy, responses
from rankae.serve.routes.suggest import MOST_LABELS
from rankae.serve.service import Service, service_of
from rankae.serve.uploads import mistake_in

router = APIRouter(tags=["suggest"])
_ROWS = 64  # of one step, so that other requests are answered in between
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
    k: Annotated[int | None, Query(ge=1, le=MOST_LABELS, description="By default 5, or what passes the cut.")] = None,
    format: Annotated[Literal["jsonl", "csv"], Query(description="Of the answer.")] = "jsonl",
    all: Annotated[bool, Query(description="Also labels below the model's stored cut.")] = False,
    keep: Annotated[str | None, Query(max_length=1000, description="Columns to pass through: id,title.")] = None,
    text_column: Annotated[
        str | None, Query(min_length=1, max_length=400, description="Where the text stands, if not where it did.")
    ] = None,
) -> Response:
    """Predictions for a CSV, JSONL or text file, line by line in the order of the rows, as `rankae predict` gives them.

    The whole file is looked through before the first line is answered: a mistake in it is one sentence, and no answer.
    """
    served = service.shelf[model]
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _ENDINGS:
        raise Refused(415, f"the body's content type must be one of {', '.join(_ENDINGS)}")
    check_kept(keep.split(",") if keep else [])
    if len(service.files) >= service.settings.most_files:
        raise busy("the service works on as many files as it takes; try again in a moment")
    folder = tempfile.TemporaryDirectory(prefix="rankae-batch-")
    service.files.add(folder)
    try:
        path = Path(folder.name) / f"batch{_ENDINGS[kind]}"
        await _keep(request, path, service)
        read = partial(_read, served, path, keep=keep, text_column=text_column)
        await asyncio.to_thread(_look_through, read)
    except RankaeError as error:
        folder.cleanup()
        raise mistake_in(path, error) from None
    except BaseException:
        folder.cleanup()
        raise
    cut = served.ranker.cuts_ is not None and not all
    most = min((MOST_LABELS if cut else 5) if k is None else k, len(served.names))
    lines = _lines(service, served, read, most, format, cut, folder)
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


def _read(served: Served, path: Path, **given: str | None) -> Iterator[Dataset]:
    format = "lines" if path.suffix == ".txt" else None
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return iter_batches(path, format=format, batch=_ROWS, reading=served.ranker.reading_, labels=False, **options)


def _look_through(read: Callable[[], Iterator[Dataset]]) -> None:
    for rows in read():
        if rows.texts is None:
            raise Refused(422, "the file holds features, not texts")


async def _lines(
    service: Service,
    served: Served,
    read: Callable[[], Iterator[Dataset]],
    k: int,
    format: str,
    cut: bool,
    folder: tempfile.TemporaryDirectory[str],
) -> AsyncIterator[bytes]:
    stream = BytesIO()
    classes = served.ranker.classes_
    writer: Writer = CsvLines(stream, Table(classes, k)) if format == "csv" else JsonLines(stream, classes)

    def run(items: Sequence[Dataset]) -> list[Answer]:
        return [_answer(served, rows, k, cut) for rows in items]

    try:
        batches = await asyncio.to_thread(read)
        while (rows := await asyncio.to_thread(next, batches, None)) is not None:
            writer.write((await service.work.do(run, [rows], patient=True))[0])
            figures.TEXTS.labels(served.name).inc(len(rows))
            yield _taken(stream)
        writer.close()
        yield _taken(stream)
    finally:
        folder.cleanup()


def _answer(served: Served, rows: Dataset, k: int, cut: bool) -> Answer:
    ranked = served.top(rows.texts or [], k)
    answer = Answer(ranked.columns, ranked.scores, ranked.probabilities, carried_of(rows))
    return answer.cut(ranked.passed) if cut else answer


def _taken(stream: BytesIO) -> bytes:
    """What was written since the last time."""
    written = stream.getvalue()
    stream.seek(0)
    stream.truncate()
    return written
