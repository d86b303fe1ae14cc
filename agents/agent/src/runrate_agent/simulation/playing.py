"""Plays a scenario against a server: its job events first, then every node's batches."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

from runrate_agent.batch import Batch
from runrate_agent.compat import SLOTS
from runrate_agent.jobs import bulks
from runrate_agent.simulation.fleet import Node
from runrate_agent.simulation.job_events import Clock, events_of
from runrate_agent.simulation.scenario import Scenario, claims_by_device
from runrate_agent.simulation.windows import NodeWatch
from runrate_agent.tokens import Tokens
from runrate_agent.uplink import Patience, Server, Uplink

BATCHES_PATH = "/api/v1/telemetry/batches"
JOBS_PATH = "/api/v1/jobs/bulk"
REASONS_SHOWN = 10


@dataclass(frozen=True, **SLOTS)
class Play:
    """What to play, where to and since when."""

    scenario: Scenario
    server: Server
    tokens: Tokens
    patience: Patience
    starts_at_ms: int
    boot_ms: int
    version: str
    in_flight: int


@dataclass(**SLOTS)
class Tally:
    """What was sent and what the server made of it; shared by the sending threads."""

    say: Callable[[str], object]
    sent: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, what: str, count: int) -> int:
        """The count so far, this one included."""
        with self.lock:
            self.sent[what] += count
            return self.sent[what]

    def reject(self, rows: object, whose: str) -> None:
        """Count refused rows; say the first few reasons."""
        if not isinstance(rows, list):
            return
        with self.lock:
            shown = self.sent["rejected"]
            self.sent["rejected"] += len(rows)
        for row in rows[: max(REASONS_SHOWN - shown, 0)]:
            self.say(f"{whose}: the server rejects {row}")


def play(this: Play) -> Counter[str]:
    """Send everything once; the count of nodes, devices, windows, batches, jobs and rejected."""
    tally = Tally(this.patience.say)
    tally.add("nodes", len(this.scenario.nodes))
    tally.add("devices", sum(len(node.devices) for node in this.scenario.nodes.values()))
    _send_jobs(this, tally)
    _send_nodes(this, tally)
    return tally.sent


def _send_jobs(this: Play, tally: Tally) -> None:
    for cluster, events in events_of(this.scenario, Clock(this.starts_at_ms)).items():
        token = this.tokens.of_cluster(cluster)
        with closing(Uplink(this.server, token, this.patience)) as uplink:
            for bulk in bulks(events):
                answer = uplink.post(JOBS_PATH, json.dumps(bulk, separators=(",", ":")).encode)
                tally.reject(answer.get("errors"), f"jobs of {cluster}")
    tally.add("jobs", len(this.scenario.jobs))
    tally.say(f"{tally.sent['jobs']} jobs sent")


def _send_nodes(this: Play, tally: Tally) -> None:
    stopped = threading.Event()
    claims = claims_by_device(this.scenario)

    def send(number: int, node: Node) -> None:
        watch = NodeWatch(this.scenario, node, claims, this.starts_at_ms)
        # With one token for all, the boots must differ for the batches of two nodes to differ.
        batches = watch.batches(boot_ms=this.boot_ms + number, version=this.version)
        _send_batches(this, tally, node, batches, stopped)

    with ThreadPoolExecutor(this.in_flight) as threads:
        sending = [
            threads.submit(send, number, node)
            for number, node in enumerate(this.scenario.nodes.values())
        ]
        try:
            for done in as_completed(sending):
                done.result()
        finally:
            # One refusal is the end of the play: what has not begun need not begin.
            stopped.set()
            threads.shutdown(cancel_futures=True)


def _send_batches(
    this: Play, tally: Tally, node: Node, batches: Iterable[Batch], stopped: threading.Event
) -> None:
    token = this.tokens.of_node(node.name)
    with closing(Uplink(this.server, token, this.patience)) as uplink:
        for batch in batches:
            if stopped.is_set():
                return
            answer = uplink.post(BATCHES_PATH, partial(_encoded_now, batch), encoding="gzip")
            tally.reject(answer.get("rejected"), f"windows of {node.name}")
            tally.add("batches", 1)
            tally.add("windows", len(batch.windows))
    done = tally.add("nodes_sent", 1)
    tally.say(f"{done} of {len(this.scenario.nodes)} nodes: {node.name} sent")


def _encoded_now(batch: Batch) -> bytes:
    return batch.encoded(sent_at_ms=time.time_ns() // 1_000_000)
