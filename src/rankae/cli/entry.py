"""The root command, exit codes, and the one sentence on stderr for every mistake."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from rankae.cli.lazy_group import LazyGroup
from rankae.errors import RankaeError

MISTAKE, INTERRUPTED = 2, 130  # the latter is what a shell reports for SIGINT
NO_MEMORY = "there is not enough memory for this; use fewer rows, or a larger machine"
READER_LEFT = 1  # typer's own answer to a broken pipe in the middle of a command

# click's class, wherever this version of typer keeps its click
UsageError: Any = typer.BadParameter.__base__

# Plain help: rich would double the time that `--help` takes.
app = typer.Typer(cls=LazyGroup, rich_markup_mode=None, pretty_exceptions_enable=False)


def _show_version(asked: bool) -> None:
    if asked:
        from rankae import __version__

        typer.echo(f"rankae {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def rankae(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Extreme multi-label classification: Rank-AE, its rivals, and what it takes to train and compare them.

    DATA is a folder with train.* and test.*, a single file, or the name of a known data set (see `rankae data list`).
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """The entry point of the installed command."""
    # Spinning threads make a training step ten times slower on a busy machine. OpenMP reads this variable when torch is
    # first imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed by whoever started us: what is written there goes nowhere
            stream = open(os.open(os.devnull, os.O_RDWR), "r" if number == 0 else "w")  # noqa: SIM115
            setattr(sys, name, stream)
    for output in (sys.stdout, sys.stderr):
        # A terminal that is not UTF-8 lacks bars and most labels, and no terminal has half of a surrogate pair.
        if isinstance(output, io.TextIOWrapper):
            output.reconfigure(errors="replace")
    for interruption in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interruption, _interrupt)
    sys.exit(run(sys.argv[1:]))


_interrupted = False


def _interrupt(number: int, frame: Any) -> None:
    """Ctrl-C and termination signals: the first stops in good order, the second at once."""
    global _interrupted
    if _interrupted:
        os.write(2, b"rankae: stopped at once; what was written whole before is kept\n")
        os._exit(INTERRUPTED)
    _interrupted = True
    raise KeyboardInterrupt


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; a user's mistake is one sentence on stderr."""
    try:
        # `obj` reaches a command as context.obj: train needs its own command line to say how to resume.
        code = typer.main.get_command(app)(list(arguments), "rankae", standalone_mode=False, obj=list(arguments))
        _flush()
    except BrokenPipeError:
        # The reader (`| head`) has gone, which is no error; the interpreter must not flush to it at exit.
        _redirect_stdout_to_null()
        return READER_LEFT
    except UsageError as error:
        return _mistake(_usage_sentence(error))
    except RankaeError as error:
        return _mistake(str(error))
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _mistake(f"{place}{error.strerror or error}")
    except MemoryError:
        return _mistake(NO_MEMORY)
    except RuntimeError as error:
        if not _is_lack_of_memory(error):
            raise
        return _mistake(NO_MEMORY)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def _flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _redirect_stdout_to_null()
        raise RankaeError(f"standard output: {error.strerror or error}") from None


def _redirect_stdout_to_null() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_lack_of_memory(error: RuntimeError) -> bool:
    """Whether memory is exhausted; torch has no error class for that on the CPU."""
    message = str(error)
    return "can't allocate memory" in message or "out of memory" in message


def _mistake(sentence: str) -> int:
    print(f"rankae: {' '.join(sentence.split())}", file=sys.stderr)
    return MISTAKE


def _usage_sentence(error: Any) -> str:
    command = error.ctx.command_path if error.ctx else "rankae"
    what = "a command is missing" if type(error).__name__ == "NoArgsIsHelpError" else error.format_message()
    return f"{what.rstrip('.')}{'' if what.endswith('?') else ';'} see `{command} --help`"
