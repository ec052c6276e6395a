"""The service as a process: what it acknowledged is kept though it is killed, and what it took it answers."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import httpx
import pytest

from rankae.serve.store import Store

Begin = Callable[..., tuple[subprocess.Popen, str]]


@pytest.fixture
def begin(model_folder: Path) -> Iterator[Begin]:
    """Starts `rankae serve` in a process of its own, and gives it with its address when it is ready."""
    running: list[subprocess.Popen] = []

    def run(*options: str, model: Path = model_folder) -> tuple[subprocess.Popen, str]:
        command = [sys.executable, "-m", "rankae", "serve", str(model), "--port", "0", *options]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        running.append(process)
        address = re.search(r"http://\S+[0-9]", process.stderr.readline()).group()
        while process.poll() is None:
            try:
                if httpx.get(f"{address}/v2/health/ready", timeout=60).status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.05)
        return process, address

    yield run
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()


def test_killed_in_the_middle_of_feedback_nothing_acknowledged_is_lost(begin, tmp_path):
    process, address = begin("--desk", str(tmp_path / "desk"))
    acknowledged: list[int] = []

    def post(number: int) -> None:
        with httpx.Client(base_url=address, timeout=30) as client:
            for i in range(250):
                body = {"text": f"text {number} {i}", "accepted": ["fruit"], "by": "Ada"}
                answer = client.post("/v1/models/shop/feedback", json=body)
                if answer.status_code == 201:
                    acknowledged.append(answer.json()["decision"])

    with ThreadPoolExecutor(4) as pool:
        posts = [pool.submit(post, number) for number in range(4)]
        while len(acknowledged) < 200 and not all(one.done() for one in posts):
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        for one in posts:
            assert one.exception() is None or isinstance(one.exception(), httpx.TransportError)
    assert 200 <= len(acknowledged) < 1000
    desk = Store(tmp_path / "desk")
    assert {decision.number for decision in desk.all()} >= set(acknowledged)
    desk.close()


def test_what_was_taken_before_the_signal_to_stop_is_answered(begin):
    process, address = begin()
    started = [Event() for _ in range(8)]

    def ask(number: int) -> int:
        with httpx.Client(base_url=address, timeout=60) as client:
            client.get("/v2/health/live")  # the connection is open and was accepted
            texts = ["apple wine hammer " * 300] * 300
            request = client.build_request("POST", "/v1/models/shop/suggest", json={"texts": texts})
            started[number].set()
            return client.send(request).status_code

    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(ask, number) for number in range(8)]
        for one in started:
            one.wait(30)
        time.sleep(0.3)  # the bodies are on their way
        process.send_signal(signal.SIGTERM)
        statuses = []
        for one in answers:
            error = one.exception()
            # A request that had not reached the service yet finds nobody; one that had gets its answer, 503 included.
            assert error is None or isinstance(error, httpx.ConnectError | httpx.RemoteProtocolError | httpx.WriteError)
            if error is None:
                statuses.append(one.result())
    assert statuses
    assert set(statuses) <= {200, 503}
    assert process.wait(30) in (0, -signal.SIGTERM)


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_service_that_cannot_start_says_why_and_ends(model_folder, tmp_path, workers):
    damaged = tmp_path / "damaged"
    shutil.copytree(model_folder, damaged)
    tensors = damaged / "model.safetensors"
    tensors.write_bytes(tensors.read_bytes()[:-1] + b"?")
    command = [sys.executable, "-m", "rankae", "serve", str(damaged), "--port", "0", "--workers", workers]
    ended = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 2
    *announced, why = ended.stderr.splitlines()
    assert "damaged" in why
    assert why.startswith("rankae: ")
    assert all(line.startswith(("rankae serves", "decisions are not kept")) for line in announced)


def test_a_desk_that_cannot_be_kept_is_a_sentence(model_folder, tmp_path):
    (tmp_path / "desk").write_text("a file")
    command = [sys.executable, "-m", "rankae", "serve", str(model_folder), "--port", "0"]
    ended = subprocess.run([*command, "--desk", str(tmp_path / "desk")], stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 2
    assert "decisions cannot be kept in" in ended.stderr


@pytest.mark.slow
def test_a_worker_that_cannot_come_back_leaves_the_others_alone(begin, model_folder, tmp_path):
    place = tmp_path / "shop"
    shutil.copytree(model_folder, place)
    process, address = begin("--workers", "2", model=place)
    tensors = place / "model.safetensors"
    tensors.write_bytes(tensors.read_bytes()[:-1] + b"?")
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(workers[-1]), signal.SIGKILL)
    while "a worker cannot start" not in process.stderr.readline():
        assert process.poll() is None
    for _ in range(3):
        assert httpx.get(f"{address}/v1/models", timeout=60).status_code == 200
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) in (0, -signal.SIGTERM)
