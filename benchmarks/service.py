"""What the service holds: load, more than it can hold, ten minutes with reloads, type-ahead, malformed bodies.

    python benchmarks/service.py load MODEL DATA [--clients 1,8,64] [--seconds 10]   with and without batching
    python benchmarks/service.py overload MODEL DATA [--seconds 60]   599: a 503 without Retry-After
    python benchmarks/service.py soak MODEL DATA [--minutes 10] [--rate 20] [--every 20]
    python benchmarks/service.py labels [--labels 1000000]
    python benchmarks/service.py malformed MODEL [--bodies 10000]

Everything runs on loopback. Each prints one JSON object. "CPU ms" is what the service computed for a request. Memory is
the proportional set size of all processes of the service, in MB: pages that workers share count once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import string
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

K = 10
_SERVE = """
import sys
from rankae.serve.server import listen, run
from rankae.serve.settings import Place, ServiceSettings
given = eval(sys.argv[1])
place = Place("127.0.0.1", int(sys.argv[2]), given.pop("workers"))
run(ServiceSettings(**given), place, listen(place))
"""
Answer = tuple[int, float]  # status, seconds
_UNTOLD = 599  # for a 503 without Retry-After
_PAUSE = 0.05  # seconds after which a client that was refused asks again


@contextmanager
def service(model: Path, *, workers: int = 2, **settings: Any) -> Iterator[tuple[int, int]]:
    """A service of `model` in processes of its own: its port and its first process."""
    port = _free_port()
    given = {"models": {"model": str(model.resolve())}, "workers": workers} | settings
    process = subprocess.Popen([sys.executable, "-c", _SERVE, repr(given), str(port)], start_new_session=True)
    try:
        while asyncio.run(_ready(port)) != 200:
            if process.poll() is not None:
                sys.exit("the service did not start")
            time.sleep(0.2)
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def _ready(port: int) -> int:
    try:
        connection = await Connection.open(port)
        status = (await connection.ask("GET", "/v2/health/ready"))[0]
        connection.writer.close()
    except (OSError, asyncio.IncompleteReadError):
        return 0
    return status


class Connection:
    """One kept-alive HTTP connection: cheap enough not to be what is measured."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> Connection:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> Answer:
        began = time.perf_counter()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode("latin-1") + body)
        try:
            status = int((await self.reader.readuntil(b"\r\n")).split()[1])
        except asyncio.IncompleteReadError:  # it was idle for long, and the service closed it: nothing was asked yet
            raise ConnectionResetError(0) from None
        headers = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        if b"content-length: " in headers:
            await self.reader.readexactly(int(headers.split(b"content-length: ")[1].split(b"\r\n")[0]))
        elif b"transfer-encoding: chunked" in headers:
            while (size := int(await self.reader.readuntil(b"\r\n"), 16)) > 0:
                await self.reader.readexactly(size + 2)
            await self.reader.readexactly(2)
        if status == 503 and b"retry-after: " not in headers:
            status = _UNTOLD
        if b"connection: close" in headers:
            self.writer.close()
            raise ConnectionResetError(status)
        return status, time.perf_counter() - began


def suggestions(data: str) -> list[bytes]:
    """Bodies of requests of one text each."""
    from rankae.data import load_dataset

    texts = load_dataset(data, split="test").texts
    assert texts is not None
    return [json.dumps({"texts": [text], "k": K}).encode() for text in texts[:2000]]


async def clients(port: int, count: int, seconds: float, bodies: list[bytes]) -> list[Answer]:
    """As many clients, each of which asks again as soon as it is answered."""
    found: list[Answer] = []
    end = time.perf_counter() + seconds

    async def client(number: int) -> None:
        pick, connection = random.Random(number), await Connection.open(port)
        while time.perf_counter() < end:
            try:
                found.append(await connection.ask("POST", "/v1/models/model/suggest", pick.choice(bodies)))
            except ConnectionResetError as error:
                found.append((error.args[0] if error.args else 0, 0.0))
                connection = await Connection.open(port)
            if found[-1][0] in (503, _UNTOLD):
                await asyncio.sleep(_PAUSE)

    await asyncio.gather(*(client(number) for number in range(count)))
    return found


