"""Health and metadata as the Open Inference Protocol has them (KServe, Triton), and /metrics for Prometheus."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel

from rankae import __version__
from rankae.serve import figures
from rankae.serve.problems import ALWAYS, responses
from rankae.serve.service import Service, service_of

router = APIRouter(tags=["operations"])


class Tensor(BaseModel):
    name: str
    datatype: str
    shape: list[int]


class ServerMetadata(BaseModel):
    name: str
    version: str
    extensions: list[str]


class ModelMetadata(BaseModel):
    name: str
    versions: list[str]
    platform: str
    inputs: list[Tensor]
    outputs: list[Tensor]


class Live(BaseModel):
    live: bool


class Ready(BaseModel):
    ready: bool


class ModelReady(BaseModel):
    name: str
    ready: bool


@router.get("/v2/health/live", response_model=Live, responses=ALWAYS)
async def live() -> Any:
    """The process answers."""
    return {"live": True}


@router.get("/v2/health/ready", response_model=Ready, responses=ALWAYS)
async def ready() -> Any:
    """All models are loaded and have answered once; before that no request is taken at all."""
    return {"ready": True}


@router.get("/v2", response_model=ServerMetadata, responses=ALWAYS)
async def server() -> Any:
    return {"name": "rankae", "version": __version__, "extensions": []}


@router.get("/v2/models/{model}", response_model=ModelMetadata, responses=ALWAYS | responses(404))
async def metadata(model: str, service: Annotated[Service, Depends(service_of)]) -> Any:
    served = service.shelf[model]
    return {
        "name": served.name,
        "versions": [served.fingerprint],
        "platform": f"rankae_{served.ranker.method}",
        "inputs": [{"name": "texts", "datatype": "BYTES", "shape": [-1]}],
        "outputs": [
            {"name": "labels", "datatype": "BYTES", "shape": [-1, -1]},
            {"name": "probabilities", "datatype": "FP32", "shape": [-1, -1]},
            {"name": "scores", "datatype": "FP32", "shape": [-1, -1]},
        ],
    }


@router.get("/v2/models/{model}/ready", response_model=ModelReady, responses=ALWAYS | responses(404))
async def model_ready(model: str, service: Annotated[Service, Depends(service_of)]) -> Any:
    return {"name": service.shelf[model].name, "ready": True}


@router.get("/metrics", response_class=Response, responses=ALWAYS | {200: {"content": {"text/plain": {}}}})
def metrics() -> Response:
    """Figures for Prometheus."""
    content, kind = figures.exposition()
    return Response(content, media_type=kind)
