"""The queue is bounded, answers everybody who was let in, and does together what waits together."""

from __future__ import annotations

import asyncio
from threading import Event

import pytest

from rankae.serve.problems import Refused
from rankae.serve.work import WorkQueue


@pytest.fixture
def held():
    """A queue of one thread that is kept busy until `release` is set."""
    release, passes = Event(), []

    def run(items):
        release.wait(10)
        passes.append(list(items))
        return [2 * item for item in items]

    return release, passes, run


def test_what_waits_together_is_done_in_one_pass(held):
    release, passes, run = held

    async def ask():
        work = WorkQueue(1, 100, 10)
        work.start()
        first = asyncio.create_task(work.do(run, [0], "a"))
        await asyncio.sleep(0.05)
        others = [asyncio.create_task(work.do(run, [i], "a")) for i in (1, 2, 3)]
        other_model = asyncio.create_task(work.do(run, [9], "b"))
        await asyncio.sleep(0.05)
        release.set()
        answers = await asyncio.gather(first, *others, other_model)
        work.stop()
        return answers

    assert asyncio.run(ask()) == [[0], [2], [4], [6], [18]]
    assert passes == [[0], [1, 2, 3], [9]]


def test_beyond_the_queue_is_503_with_retry_after(held):
    release, _, run = held

    async def ask():
        work = WorkQueue(1, 2, 10)
        work.start()
        tasks = [asyncio.create_task(work.do(run, [0], "a"))]
        await asyncio.sleep(0.05)
        tasks += [asyncio.create_task(work.do(run, [i], "a")) for i in (1, 2)]
        await asyncio.sleep(0.05)
        with pytest.raises(Refused) as refused:
            await work.do(run, [3], "a")
        release.set()
        answers = await asyncio.gather(*tasks)
        work.stop()
        return refused.value, answers

    refused, answers = asyncio.run(ask())
    assert refused.status == 503
    assert refused.headers == {"Retry-After": "1"}
    assert answers == [[0], [2], [4]]


def test_what_takes_too_long_is_504_and_leaves_the_queue_in_order(held):
    release, passes, run = held

    async def ask():
        work = WorkQueue(1, 10, 0.1)
        work.start()
        first = asyncio.create_task(work.do(run, [0], "a"))
        await asyncio.sleep(0.02)
        with pytest.raises(Refused) as late:
            await work.do(run, [1], "a")
        release.set()
        with pytest.raises(Refused):
            await first
        answer = await work.do(run, [5], "a")
        work.stop()
        return late.value.status, answer

    assert asyncio.run(ask()) == (504, [10])
    assert [1] not in passes


def test_an_error_reaches_whoever_asked():
    def run(items):
        raise ValueError("no")

    async def ask():
        work = WorkQueue(1, 10, 1)
        work.start()
        with pytest.raises(ValueError, match="no"):
            await work.do(run, [1], "a")
        work.stop()

    asyncio.run(ask())
