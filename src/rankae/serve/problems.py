"""Errors of a request as one JSON object with one sentence."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from rankae.errors import RankaeError

_JSON = "application/json"
_NO_JSON = "the body is not valid JSON in UTF-8"
_SENTENCES = {  # in place of what the framework says
    400: _NO_JSON,
    404: "there is nothing here; /docs lists every route",
    405: "this route is for another method; the header Allow names it, and /docs lists every route",
}
BUSY_SECONDS = 1  # the value of Retry-After


class Problem(BaseModel):
    """What every answer that is no success holds."""

    detail: str = Field(description="One sentence: what is wrong, and what to do.", examples=["there is no model 'x'"])


class Refused(Exception):
    """A request that fails with this status and sentence."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers


def busy(sentence: str = "the service is busy; try again in a moment") -> Refused:
    return Refused(503, sentence, {"Retry-After": str(BUSY_SECONDS)})


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error responses of a route, for its OpenAPI description."""
    words = {
        400: "The body is not what its type says",
        401: "No token, or a wrong one",
        403: "Not allowed",
        404: "There is no such thing here",
        409: "The service was started without a desk",
        413: "Too large",
        415: "A type of content that is not read here",
        422: "A value that is out of place",
        503: "Busy; see Retry-After",
        504: "It took too long",
    }
    return {status: {"model": Problem, "description": words[status]} for status in statuses}


ALWAYS = responses(400, 401, 403, 413, 415, 422, 503, 504)


def install(app: FastAPI) -> None:
    """Answer every kind of failure in the same form, without repeating any part of the request."""

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> JSONResponse:
        return JSONResponse({"detail": _shown(error.sentence)}, error.status, error.headers)

    @app.exception_handler(RankaeError)
    async def mistake(request: Request, error: RankaeError) -> JSONResponse:
        return JSONResponse({"detail": _shown(str(error))}, 422)

    @app.exception_handler(RequestValidationError)
    async def out_of_place(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return JSONResponse({"detail": _NO_JSON}, 400)
        if first["loc"] == ("body",) and _JSON not in request.headers.get("content-type", ""):
            return JSONResponse({"detail": f"the body must be JSON, with the header Content-Type: {_JSON}"}, 415)
        place = ".".join(_shown(str(step)) for step in first["loc"] if step not in ("body", "query", "path"))
        return JSONResponse({"detail": _shown(f"{place or 'the body'}: {first['msg']}")}, 422)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        sentence = _SENTENCES.get(error.status_code, str(error.detail))
        return JSONResponse({"detail": _shown(sentence)}, error.status_code, error.headers)


def _shown(words: str) -> str:
    """Make the text valid UTF-8 and limit its length."""
    return words[:1000].encode("utf-8", "replace").decode("utf-8")