def told(answers: list[Answer], seconds: float) -> dict[str, Any]:
    good = [took for status, took in answers if status == 200]
    p50, p99 = (round(1000 * float(np.quantile(good, q)), 1) for q in (0.5, 0.99)) if good else (None, None)
    statuses = dict(Counter(str(status) for status, _ in answers))
    return {"per second": round(len(good) / seconds, 1), "p50 ms": p50, "p99 ms": p99, "answers": statuses}


def load(options: argparse.Namespace) -> dict[str, Any]:
    bodies, found = suggestions(options.data), {}
    for batching in (True, False):
        with service(options.model, batching=batching, workers=options.workers) as (port, process):
            asyncio.run(clients(port, 4, 2, bodies))
            for count in map(int, options.clients.split(",")):
                before = processor(process)
                answers = asyncio.run(clients(port, count, options.seconds, bodies))
                spent = {"CPU ms": round(1000 * (processor(process) - before) / len(answers), 2)}
                case = f"batching {'on' if batching else 'off'}, {count} clients"
                found[case] = told(answers, options.seconds) | spent
    return found


def overload(options: argparse.Namespace) -> dict[str, Any]:
    """A short queue, and clients who fill it several times over, in three rounds; then four clients as before."""
    bodies, queue, seconds = suggestions(options.data), 16, options.seconds / 3
    with service(options.model, workers=options.workers, queue=queue) as (port, process):
        found: dict[str, Any] = {"MB": [memory(process)]}
        found["before"] = told(asyncio.run(clients(port, 4, 5, bodies)), 5)
        answers: list[Answer] = []
        for _ in range(3):
            found["MB"].append(memory(process))
            answers += asyncio.run(clients(port, 4 * queue * options.workers, seconds, bodies))
        found["MB"].append(memory(process))
        found["overload"] = told(answers, options.seconds)
        return found | {"after": told(asyncio.run(clients(port, 4, 5, bodies)), 5)}


def soak(options: argparse.Namespace) -> dict[str, Any]:
    """Every route in turn at a steady rate, while the model's folder is replaced again and again."""
    bodies = suggestions(options.data)
    with TemporaryDirectory(prefix="rankae-soak-") as folder:
        place = Path(folder) / "model"
        shutil.copytree(options.model, place)
        with service(place, workers=options.workers, desk=str(Path(folder) / "desk")) as (port, process):
            return asyncio.run(_soak(port, process, place, bodies, options))


async def _soak(
    port: int, process: int, place: Path, bodies: list[bytes], options: argparse.Namespace
) -> dict[str, Any]:
    answers: list[Answer] = []
    memories, reloads, reopened, end = [memory(process)], 0, 0, time.perf_counter() + 60 * options.minutes
    texts = [json.loads(body)["texts"][0] for body in bodies[:200]]

    async def client(number: int, clients: int) -> None:
        nonlocal reopened
        pick, connection = random.Random(number), await Connection.open(port)
        routes: list[Callable[[], Awaitable[Answer]]] = [
            lambda: connection.ask("POST", "/v1/models/model/suggest", pick.choice(bodies)),
            lambda: connection.ask("POST", "/v1/models/model/suggest", pick.choice(bodies)),
            lambda: connection.ask("GET", f"/v1/models/model/labels?q={pick.choice(string.ascii_lowercase)}"),
            lambda: connection.ask("POST", "/v1/models/model/feedback", json.dumps(_decision(pick, texts)).encode()),
            lambda: connection.ask("GET", "/v1/models"),
            lambda: connection.ask("GET", "/metrics"),
        ]
        while time.perf_counter() < end:
            try:
                answers.append(await pick.choice(routes)())
            except ConnectionResetError:
                reopened, connection = reopened + 1, await Connection.open(port)
            await asyncio.sleep(pick.expovariate(options.rate / clients))

    async def replace() -> None:
        nonlocal reloads
        while time.perf_counter() < end - options.every:
            await asyncio.sleep(options.every)
            fresh, old = place.with_name("fresh"), place.with_name("old")
            await asyncio.to_thread(shutil.copytree, options.model, fresh)
            place.rename(old)
            fresh.rename(place)
            await asyncio.to_thread(shutil.rmtree, old)
            reloads += 1
            memories.append(memory(process))

    await asyncio.gather(*(client(number, 8) for number in range(8)), replace())
    found = told(answers, 60 * options.minutes)
    return found | {
        "reloads": reloads,
        "reopened": reopened,
        "MB": memories,
        "decisions": sum(status == 201 for status, _ in answers),
    }


