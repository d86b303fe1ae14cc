"""Plays a scenario against a server: its job events first, then every node's batches."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial

from runrate_agent.batch import Batch
from runrate_agent.compat import SLOTS
from runrate_agent.jobs import bulks
from runrate_agent.simulation.fleet import Node
from runrate_agent.simulation.job_events import Clock, events_of
from runrate_agent.simulation.scenario import Scenario, claims_by_device, without_end
from runrate_agent.simulation.windows import NodeWatch
from runrate_agent.simulation.work import Job
from runrate_agent.tokens import Tokens
from runrate_agent.uplink import Patience, Server, Uplink

BATCHES_PATH = "/api/v1/telemetry/batches"
JOBS_PATH = "/api/v1/jobs/bulk"
REASONS_SHOWN = 10
PARTS = ("jobs", "windows")
MINUTE_MS = 60_000
FOLLOW_SECONDS = 20.0


@dataclass(frozen=True, **SLOTS)
class Play:
    """What to play, where to and since when.

    What lives in `minutes` of the scenario's clock (None: all) is played, in windows of
    `window_minutes`.
    """

    scenario: Scenario
    server: Server
    tokens: Tokens
    patience: Patience
    starts_at_ms: int
    boot_ms: int
    version: str
    in_flight: int
    window_minutes: int = 1
    minutes: range | None = None


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


def play(this: Play, what: Collection[str] = PARTS) -> Counter[str]:
    """Send it once; the count of nodes, devices, windows, batches, jobs and rejected."""
    tally = Tally(this.patience.say)
    tally.add("nodes", len(this.scenario.nodes))
    tally.add("devices", sum(len(node.devices) for node in this.scenario.nodes.values()))
    if "jobs" in what:
        _send_jobs(this, tally)
    if "windows" in what:
        _send_nodes(this, tally)
    return tally.sent


def follow(this: Play, now_ms: Callable[[], int], wait: Callable[[float], object]) -> None:
    """Go on from the scenario's end as time passes, minute by minute, until `wait` answers True.

    Whatever lasted to its end lasts on. A server that is away for longer than the patience ends it.
    """
    told = this.scenario.minutes
    endless = without_end(this.scenario)
    claims = claims_by_device(endless)
    tally = Tally(say=lambda sentence: None)
    while True:
        until = (now_ms() - this.starts_at_ms) // MINUTE_MS
        for number, node in enumerate(endless.nodes.values()):
            watch = NodeWatch(endless, node, claims, this.starts_at_ms)
            batches = watch.batches(
                boot_ms=this.boot_ms + number,
                version=this.version,
                minutes=range(told, until),
                # There are no more batches than minutes: no number comes twice.
                first_sequence=told,
            )
            _send_batches(this, tally, node, batches, threading.Event())
        told = max(told, until)
        if wait(FOLLOW_SECONDS):
            return


def _send_jobs(this: Play, tally: Tally) -> None:
    told = [job for job in this.scenario.jobs if this.minutes is None or _is_in(job, this.minutes)]
    scenario = replace(this.scenario, jobs=tuple(told))
    for cluster, events in events_of(scenario, Clock(this.starts_at_ms)).items():
        token = this.tokens.of_cluster(cluster)
        with closing(Uplink(this.server, token, this.patience)) as uplink:
            for bulk in bulks(events):
                answer = uplink.post(JOBS_PATH, json.dumps(bulk, separators=(",", ":")).encode)
                tally.reject(answer.get("errors"), f"jobs of {cluster}")
    tally.add("jobs", len(told))
    tally.say(f"{tally.sent['jobs']} jobs sent")


def _lives_in(node: Node, minutes: range) -> bool:
    return node.started_minute < minutes.stop and minutes.start < node.ended_minute


def _is_in(job: Job, minutes: range) -> bool:
    is_over = job.ended_minute is not None and job.ended_minute <= minutes.start
    return not is_over and job.submitted_minute < minutes.stop


def _send_nodes(this: Play, tally: Tally) -> None:
    stopped = threading.Event()
    claims = claims_by_device(this.scenario)

    def send(number: int, node: Node) -> None:
        watch = NodeWatch(this.scenario, node, claims, this.starts_at_ms, this.window_minutes)
        # With one token for all, the boots must differ for the batches of two nodes to differ.
        batches = watch.batches(
            boot_ms=this.boot_ms + number, version=this.version, minutes=this.minutes
        )
        _send_batches(this, tally, node, batches, stopped)

    with ThreadPoolExecutor(this.in_flight) as threads:
        sending = [
            threads.submit(send, number, node)
            for number, node in enumerate(this.scenario.nodes.values())
            if this.minutes is None or _lives_in(node, this.minutes)
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
