"""Progress bars on stderr: only on a terminal, and only for work that takes longer than two seconds.

    with bar("training", total=rows) as progress:
        ...
        progress.advance(256, loss=0.31)

All bars of a process share one display, so that a bar may run inside another.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_SECONDS = 2.0

Item = TypeVar("Item")


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
        self._on_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._started = time.monotonic()
        self._task: TaskID | None = None
        return self

    def advance(self, n: float = 1, **shown: Any) -> None:
        """Count `n` more units, and show `shown` (for example loss=0.31) beside the bar from now on."""
        self.done += n
        self.shown |= shown
        if not self._on_terminal:
            return
        seconds = time.monotonic() - self._started
        if self._task is None:
            if seconds < PATIENCE_SECONDS:
                return
            self._task = _display.add(self.description, self.total)
        _display.update(self._task, self.done, _beside(self.shown, self.done / seconds))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            _display.remove(self._task)


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


_display = _Display()


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
