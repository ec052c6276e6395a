"""The group of all commands, which imports a command's module only to run it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# name: (module:attribute, summary); the attribute is a typer app or a function with typer's annotations.
COMMANDS = {
    "demo": ("rankae.cli.demo:demo", "The whole story on generated data, from training to report."),
    "data": ("rankae.cli.data:app", "Look at data, fetch it, make it, convert it."),
    "train": ("rankae.cli.train:train", "Train a model and write it to a folder."),
    "evaluate": ("rankae.cli.evaluate:evaluate", "Measure a model: P@k, nDCG@k, PSP@k and more."),
    "predict": ("rankae.cli.predict:predict", "Predict labels for new rows, as a stream."),
    "serve": ("rankae.cli.serve:serve", "Serve models over HTTP, with the tagging desk page."),
    "desk": ("rankae.cli.desk:app", "Export, count and merge decisions of the desk."),
    "update": ("rankae.cli.update:update", "Teach a model new rows and new labels."),
    "tune": ("rankae.cli.tune:tune", "Search for better settings, then train with them on everything."),
    "threshold": ("rankae.cli.threshold:threshold", "Choose where to cut, and keep it in the model."),
    "audit": ("rankae.cli.audit:app", "Find labels that are probably wrong or missing, and correct them."),
    "explain": ("rankae.cli.explain:explain", "Show which words speak for a row's labels."),
    "index": ("rankae.cli.index:index", "Index a model's labels, for very many of them."),
    "shrink": ("rankae.cli.shrink:shrink", "Write a smaller copy of a model, and what that costs."),
    "compare": ("rankae.cli.compare:compare", "Compare methods on data sets, with times and seeds."),
    "noise": ("rankae.cli.noise:noise", "Compare methods on training labels that go missing or wrong."),
    "ablate": ("rankae.cli.ablate:ablate", "Take Rank-AE apart: what does each component contribute?"),
}


class LazyGroup(TyperGroup):
    """Lists `COMMANDS` without importing them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: Unopened(name, where, summary) for name, (where, summary) in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is run, parsed or completed, imported here."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.open() if isinstance(command, Unopened) else command, rest


class Unopened(TyperCommand):
    """A command that is not imported yet, with the summary for `--help`."""

    def __init__(self, name: str, where: str, summary: str) -> None:
        super().__init__(name, help=summary, rich_markup_mode=None)
        self.where = where

    def open(self) -> Any:
        """The command itself."""
        module, _, attribute = self.where.partition(":")
        target = getattr(import_module(module), attribute)
        if isinstance(target, typer.Typer):
            command: Any = typer.main.get_group(target)
        else:
            app = typer.Typer(add_completion=False, rich_markup_mode=None)
            app.command(self.name)(target)
            command = typer.main.get_command(app)
        command.name = self.name
        return command
