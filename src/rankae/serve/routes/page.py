"""The desk page and the page about the API: files of this package, nothing from elsewhere."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter, Response

from rankae.serve.problems import ALWAYS, Refused, responses

router = APIRouter(include_in_schema=False)
_KINDS = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
_FILES = {
    path.name: path.read_bytes()
    for path in files("rankae.serve").joinpath("page").iterdir()
    if path.name.rpartition(".")[2] in _KINDS
}


@router.get("/")
async def desk() -> Response:
    return _file("desk.html")


@router.get("/docs")
async def docs() -> Response:
    return _file("docs.html")


@router.get("/favicon.ico")
async def icon() -> Response:
    return _file("icon.svg")


@router.get("/page/{name}", responses=ALWAYS | responses(404))
async def file(name: str) -> Response:
    return _file(name)


def _file(name: str) -> Response:
    if name not in _FILES:
        raise Refused(404, "there is no such page")
    return Response(_FILES[name], media_type=_KINDS[name.rpartition(".")[2]], headers={"Cache-Control": "no-cache"})
