"""Where benchmarks write tables and figures, and where they keep finished cells, which stay out of the repository."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent.parent
RESULTS = REPOSITORY / "docs" / "results"
CELLS = Path(os.environ.get("RANKAE_CELLS") or REPOSITORY / ".cells")
