"""The metrics that Prometheus reads from /metrics. None contains text from a user."""

from __future__ import annotations

import os

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    multiprocess,
)

REQUESTS = Counter("rankae_requests", "Requests that were answered", ["route", "status"])
SECONDS = Histogram(
    "rankae_request_seconds",
    "Time from a request's arrival to the end of its answer",
    ["route"],
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30),
)
TEXTS = Counter("rankae_texts", "Texts that got labels", ["model"])
DECISIONS = Counter("rankae_decisions", "Decisions that were kept", ["model"])
RELOADS = Counter("rankae_reloads", "Models that took the place of older ones", ["model"])
FAILED_RELOADS = Counter("rankae_failed_reloads", "Retrained models that could not be read", ["model"])
WAITING = Gauge("rankae_waiting_texts", "Texts that wait for a thread", multiprocess_mode="livesum")
OPEN = Gauge("rankae_open_requests", "Requests that are being answered", multiprocess_mode="livesum")


def exposition() -> tuple[bytes, str]:
    """The metrics of all worker processes, and their content type."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY), CONTENT_TYPE_LATEST
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)
    return generate_latest(registry), CONTENT_TYPE_LATEST
