"""A bounded queue and the threads that compute.

A thread takes the oldest request together with all others that wait for the same model: one prediction for several
texts is cheaper than one for each. No request waits for others to arrive.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any

from rankae.serve.problems import Refused, busy

MOST_TOGETHER = 64  # texts in one prediction: large enough to be efficient, small enough for short waits


@dataclass
class _Job:
    group: Hashable | None  # jobs of one group can be computed together; None for a job that runs alone
    items: Sequence[Any]
    run: Callable[[Sequence[Any]], Sequence[Any]]
    done: asyncio.Future[Sequence[Any]]


class WorkQueue:
    """A queue for `threads` threads in which at most `most` items may wait."""

    def __init__(self, threads: int, most: int, seconds: float, batching: bool = True) -> None:
        self.most, self.seconds, self.batching = most, seconds, batching
        self.waiting = 0
        self._jobs: deque[_Job] = deque()
        self._changed = Condition()
        self._stopped = False
        self._threads = [Thread(target=self._work, name=f"rankae-{i}", daemon=True) for i in range(threads)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    async def do(
        self,
        run: Callable[[Sequence[Any]], Sequence[Any]],
        items: Sequence[Any],
        group: Hashable | None = None,
        patient: bool = False,
    ) -> list[Any]:
        """The results of run(items), one for each item; jobs of the same group may be computed together.

        patient : wait for room in the queue instead of being refused.
        """
        step = MOST_TOGETHER if group is not None else max(1, len(items))
        blocks = [items[i : i + step] for i in range(0, len(items), step)]
        while patient and self.waiting + len(items) > self.most and self.waiting:
            await asyncio.sleep(0.01)
        loop = asyncio.get_running_loop()
        with self._changed:
            # A request larger than the whole queue is accepted when the queue is empty.
            if self._stopped or (self.waiting and self.waiting + len(items) > self.most):
                raise busy()
            jobs = [_Job(group, block, run, loop.create_future()) for block in blocks]
            self._jobs.extend(jobs)
            self.waiting += len(items)
            self._changed.notify(len(jobs))
        try:
            async with asyncio.timeout(None if patient else self.seconds):
                return [answer for job in jobs for answer in await job.done]
        except TimeoutError:
            raise Refused(504, f"the model did not answer within {self.seconds:g} seconds") from None
        finally:
            for job in jobs:
                job.done.cancel()

    def _work(self) -> None:
        import torch

        torch.get_num_threads()  # a first call in this thread would undo the next line
        torch.set_num_threads(1)
        while True:
            with self._changed:
                while not self._jobs:
                    if self._stopped:
                        return
                    self._changed.wait()
                jobs = self._together()
            self._run([job for job in jobs if not job.done.cancelled()])

    def _together(self) -> list[_Job]:
        """The oldest job and those of its group that follow it at once, up to `MOST_TOGETHER` items."""
        jobs = [self._jobs.popleft()]
        items = len(jobs[0].items)
        while self.batching and self._jobs and jobs[0].group is not None and self._jobs[0].group == jobs[0].group:
            items += len(self._jobs[0].items)
            if items > MOST_TOGETHER:
                break
            jobs.append(self._jobs.popleft())
        self.waiting -= sum(len(job.items) for job in jobs)
        return jobs

    def _run(self, jobs: list[_Job]) -> None:
        if not jobs:
            return
        try:
            answers = jobs[0].run([item for job in jobs for item in job.items])
        except Exception as error:  # passed on to the caller
            _tell(jobs, None, error)
        else:
            _tell(jobs, answers, None)


def _tell(jobs: list[_Job], answers: Sequence[Any] | None, error: Exception | None) -> None:
    """Pass results to the event loops that wait for them."""

    def hand_out() -> None:
        begin = 0
        for job in jobs:
            end = begin + len(job.items)
            if not job.done.done():
                if answers is None:
                    assert error is not None
                    job.done.set_exception(error)
                else:
                    job.done.set_result(answers[begin:end])
            begin = end

    jobs[0].done.get_loop().call_soon_threadsafe(hand_out)
