"""The agent as it runs: frames become windows, windows batches, and the spool holds all until sent."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runrate_agent.batch import Stamp
from runrate_agent.compat import SLOTS
from runrate_agent.folding import Folding, Window, batch_of
from runrate_agent.frames import Event, Frame, Source
from runrate_agent.jobs import JobEvent, bulks
from runrate_agent.node.counters import NodeCounters
from runrate_agent.reclaim import Notices
from runrate_agent.reports import Evidence, missing_of, report_of, spool_status
from runrate_agent.sending import Sending, phase_of, without_stamp
from runrate_agent.serving.reading import Serving
from runrate_agent.spool import BATCH, JOBS, REPORT, Spool
from runrate_agent.whose import Holders, Places
from runrate_agent.whose.proc import read_of

ROOT = Path("/")
DRAIN_SECONDS = 10.0
SERVING_SECONDS = 2.0
"""How long engines have for the last reading."""
CLOCK_STEP_MS = 2_000
MOST_UNREAD = 10
"""Names that are not understood, of one kind, in a report."""
LET_GO_SECONDS = 60.0
"""Long enough for `nvidia-smi --gpu-reset`."""


def places_in(frame: Frame) -> Places:
    """Where the devices of a frame are."""
    return Places(
        minors=frame.minors or {},
        bus_ids=frame.bus_ids or {},
        parents={each.uuid: each.parent for each in frame.devices if each.parent is not None},
        instances=frame.gpu_instances or {},
        pods=frame.pods or {},
    )


@dataclass(**SLOTS)
class Agent:
    """Everything that one process works with; `run` is its main thread."""

    source: Source
    holders: Holders
    spool: Spool
    sending: Sending
    window_seconds: int
    version: str
    node: str = ""
    is_node_sure: bool = False
    report_seconds: int = 60
    expected_gpus: int = 0
    tells_jobs: bool = False
    notices: Notices | None = None
    serving: Serving | None = None
    counters: NodeCounters = field(default_factory=NodeCounters)
    say: Callable[[str], object] = lambda text: None
    boot_ms: int = 0
    _folding: Folding | None = None
    _windows: list[Window] = field(default_factory=list)
    _evidence: Evidence = field(default_factory=Evidence)
    _sequences: dict[str, int] = field(default_factory=dict)
    _reported_at: float = 0.0
    _node_read_at_ms: int = 0
    _seen: dict[str, None] = field(default_factory=dict)
    _now_seen: tuple[str, ...] = ()
    _most_seen: int = 0
    _dropped: int = 0
    _refused: int = 0
    _clock: tuple[int, float] = (0, 0.0)
    _is_missing: bool = False
    _stopped: threading.Event = field(default_factory=threading.Event)

    def start(self, now_ms: int) -> None:
        """Begin a boot of its own."""
        self.boot_ms = self.spool.next_boot(now_ms)
        self._folding = Folding(self.window_seconds, self.holders)
        self.sending.phase_seconds = phase_of(f"{self.node}/{self.boot_ms}", self.window_seconds)
        self._dropped = self.spool.depth().dropped_windows
        self._clock = now_ms, time.monotonic()
        self.counters.read()
        self._node_read_at_ms = now_ms
        if self.serving is not None:
            self.serving.start(self.boot_ms)

    def run(self) -> None:
        """Until `stop`; then the window as far as it has come goes into the spool too."""
        sender = threading.Thread(target=self.sending.run, name="sending", daemon=True)
        sender.start()
        while not self._stopped.is_set():
            self.step()
        if self.serving is not None:
            self.serving.stop(SERVING_SECONDS)
        self.finish()
        # The sender alone has the uplinks; one that the server holds up ends with the process.
        self.sending.stop(DRAIN_SECONDS)
        sender.join(timeout=DRAIN_SECONDS)
        self.source.close()
        if not sender.is_alive():
            self.spool.close()

    def stop(self) -> None:
        """Return from `run` soon: in a second or two, or DRAIN_SECONDS where the server dawdles."""
        self._stopped.set()

    def step(self) -> None:
        """One frame, or a second without one."""
        frame = self.source.frame()
        now_ms = time.time_ns() // 1_000_000
        self._watch_clock(now_ms)
        self._tell_jobs(self.holders.refresh(now_ms), now_ms)
        if frame is not None:
            self._take(frame)
        if self.notices is not None:
            self._evidence.events += self.notices.taken()
        self._report_if_due(now_ms)

    def finish(self) -> None:
        """What is still in hand goes into the spool."""
        now_ms = time.time_ns() // 1_000_000
        if self._folding is not None:
            window = self._folding.flush()
            if window is not None:
                self._close(window)
        self._spool_windows(now_ms)
        self._report(now_ms)

    def status(self) -> dict[str, Any]:
        """How the agent is, as reports and the health port tell it."""
        depth, sent = self.spool.depth(), self.sending.sent
        state = self.source.state
        expected = self._expected()
        if state == "ok" and len(self._now_seen) < expected:
            state = "gpus_missing"
        elif state == "ok" and not self._now_seen:
            state = "no_gpus"
        cpu = sum(os.times()[:2]) + getattr(self.source, "cpu_seconds", 0.0)
        lived = time.monotonic() - self._clock[1] + 1e-9
        return {
            "state": state,
            "expected_gpus": expected,
            "seen_gpus": len(self._now_seen),
            "missing": missing_of(list(self._seen), self._now_seen),
            "spool": spool_status(depth),
            "dropped_windows": depth.dropped_windows,
            "clock_offset_ms": sent.offset_ms,
            "cpu_seconds": round(cpu, 2),
            "pss_bytes": pss_bytes(),
            "nvml_calls_per_second": round(self.source.calls / lived, 1),
            "driver": self.source.driver,
            "problems": [
                *({"code": code, "detail": text} for code, text in self.problems().items()),
                *({"code": code, "detail": name} for code, name in self.unread()),
            ],
            **(self.notices.facts() if self.notices is not None else {}),
        }

    def problems(self) -> Mapping[str, str]:
        """What is not as it should be, by code."""
        found = dict(self.holders.problems)
        if self.spool.problem:
            found["spool"] = self.spool.problem
        if self.sending.sent.problem:
            found["uplink"] = self.sending.sent.problem
        depth = self.spool.depth()
        if depth.aside_items:
            found["aside"] = (
                f"{depth.aside_items} bodies with {depth.aside_windows} windows are set aside, for the "
                "server or a proxy before it calls them too large; they are tried again every hour"
            )
        if self.sending.identity is not None and self.sending.identity.rival:
            found["two_agents"] = self.sending.identity.rival
        if self.source.state not in ("ok", "starting"):
            found["source"] = self.source.state
        return found | ({} if self.serving is None else self.serving.problems())

    def unread(self) -> Iterator[tuple[str, str]]:
        """What looks like use of this node and is not understood, by code and name: it is in no sum."""
        for name in list(self.holders.unread_grants)[:MOST_UNREAD]:
            yield "grant_not_understood", name
        # Only an exporter tells of devices that its reader may not know.
        for name in sorted(getattr(self.source, "unread", ()))[:MOST_UNREAD]:
            yield "device_not_understood", name
        for name in list(() if self.serving is None else self.serving.unread())[:MOST_UNREAD]:
            yield "metrics_not_understood", name

    def figures(self) -> dict[str, float | None]:
        """For /metrics."""
        status, sent = self.status(), self.sending.sent
        return {
            "up": 1,
            "seen_gpus": status["seen_gpus"],
            "expected_gpus": status["expected_gpus"],
            "spool_items": status["spool"]["batches"],
            "spool_bytes": status["spool"]["bytes"],
            "windows_sent_total": sent.windows,
            "windows_rejected_total": sent.rejected_windows,
            "windows_dropped_total": status["dropped_windows"],
            "windows_refused_total": self.spool.depth().refused_windows,
            "windows_aside": self.spool.depth().aside_windows,
            "requests_total": sent.items,
            "environments_unread_total": self.holders.unread_environments,
            "cpu_seconds_total": status["cpu_seconds"],
            "pss_bytes": status["pss_bytes"],
            "nvml_calls_total": self.source.calls,
            "clock_offset_ms": sent.offset_ms,
            **(self.serving.figures() if self.serving is not None else {}),
            "request_rows_refused_total": sent.refused_rows,
            "request_rows_unmatched_total": sent.unmatched_rows,
        }

    def _take(self, frame: Frame) -> None:
        self._evidence.events += frame.events
        if not frame.devices and not frame.readings:
            return
        self.holders.place(places_in(frame))
        self._count(frame)
        if self._folding is None:
            return
        for closed in self._folding.add(frame):
            self._close(closed)
        self._spool_windows(frame.at_ms)

    def _count(self, frame: Frame) -> None:
        """Expected against seen: fewer is an incident of the node, not an empty node."""
        self._now_seen = tuple(each.uuid for each in frame.devices if not each.is_slice)
        self._most_seen = max(self._most_seen, len(self._now_seen))
        expected = self._expected()
        if len(self._now_seen) >= expected:
            # One that was replaced is missed no more.
            self._seen = {}
        self._seen |= dict.fromkeys(self._now_seen)
        is_missing = len(self._now_seen) < expected
        if is_missing != self._is_missing:
            self._is_missing = is_missing
            said = f"{len(self._now_seen)} of {expected} GPUs"
            phase: Any = "began" if is_missing else "ended"
            self._evidence.events.append(Event(frame.at_ms, "gpu_missing", phase, detail=said))

    def _expected(self) -> int:
        """As many as the node should have, or as were ever seen at once: a new GPU is no ninth."""
        return max(self.expected_gpus, self._most_seen)

    def _close(self, window: Window) -> None:
        self._windows.append(window)
        self._evidence.windows.append(window)
        ends_at_ms = window.starts_at_ms + window.seconds * 1000
        grown = self.counters.read()
        if grown:
            self._evidence.node.append((window.starts_at_ms, window.seconds, grown))
        self._node_read_at_ms = ends_at_ms

    def _spool_windows(self, now_ms: int) -> None:
        """Every closed window is on disk at once: a kill costs the current one alone."""
        if not self._windows:
            return
        batch = batch_of(self._windows, self._stamp(BATCH))
        if len(batch.windows):
            body = without_stamp(batch.payload(sent_at_ms=0))
            self.spool.put(BATCH, body, at_ms=now_ms, windows=len(batch.windows))
        self._windows = []
        self.sending.wake()

    def _report_if_due(self, now_ms: int) -> None:
        is_urgent = REPORT not in self._sequences or self._evidence.is_urgent()
        is_due = time.monotonic() - self._reported_at >= self.report_seconds
        if is_urgent or is_due:
            self._report(now_ms)
        if is_urgent:
            self.sending.hurry(now_ms)

    def _report(self, now_ms: int) -> None:
        self._tell_dropped(now_ms)
        evidence, self._evidence = self._evidence, Evidence()
        self._reported_at = time.monotonic()
        body = without_stamp(report_of(evidence, self._stamp(REPORT), self.status()))
        self.spool.put(REPORT, body, at_ms=now_ms)
        self.sending.wake()

    def _tell_dropped(self, now_ms: int) -> None:
        depth = self.spool.depth()
        refused = depth.refused_windows - self._refused
        left = depth.dropped_windows - self._dropped - refused
        self._dropped, self._refused = depth.dropped_windows, depth.refused_windows
        for windows, why in (
            (refused, "the server refused them for good"),
            (left, "the spool was full, too old or unreadable"),
        ):
            if windows > 0:
                said = f"{windows} windows went unsent: {why}"
                self._evidence.events.append(Event(now_ms, "windows_dropped", detail=said))

    def _tell_jobs(self, events: Any, now_ms: int) -> None:
        told: list[JobEvent] = list(events)
        if not told or not self.tells_jobs:
            return
        for bulk in bulks(told):
            self.spool.put(JOBS, without_stamp(bulk), at_ms=now_ms)
        self.sending.wake()

    def _watch_clock(self, now_ms: int) -> None:
        """The wall clock against the one that never steps."""
        wall, steady = self._clock
        now = time.monotonic()
        step = (now_ms - wall) - (now - steady) * 1000
        if abs(step) > CLOCK_STEP_MS:
            said = f"the clock was set by {step / 1000:+.1f} s"
            self._evidence.events.append(Event(now_ms, "clock_stepped", detail=said))
            self._clock = now_ms, now

    def _stamp(self, kind: str) -> Stamp:
        sequence = self._sequences.get(kind, 0)
        self._sequences[kind] = sequence + 1
        node = self.node if self.is_node_sure else ""
        return Stamp(self.boot_ms, sequence, self.version, self.source.name, node)


def heed_signals(agent: Agent) -> None:
    """SIGTERM and SIGINT end the agent in order; SIGUSR1 has it let go of the driver for a while."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: agent.stop())
    signal.signal(signal.SIGUSR1, lambda *_: agent.source.let_go(LET_GO_SECONDS))


def pss_bytes() -> int | None:
    """The memory of this process and its children, pages they share counted once."""
    total, own = 0, os.getpid()
    children = read_of(ROOT, own, f"task/{own}/children") or b""
    for pid in (own, *map(int, children.split())):
        found = read_of(ROOT, pid, "smaps_rollup")
        if found is None:
            return None
        lines = (line for line in found.splitlines() if line.startswith(b"Pss:"))
        total += sum(int(line.split()[1]) for line in lines) * 1024
    return total


def say(text: str) -> None:
    """To the log, which is standard error."""
    sys.stderr.write(f"runrate-agent: {text}\n")
    sys.stderr.flush()
