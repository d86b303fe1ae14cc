"""A node with an agent, and batches as its agent would send them."""

import functools
import gzip
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.test import Client
from django.urls import get_resolver

from tests.make import make_agent, make_node, make_token

URL = "/api/v1/telemetry/batches"
BOOT = 1_763_690_000_000


@dataclass(frozen=True)
class Sending:
    """One agent and how it reaches the service."""

    node_id: int
    agent_id: int
    secret: str

    def post(self, batch: dict[str, Any] | bytes, **headers: str) -> Any:
        body = batch if isinstance(batch, bytes) else json.dumps(batch).encode()
        return self.client().post(URL, body, content_type="application/json", headers=headers)

    def client(self) -> Client:
        return Client(headers={"Authorization": f"Bearer {self.secret}"})


def now() -> datetime:
    return datetime.now(UTC)


def ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


@functools.cache
def this_hour() -> datetime:
    """The last full hour, the same for the whole run: all of its windows are in the past."""
    return now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)


def make_sending(name: str = "gpu-01", **given: Any) -> Sending:
    started_at = now() - timedelta(days=20)
    node_id = make_node(name, at=started_at)
    token = make_token(at=started_at)
    agent_id = make_agent(node_id=node_id, token_id=token.id, at=started_at, **given)
    return Sending(node_id, agent_id, token.secret)


@functools.cache
def load_addresses() -> None:
    """As a server does before its first visitor: a batch that waits for it looks like a wrong clock."""
    _ = get_resolver().url_patterns


def batch(windows: list[dict[str, Any]], /, *, sequence: int = 0, **given: Any) -> dict[str, Any]:
    """A batch of these windows, told as rows; what a row leaves out is unknown."""
    load_addresses()
    names = dict.fromkeys(name for window in windows for name in window)
    return {
        "format": 1,
        "boot": BOOT,
        "sequence": sequence,
        "sent_at_ms": ms(now()),
        "agent": {"version": "0.1.0", "source": "simulated"},
        "devices": [gpu(0), gpu(1)],
        "holders": ["", "slurm/atlas/4711"],
        "windows": {name: [window.get(name) for window in windows] for name in names},
    } | given


def gpu(index: int) -> dict[str, Any]:
    return {
        "uuid": f"GPU-{index}",
        "model": "NVIDIA H100 80GB HBM3",
        "index": index,
        "kind": "gpu",
    }


def window(minute: int = 0, *, hour: datetime | None = None, **given: Any) -> dict[str, Any]:
    """A minute of the first GPU under job 4711, of which it worked 40 seconds."""
    start = (hour or this_hour()) + timedelta(minutes=minute)
    return {
        "device": 0,
        "holder": 1,
        "starts_at_ms": ms(start),
        "seconds": 60,
        "worked_seconds": 40.0,
    } | given


def gzipped(batch: dict[str, Any]) -> bytes:
    return gzip.compress(json.dumps(batch).encode(), compresslevel=1)
