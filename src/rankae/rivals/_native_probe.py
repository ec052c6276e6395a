"""Opens the model file of a native library in a child process first, because a forged one may crash or hang it.

Only the library knows the format, and it trusts what it reads. A child process loads the file and predicts a few rows;
only if that succeeds does this process load it.
"""

from __future__ import annotations

import json
import subprocess
import sys

from rankae.errors import ModelFileError

_SECONDS = 120

# Code that the child runs; sys.argv[1] is the folder, sys.argv[2] rows of features.
OMIKUJI = """
import omikuji
model = omikuji.Model.load(folder)
for row in rows:
    model.predict([(feature, 1.0) for feature in row], top_k=5)
"""
NAPKINXC = """
from napkinxc import models
import numpy, scipy.sparse
model = models.{name}(folder)
model.load()
for row in rows:
    ones = numpy.ones(len(row), numpy.float32)
    width = {features}
    model.predict_proba(scipy.sparse.csr_matrix((ones, ([0] * len(row), row)), shape=(1, width)), top_k=5)
"""
FASTTEXT = """
import os, fasttext
model = fasttext.load_model(os.path.join(folder, {name!r}))
for row in rows:
    model.predict([" ".join(map(str, row))], k=5)
"""
_CHILD = "import json, sys\nfolder, rows = sys.argv[1], json.loads(sys.argv[2])\n"


def probe(method: str, code: str, folder: str, features: int) -> None:
    """Refuse the files in `folder` if a process that loads them and predicts a few rows fails."""
    some = sorted({0, features // 3, 2 * features // 3, max(0, features - 1)})
    rows = [[], some, *([feature] for feature in some)]
    command = [sys.executable, "-c", _CHILD + code, folder, json.dumps(rows)]
    try:
        ended = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise ModelFileError(f"the {method} model in the file never answers; it is damaged or forged") from None
    if ended.returncode:
        raise ModelFileError(
            f"the {method} model in the file cannot be opened; it is damaged or forged, train it again"
        )
