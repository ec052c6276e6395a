"""Work that is shared out among threads: how many each task may use, errors, forks, blocks of rows."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest
import torch

from rankae.numerics.threads import each_on_one_thread, even_blocks, limited_to


def threads_of_libraries() -> set[int]:
    """What torch and the libraries below it would use for a matrix product, on the calling thread."""
    said = re.findall(r"(?:omp|mkl)_get_max_threads\(\) : (\d+)", torch.__config__.parallel_info())
    return {torch.get_num_threads(), *map(int, said)}


@pytest.mark.parametrize("threads", [2, 3])
def test_a_task_has_its_thread_to_itself_whatever_others_set(threads: int) -> None:
    seen: list[set[int]] = []
    for _ in range(2):
        with limited_to(threads):
            each_on_one_thread(lambda _: seen.append(threads_of_libraries()), range(8))
            assert torch.get_num_threads() == threads
    assert seen == [{1}] * 16


def test_one_thread_takes_tasks_in_their_order() -> None:
    with limited_to(1):
        seen: list[int] = []
        each_on_one_thread(seen.append, range(5))
    assert seen == [0, 1, 2, 3, 4]


def test_an_error_reaches_the_caller() -> None:
    def fail(item: int) -> None:
        raise ValueError(f"item {item}")

    with limited_to(2), pytest.raises(ValueError, match="item 0"):
        each_on_one_thread(fail, range(4))


def test_a_forked_process_gets_threads_of_its_own() -> None:
    table = torch.ones(64, 64)
    with limited_to(2):
        each_on_one_thread(lambda _: table @ table, range(4))
        child = os.fork()
        if child == 0:
            done: list[int] = []
            each_on_one_thread(lambda item: done.append(int((table @ table)[0, item])), range(4))
            os._exit(0 if done == [64] * 4 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(("rows", "most"), [(10, 3), (7, 100), (4096, 2048), (4097, 2048)])
def test_blocks_cover_the_rows_in_equal_shares(rows: int, most: int) -> None:
    with limited_to(2):
        blocks = even_blocks(rows, most)
    sizes = [block.stop - block.start for block in blocks]
    assert len(blocks) % 2 == 0
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= 1
    np.testing.assert_array_equal(np.concatenate([np.arange(rows)[block] for block in blocks]), np.arange(rows))
