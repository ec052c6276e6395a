"""Every link of a label graph is looked at before the library walks it: forged ones crash no process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from rankae.errors import ModelFileError
from rankae.numerics.graph_check import check_graph
from rankae.numerics.label_index import UsearchIndex

LABELS, SIZE = 400, 6
LEVELS = 8 + 2 * LABELS * (SIZE + 1) + 64 + 40  # where the levels begin, behind vectors and headers
NODES = LEVELS + 2 * LABELS


@pytest.fixture(scope="module")
def graph() -> np.ndarray:
    pytest.importorskip("usearch")
    rng = np.random.default_rng(0)
    table, bias = (rng.standard_normal(shape).astype(np.float32) for shape in ((LABELS, SIZE), LABELS))
    return UsearchIndex.build(table, bias).arrays()["graph"]


def changed(graph: np.ndarray, at: int, content: bytes) -> np.ndarray:
    copy = graph.copy()
    copy[at : at + len(content)] = np.frombuffer(content, np.uint8)
    return copy


def is_refused(blob: np.ndarray) -> bool:
    try:
        check_graph(blob, LABELS, SIZE + 1)
    except ModelFileError as error:
        return "damaged, forged" in str(error)
    return False


def test_a_sound_graph_passes_and_only_for_its_own_table(graph):
    check_graph(graph, LABELS, SIZE + 1)
    for labels, dimensions in ((LABELS - 1, SIZE + 1), (LABELS + 1, SIZE + 1), (LABELS, SIZE)):
        with pytest.raises(ModelFileError, match="damaged, forged"):
            check_graph(graph, labels, dimensions)


def test_forged_links_levels_and_headers_are_refused(graph):
    levels = graph[LEVELS:NODES].view(np.int16)
    assert levels.max() > 0
    bottom = int(np.flatnonzero(levels == 0)[0])
    forged = {
        "a link beyond the labels": changed(graph, NODES + 10 + 4, (2**31).to_bytes(4, "little")),
        "more links than there is room for": changed(graph, NODES + 10, (33).to_bytes(4, "little")),
        "a node that says another level": changed(graph, NODES + 8, (9).to_bytes(2, "little")),
        "a level that moves all nodes behind": changed(graph, LEVELS + 2 * bottom, (1).to_bytes(2, "little")),
        "an entry beyond the labels": changed(graph, LEVELS - 8, LABELS.to_bytes(8, "little")),
        "an entry on a lower level": changed(graph, LEVELS - 8, bottom.to_bytes(8, "little")),
        "a vector that is no number": changed(graph, 8, b"\xff\x7f"),
        "another metric": changed(graph, NODES - 2 * LABELS - 104 + 13, b"c"),
        "cut": graph[:-1],
        "longer": np.append(graph, np.uint8(0)),
        "empty": graph[:0],
    }
    assert [what for what, blob in forged.items() if not is_refused(blob)] == []


_TRIED = """
import sys
import numpy as np
from rankae.errors import ModelFileError
from rankae.numerics.label_index import UsearchIndex
rng = np.random.default_rng(0)
table, bias = (rng.standard_normal(shape).astype(np.float32) for shape in (({labels}, {size}), {labels}))
arrays, codes = UsearchIndex.build(table, bias).arrays(), rng.standard_normal((4, {size})).astype(np.float32)
refused = 0
for _ in range({times}):
    forged = arrays["graph"].copy()
    forged[rng.integers(forged.size, size=rng.integers(1, 9))] ^= np.uint8(1 << rng.integers(8))
    try:
        columns, _ = UsearchIndex.restore(dict(arrays, graph=forged), table, bias).search(codes, 10)
        assert columns.max() < {labels}
    except ModelFileError:
        refused += 1
print(refused)
"""


def test_a_thousand_forged_graphs_crash_nothing(graph):
    code = _TRIED.format(labels=LABELS, size=SIZE, times=1000)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert 100 < int(ended.stdout) < 1000  # those that pass have another vector, key or link that is sound
