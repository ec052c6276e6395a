"""Training and prediction beside omikuji (Parabel) and napkinXC (PLT): same matrix, same threads, one run.

    python benchmarks/speed.py [--data a,b] [--presets fast,default] [--repeats 3] [--threads 2] [--rows N]

Systems take turns, repeat after repeat; medians are compared. Every training and every prediction runs in a process of
its own. Writes docs/results/speed.md, .json and .svg; with --add, data that the last report has beside these stay in
it. Without RANKAE_DATA it runs on generated data.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measuring import phases, speed_report
from measuring.matrices import GENERATED, prepare
from measuring.places import RESULTS
from measuring.process import alone, limit_threads

DATA = ("debtags", "eurlex57k-bow", "debdeps", "eurlex57k")
PREDICTION_ONLY = ("eurlex57k",)  # trained once, since only its predictions are compared


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", default=",".join(DATA) if os.environ.get("RANKAE_DATA") else GENERATED)
    options.add_argument("--presets", default="fast,default")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--rows", type=int, help="keep at most this many rows, for a quick look")
    options.add_argument("--add", action="store_true", help="keep what the last report says of other data")
    options.add_argument("--skip-kernels", action="store_true", help="leave out what the kernels reach of the machine")
    options.add_argument("--out", type=Path, default=RESULTS, help="folder of the report")
    chosen = options.parse_args()
    limit_threads(chosen.threads)
    how = {"threads": chosen.threads, "repeats": chosen.repeats}
    last = json.loads((chosen.out / "speed.json").read_text()) if chosen.add else how | {"data": {}}
    if any(last[name] != value for name, value in how.items()):
        sys.exit("the last report has other threads or repeats: leave out --add")
    systems = ["omikuji", "napkinxc", *(f"rankae-{preset}" for preset in chosen.presets.split(","))]
    with TemporaryDirectory(prefix="rankae-speed-") as folder:
        _fill_kernel_cache(systems, Path(folder), chosen.threads)
        found = {
            data: measure(data, systems, Path(folder) / data, chosen.repeats, chosen.threads, chosen.rows)
            for data in chosen.data.split(",")
        }
    facts = last | {"data": last["data"] | found}
    if not chosen.skip_kernels:
        facts["machine"] = alone(_kernels, chosen.threads)
    print(speed_report.write(facts, chosen.out))


def measure(data: str, systems: list[str], folder: Path, repeats: int, threads: int, rows: int | None) -> Any:
    """Every system's trainings and predictions on one data set: {"sizes": ..., "systems": {name: {...: values}}}."""
    folder.mkdir()
    sizes = alone(prepare, data, folder, rows)
    runs: dict[str, dict[str, list[Any]]] = {name: {} for name in systems}
    for repeat in range(repeats):
        for name in systems:
            model = folder / f"{name}-model"
            if repeat == 0 or data not in PREDICTION_ONLY:
                shutil.rmtree(model, ignore_errors=True)  # omikuji would add its trees to those of the last repeat
                model.mkdir()
                _note(runs[name], alone(phases.train, name, folder, model, threads))
            _note(runs[name], alone(phases.predict, name, folder, model, threads))
            shown = {key: values[-1] for key, values in runs[name].items() if key != "parts"}
            line = " ".join(f"{key} {value:.3g}" for key, value in shown.items())
            print(f"{data} {repeat + 1}/{repeats} {name}: {line}", file=sys.stderr, flush=True)
    return {"sizes": sizes, "systems": runs}


def _kernels(threads: int) -> Any:
    import kernels  # here, in a process of its own: the parent of a measurement must stay small

    return kernels.measured(threads, repeats=5)


def _note(record: dict[str, list[Any]], figures: dict[str, Any]) -> None:
    for name, value in figures.items():
        record.setdefault(name, []).append(value)


def _fill_kernel_cache(systems: list[str], folder: Path, threads: int) -> None:
    """Compile every kernel once, as the first training after an installation does; loading them stays on the clock."""
    measure(GENERATED, [name for name in systems if name.startswith("rankae")], folder / "first", 1, threads, 300)


if __name__ == "__main__":
    main()
