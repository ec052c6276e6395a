"""Progress bars on stderr: only on a terminal, and only for work that takes longer than two seconds.

    with bar("training", total=rows) as progress:
        ...
        progress.advance(256, loss=0.31)

All bars of a process share one display, so that bars can be nested. Work in several stages shows the current stage and
the next one:

    with stages("the code", "the network", "the stacker"):
        stage("the code")       # bars now begin with "1 of 3, then the network: "
        ...

Stages are also logged to the logger `rankae`.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_SECONDS = 2.0

REPAINT_SECONDS = 0.5  # of a notebook's line

Item = TypeVar("Item")

log = logging.getLogger("rankae")
log.addHandler(logging.NullHandler())  # silent unless a program asks for it

_quiet = False
_stages: list[tuple[tuple[str, ...], str]] = []  # those that are under way, the innermost last, and the current one


def be_quiet(quiet: bool = True) -> None:
    """Show no bars from now on, or show them again."""
    global _quiet
    _quiet = quiet


def is_quiet() -> bool:
    """Whether a program, or a command's --quiet, has asked for silence."""
    return _quiet


@contextmanager
def stages(*names: str) -> Iterator[None]:
    """Work that goes through stages of these names, in this order; stages may be skipped."""
    _stages.append((names, ""))
    try:
        yield
    finally:
        _stages.pop()


def stage(name: str) -> None:
    """The next stage of the innermost work begins."""
    names, _ = _stages[-1]
    _stages[-1] = names, name
    number, following = names.index(name) + 1, names[names.index(name) + 1 :]
    then = f"; then {following[0]}" if following else ""
    log.info("%d of %d: %s%s", number, len(names), name, then)


def _where() -> str:
    """ "2 of 5, then the rankers: ", or nothing where there are no stages."""
    names, now = _stages[-1] if _stages else ((), "")
    if not now:
        return ""
    number = names.index(now) + 1
    then = f", then {names[number]}" if number < len(names) else ""
    return f"{number} of {len(names)}{then}: "


def track(iterable: Iterable[Item], description: str, total: float | None = None) -> Iterator[Item]:
    """Yield the items of `iterable` while a bar counts them; `total` is its length unless given."""
    if total is None and isinstance(iterable, Sized):
        total = len(iterable)
    with bar(description, total) as progress:
        for item in iterable:
            yield item
            progress.advance()


def bar(description: str, total: float | None = None) -> Bar:
    """A bar to be entered with `with`; without a total it shows how much is done, not how much is left."""
    return Bar(description, total)


class Bar:
    """Counts work done, and shows itself once the work has lasted `PATIENCE_SECONDS`."""

    def __init__(self, description: str, total: float | None = None) -> None:
        self.description = description
        self.total = total
        self.done = 0.0
        self.shown: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._display = None if _quiet else _display_here()
        self._started = time.monotonic()
        self._task: Any = None
        return self

    def advance(self, n: float = 1, **shown: Any) -> None:
        """Count `n` more units, and show `shown` (for example loss=0.31) beside the bar from now on."""
        self.done += n
        self.shown |= shown
        if self._display is None:
            return
        seconds = time.monotonic() - self._started
        if self._task is None:
            if seconds < PATIENCE_SECONDS:
                return
            self._task = self._display.add(_where() + self.description, self.total)
        self._display.update(self._task, self.done, _beside(self.shown, self.done / seconds))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None and self._display is not None:
            self._display.remove(self._task)


class _Notebook:
    """One line in the output of a cell, written over now and then."""

    def __init__(self) -> None:
        self._bars: dict[int, tuple[str, float | None]] = {}
        self._painted, self._width = 0.0, 0

    def add(self, description: str, total: float | None) -> int:
        number = max(self._bars, default=0) + 1
        self._bars[number] = description, total
        return number

    def update(self, task: int, done: float, beside: str) -> None:
        if time.monotonic() - self._painted < REPAINT_SECONDS:
            return
        description, total = self._bars[task]
        share = f"{done / total:.0%}" if total else f"{done:,.0f}"
        self._paint(f"{description} {share}  {beside}")

    def remove(self, task: int) -> None:
        del self._bars[task]
        if not self._bars:
            self._paint("")

    def _paint(self, line: str) -> None:
        self._painted = time.monotonic()
        print(f"\r{line:<{self._width}}", end="" if line else "\r", file=sys.stderr, flush=True)
        self._width = len(line)


class _Display:
    """The one live display of the process: it starts with the first visible bar and ends with the last."""

    def __init__(self) -> None:
        self._progress: Progress | None = None

    def add(self, description: str, total: float | None) -> TaskID:
        if self._progress is None:
            self._progress = _new_progress()
            self._progress.start()
        return self._progress.add_task(description, total=total, beside="")

    def update(self, task: TaskID, done: float, beside: str) -> None:
        assert self._progress is not None
        self._progress.update(task, completed=done, beside=beside)

    def remove(self, task: TaskID) -> None:
        assert self._progress is not None
        self._progress.refresh()  # the end of a bar is seen even if it comes between two repaints
        self._progress.remove_task(task)
        if not self._progress.tasks:
            self._progress.stop()
            self._progress = None


_display, _notebook = _Display(), _Notebook()


def _display_here() -> _Display | _Notebook | None:
    """What can show bars: a terminal, a notebook, or nothing."""
    if sys.stderr is not None and sys.stderr.isatty():
        return _display
    kernel = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return _notebook if kernel is not None and type(kernel).__name__ == "ZMQInteractiveShell" else None


def _new_progress() -> Progress:
    from rich.console import Console  # a tenth of a second to import, which silent runs need not pay
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[beside]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def _beside(shown: dict[str, Any], speed: float) -> str:
    """What stands beside a bar: "loss 0.31  1,200/s"."""
    values = [f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in shown.items()]
    return "  ".join([*values, f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.2g}/s"])
