from __future__ import annotations

from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from rankae.cli.reading_options import ReadingOptions, reading_options

app = typer.Typer()
got: dict[str, Any] = {}


@app.command()
@reading_options("id_column")
def read(place: str, *, options: ReadingOptions, last: bool = False) -> None:
    got.update(place=place, options=options, last=last)


@app.command()
@reading_options(data_format=True)
def write(format: Annotated[str, typer.Option()] = "", *, options: ReadingOptions) -> None:
    got.update(format=format, options=options)


def handed(*arguments: str) -> dict[str, Any]:
    """What the command gets; with what typer says where it refuses."""
    got.clear()
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return dict(got)


def test_only_what_was_given_reaches_the_command():
    assert handed("read", "here") == {"place": "here", "options": {}, "last": False}
    found = handed("read", "here", "--text-column", "title,body", "--format", "csv", "--last")
    assert found == {"place": "here", "options": {"text_column": "title,body", "format": "csv"}, "last": True}


def test_the_format_of_the_data_beside_that_of_the_output():
    found = handed("write", "--data-format", "jsonl", "--format", "csv")
    assert found == {"format": "csv", "options": {"format": "jsonl"}}


def test_an_option_that_means_nothing_to_the_command_is_refused():
    with pytest.raises(AssertionError, match="No such option"):
        handed("read", "here", "--id-column", "id")
    assert handed("write", "--id-column", "id")["options"] == {"id_column": "id"}
