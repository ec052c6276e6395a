"""Lists of ascending numbers come back from two bytes each."""

from __future__ import annotations

import numpy as np
import pytest

from rankae.errors import ModelFileError
from rankae.numerics.ascending import pack_ascending, smallest, unpack_ascending


@pytest.mark.parametrize("limit", [1, 300, 1 << 16, (1 << 16) + 1, 500_000])
@pytest.mark.parametrize("longest", [0, 3, 400])
def test_lists_come_back(limit, longest):
    rng = np.random.default_rng(0)
    lists = [np.unique(rng.integers(0, limit, rng.integers(0, longest + 1))) for _ in range(50)]
    starts = np.concatenate([[0], np.cumsum([len(own) for own in lists])])
    values = np.concatenate([*lists, []]).astype(np.int32)
    found_starts, found = unpack_ascending("own", pack_ascending("own", starts, values, limit))
    np.testing.assert_array_equal(found_starts, starts)
    np.testing.assert_array_equal(found, values)


def test_many_numbers_take_two_bytes():
    values = np.arange(0, 300_000, 3, dtype=np.int32)
    arrays = pack_ascending("own", np.array([0, len(values)]), values, 300_000)
    assert sum(array.nbytes for array in arrays.values()) < 2.01 * len(values)


def test_what_contradicts_itself_is_refused():
    arrays = pack_ascending("own", np.array([0, 2, 3]), np.array([5, 70_000, 9], np.int32), 80_000)
    for name, value in (("own.sizes", np.array([9, 9])), ("own.limit", np.array(60)), ("own.low", None)):
        broken = {key: array for key, array in arrays.items() if value is not None or key != name}
        with pytest.raises(ModelFileError, match="is inconsistent"):
            unpack_ascending("own", broken | ({} if value is None else {name: value}))


def test_the_smallest_type():
    assert [smallest(np.array([most])).dtype for most in (255, 256, 65_536)] == [np.uint8, np.uint16, np.uint32]
