"""`rankae serve`: the HTTP service and the desk page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from rankae.errors import MissingExtra, RankaeError


def serve(
    models: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of models, served by their names.")],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any that is free.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes; they share the models' memory.")] = 1,
    threads: Annotated[int | None, typer.Option(min=1, help="Computing threads a process; by default cores/N.")] = None,
    desk: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Keep decisions in this folder.")] = None,
    token_file: Annotated[Path | None, typer.Option(help="Let in only who shows the token in this file.")] = None,
    allow_anyone: Annotated[bool, typer.Option("--allow-anyone", help="Listen beyond loopback without token.")] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A further name by which the service may be called.")
    ] = None,
    queue: Annotated[int, typer.Option(min=1, help="Texts that may wait in a process; beyond that: 503.")] = 256,
    timeout: Annotated[float, typer.Option(min=0.1, max=3600, help="Seconds that a request may take.")] = 30.0,
    max_body: Annotated[
        float, typer.Option(min=0.001, help="Megabytes of a request; files of batch: 64 times that.")
    ] = 16,
    log_requests: Annotated[bool, typer.Option("--log-requests", help="A line a request, without texts.")] = False,
) -> None:
    """Serve models over HTTP, with the tagging desk page at /.

    By default only this machine can reach it. Any other --host needs --token-file, or --allow-anyone.
    """
    try:
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra("rankae serve", "serve") from error
    from rankae.model_file import read_manifest
    from rankae.serve.server import listen, run
    from rankae.serve.settings import Place, ServiceSettings, named_models, read_token

    place = Place(host, port, workers, tuple(name.lower() for name in allow_host or ()))
    token = None if token_file is None else read_token(token_file)
    if not place.on_loopback and token is None and not allow_anyone:
        raise RankaeError(
            f"{host} can be reached by others: give --token-file FILE, so that only who knows the token gets in, "
            "or --allow-anyone"
        )
    folders = named_models(models)
    for folder in folders.values():
        read_manifest(folder)  # a wrong folder is one sentence, before anything is loaded
    open_to_all = not place.on_loopback and token is None
    settings = ServiceSettings(
        models=folders,
        desk=None if desk is None else str(desk.resolve()),
        token=token,
        hosts=place.hosts if token is None and not open_to_all else (),
        threads=threads or max(1, (os.cpu_count() or 1) // workers),
        queue=queue,
        timeout=timeout,
        most_body=int(max_body * 2**20),
        most_upload=int(max_body * 2**26),
        log_requests=log_requests,
    )
    listener = listen(place)
    shown = f"[{host}]" if ":" in host else host
    typer.echo(f"rankae serves {', '.join(folders)} on http://{shown}:{listener.getsockname()[1]}/", err=True)
    if desk is None:
        typer.echo("decisions are not kept; --desk FOLDER keeps them", err=True)
    run(settings, place, listener)
