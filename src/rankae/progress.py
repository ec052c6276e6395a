"""Progress bars on stderr: only on a terminal, and only for work that takes longer than two seconds.

    with bar("training", total=steps) as progress:
        ...
        progress.advance(rows, loss=0.31)

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
        self._wanted = False
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._wanted = sys.stderr is not None and sys.stderr.isatty()
        self._started = time.monotonic()
        return self

    def advance(self, n: float = 1, **shown: Any) -> None:
        """Count `n` more units, and show `shown` (for example loss=0.31) beside the bar."""
        self.done += n
        if not self._wanted:
            return
        if self._task is None:
            if time.monotonic() - self._started < PATIENCE_SECONDS:
                return
            self._task = _display.add(self)
        _display.update(self._task, self.done, _words(shown))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            _display.remove(self._task)
            self._task = None


class _Display:
    """The one live display of the process; it starts with the first visible bar and ends with the last."""

    def __init__(self) -> None:
        self._progress: Progress | None = None

    def add(self, entry: Bar) -> TaskID:
        if self._progress is None:
            self._progress = _new_progress()
            self._progress.start()
        return self._progress.add_task(entry.description, total=entry.total, shown="", spent=entry.done)

    def update(self, task: TaskID, done: float, shown: str) -> None:
        assert self._progress is not None
        fields = {"shown": shown} if shown else {}
        self._progress.update(task, completed=done, **fields)

    def remove(self, task: TaskID) -> None:
        assert self._progress is not None
        self._progress.remove_task(task)
        if not self._progress.tasks:
            self._progress.stop()
            self._progress = None


_display = _Display()


def _new_progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[shown]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def _words(shown: dict[str, Any]) -> str:
    return "  ".join(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in shown.items())