def _decision(pick: random.Random, texts: list[str]) -> dict[str, Any]:
    return {
        "text": pick.choice(texts),
        "accepted": [f"label {pick.randrange(50)}"],
        "by": f"person {pick.randrange(3)}",
    }


def labels(options: argparse.Namespace) -> dict[str, Any]:
    """Type-ahead among made-up names of two to four words."""
    from rankae.serve.labels import LabelSearch

    random_numbers, alphabet = np.random.default_rng(0), list(string.ascii_lowercase)
    words = ["".join(random_numbers.choice(alphabet, size)) for size in random_numbers.integers(3, 11, 50_000)]
    share = 1 / np.arange(1, len(words) + 1)
    sizes = random_numbers.integers(2, 5, options.labels)
    picked = random_numbers.choice(len(words), sizes.sum(), p=share / share.sum())
    ends = np.cumsum(sizes)
    names = [" ".join(words[i] for i in picked[end - size : end]) for end, size in zip(ends, sizes, strict=True)]
    counts = random_numbers.zipf(1.5, options.labels)
    before, began = resident(os.getpid()), time.perf_counter()
    search = LabelSearch(names, counts)
    built, held = time.perf_counter() - began, resident(os.getpid()) - before
    typed = [name[:size] for size in (1, 2, 3, 5, 8) for name in random_numbers.choice(names, 200).tolist()]
    typed += [name[3:8] for name in random_numbers.choice(names, 200).tolist()]  # from the middle
    typed += ["".join(random_numbers.choice(alphabet, 6)) for _ in range(200)]  # that no label holds
    took = []
    for one in typed:
        began = time.thread_time()  # of the processor, whatever else runs on the machine
        search.find(one, 10)
        took.append((1000 * (time.thread_time() - began), one))
    p50, p99 = np.quantile([ms for ms, _ in took], [0.5, 0.99]).round(2).tolist()
    figures = {"p50 ms": p50, "p99 ms": p99, "slowest ms": [round(max(took)[0], 2), max(took)[1]]}
    return {"labels": len(names), "built in s": round(built, 1), "MB": round(held, 1)} | figures


def malformed(options: argparse.Namespace) -> dict[str, Any]:
    """Bodies that are cut, garbled, nested, of the wrong type or of other bytes: never a 5xx, never a lost service."""
    with TemporaryDirectory() as desk, service(options.model, workers=1, desk=desk) as (port, _):
        return asyncio.run(_malformed(port, options.bodies))


async def _malformed(port: int, bodies: int) -> dict[str, Any]:
    pick, found = random.Random(0), Counter[str]()
    connection = await Connection.open(port)
    for _ in range(bodies):
        path, kind, body = _bad(pick)
        try:
            status = (await connection.ask("POST", path, body, kind))[0]
        except (ConnectionResetError, asyncio.IncompleteReadError) as error:
            status = error.args[0] if isinstance(error, ConnectionResetError) and error.args else 0
            connection = await Connection.open(port)
        found[str(status)] += 1
        if status >= 500 or status == 0:
            print(status, path, kind, body[:300], file=sys.stderr)
    return {"bodies": bodies, "answers": dict(sorted(found.items())), "alive": await _ready(port) == 200}


