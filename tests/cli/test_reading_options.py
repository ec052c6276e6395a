from __future__ import annotations

from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from rankae.cli.reading_options import ReadingOptions, reading_options


def told(arguments: list[str], *without: str, data_format: bool = False) -> dict[str, Any]:
    """What a command with these options is handed."""
    got: dict[str, Any] = {}
    app = typer.Typer()

    @app.command()
    @reading_options(*without, data_format=data_format)
    def command(
        place: str,
        output: Annotated[str, typer.Option("--format" if data_format else "--output")] = "",
        *,
        options: ReadingOptions,
        last: bool = False,
    ) -> None:
        got.update(place=place, output=output, options=options, last=last)

    result = CliRunner().invoke(app, arguments)
    if result.exit_code:
        raise ValueError(result.output)
    return got


def test_only_what_was_given_reaches_the_command():
    assert told(["here"])["options"] == {}
    got = told(["here", "--text-column", "title,body", "--format", "csv", "--last"])
    assert got == {
        "place": "here",
        "output": "",
        "options": {"text_column": "title,body", "format": "csv"},
        "last": True,
    }


def test_the_format_of_the_data_beside_that_of_the_output():
    got = told(["here", "--data-format", "jsonl", "--format", "csv"], data_format=True)
    assert got["options"] == {"format": "jsonl"}
    assert got["output"] == "csv"


def test_an_option_that_means_nothing_to_the_command_is_refused():
    with pytest.raises(ValueError, match="No such option"):
        told(["here", "--id-column", "id"], "id_column")