_PATHS = (
    "/v1/models/model/suggest", "/v1/models/model/feedback", "/v1/models/model/batch?k=2", "/v1/desk/decisions",
    "/v1/desk/uploads?name=a.csv", "/v1/desk/uploads?name=a.jsonl", "/v1/desk/uploads?name=a.txt&text_column=b",
    "/v1/projects/model/suggest", "/v1/projects/model/suggest-batch", "/v1/projects/model/learn", "/predict", "/setup",
)  # fmt: skip
_KINDS = (
    "application/json",
    "application/x-www-form-urlencoded",
    "text/csv",
    "application/x-ndjson",
    "text/plain",
    "x",
)
_SOUND: tuple[Any, ...] = (
    {"texts": ["a text"], "k": 3, "explain": True}, {"text": "a", "accepted": ["x"], "shown": [{"label": "x"}]},
    {"documents": [{"text": "a"}]}, [{"text": "a", "subjects": [{"label": "b"}]}], {"tasks": [{"data": {"text": "a"}}]},
    {"text": "a", "about": {"flag": {"row": 1}}}, "text=some+words&limit=3", "text,labels\na,b\nc,d\n",
)  # fmt: skip
_ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1e308, 10**30, "", "\ud800", "\x00", "é" * 300, [], {}, [[]], {"a": {}}, "nan", [None] * 50,
)  # fmt: skip


def _bad(pick: random.Random) -> tuple[str, str, bytes]:
    sound = pick.choice(_SOUND)
    changed = _changed(sound, pick) if not isinstance(sound, str) else sound
    body = (
        changed.encode("utf-8", "surrogatepass")
        if isinstance(changed, str)
        else json.dumps(changed).encode("utf-8", "surrogatepass")
    )
    way = pick.randrange(6)
    if way == 0:
        body = body[: pick.randrange(len(body) + 1)]
    elif way == 1 and body:
        place = pick.randrange(len(body))
        body = body[:place] + pick.randbytes(pick.randrange(1, 9)) + body[place + 1 :]
    elif way == 2:
        body = pick.randbytes(pick.randrange(200))
    elif way == 3:
        body = b"[" * pick.choice((10, 1000, 50_000)) + body
    return pick.choice(_PATHS), pick.choice(_KINDS), body


def _changed(value: Any, pick: random.Random) -> Any:
    """The value with odd ones in place of some of its parts."""
    if pick.random() < 0.15:
        return pick.choice(_ODD)
    if isinstance(value, dict):
        return {name if pick.random() > 0.05 else name + "x": _changed(own, pick) for name, own in value.items()}
    if isinstance(value, list):
        return [_changed(own, pick) for own in value] * pick.choice((1, 1, 1, 40))
    return value


def memory(process: int) -> float:
    """Of the process and those that it has started, in MB."""
    return round(sum(_kilobytes(f"/proc/{own}/smaps_rollup", "Pss:") for own in _family(process)) / 1024, 1)


def processor(process: int) -> float:
    """Seconds that the process and those that it has started have computed."""
    spent = [Path(f"/proc/{own}/stat").read_text().rpartition(")")[2].split()[11:13] for own in _family(process)]
    return sum(int(ticks) for own in spent for ticks in own) / os.sysconf("SC_CLK_TCK")


def _family(process: int) -> list[int]:
    return [process, *map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())]


def resident(process: int) -> float:
    return _kilobytes(f"/proc/{process}/status", "VmRSS:") / 1024


def _kilobytes(path: str, name: str) -> int:
    line = next(line for line in Path(path).read_text().splitlines() if line.startswith(name))
    return int(line.split()[1])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = options.add_subparsers(dest="what", required=True)
    for name, function in {
        "load": load,
        "overload": overload,
        "soak": soak,
        "labels": labels,
        "malformed": malformed,
    }.items():
        own = what.add_parser(name)
        own.set_defaults(function=function)
        if name != "labels":
            own.add_argument("model", type=Path)
        if name in ("load", "overload", "soak"):
            own.add_argument("data")
            own.add_argument("--workers", type=int, default=2)
    what.choices["load"].add_argument("--clients", default="1,8,64")
    what.choices["load"].add_argument("--seconds", type=float, default=10)
    what.choices["overload"].add_argument("--seconds", type=float, default=60)
    what.choices["soak"].add_argument("--minutes", type=float, default=10)
    what.choices["soak"].add_argument("--rate", type=float, default=20, help="requests a second")
    what.choices["soak"].add_argument("--every", type=float, default=20, help="seconds between two reloads")
    what.choices["labels"].add_argument("--labels", type=int, default=1_000_000)
    what.choices["malformed"].add_argument("--bodies", type=int, default=10_000)
    chosen = options.parse_args()
    print(json.dumps(chosen.function(chosen)))


if __name__ == "__main__":
    main()
