"""The parent's side of NVML: a child that is read with a deadline, killed when late, started again."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from runrate_agent.batch import DeviceRecord
from runrate_agent.compat import SLOTS
from runrate_agent.frames import DeviceReading, Event, Frame, ProcessReading

FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
LONGEST_LINE = 1 << 20
_GONE: dict[str, Any] = {"gone": "driver_unresponsive", "code": None}
TELLING_STATES = frozenset({"driver_unresponsive", "driver_mismatch"})
"""States that begin and end as events of the node."""


@dataclass(**SLOTS)
class NvmlSource:
    """Frames from the child. `frame` never raises and never waits longer than its deadline.

    `on_pids` hears of processes the second they are first seen, before they may be gone.
    """

    span_seconds: float
    deadline_seconds: float = 5.0
    start_seconds: float = 30.0
    on_pids: Callable[[Sequence[int]], object] = lambda pids: None
    name: str = "nvml"
    state: str = "starting"
    driver: str = ""
    calls: int = 0
    cpu_seconds: float = 0.0
    command: Sequence[str] = ()
    _child: subprocess.Popen[bytes] | None = None
    _buffer: bytes = b""
    _events: list[Event] = field(default_factory=list)
    _wait: float = FIRST_WAIT_SECONDS
    _next_start: float = 0.0
    _heard_at: float = 0.0
    _has_ticked: bool = False
    _unreaped: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _earlier: tuple[int, float] = (0, 0.0)
    _let_go_until: float = 0.0

    def frame(self) -> Frame | None:
        """The next frame, or None after at most a second: for this long there was none."""
        self._reap()
        if self._child is not None and time.monotonic() < self._let_go_until:
            self._earlier, self._next_start = (self.calls, self.cpu_seconds), self._let_go_until
            self._kill()
        if self._child is None:
            if time.monotonic() < self._next_start or self._unreaped:
                # One that a stuck driver holds cannot be killed; a second would hang like it.
                time.sleep(min(1.0, max(0.05, self._next_start - time.monotonic())))
                return self._told_alone()
            self._start()
        line = self._line(1.0)
        if line is not None:
            return self._heard(line)
        patience = self.deadline_seconds if self._has_ticked else self.start_seconds
        if self._child is not None and time.monotonic() - self._heard_at > patience:
            self._give_up("driver_unresponsive", "NVML did not answer in time")
        return self._told_alone()

    def let_go(self, seconds: float) -> None:
        """Hold nothing of the driver for so long, from a second from now on; safe in a signal.

        A GPU can be reset meanwhile. What it does then nobody sees.
        """
        self._let_go_until = time.monotonic() + seconds

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._kill()
        for child in self._unreaped:
            try:
                child.wait(timeout=1.0)
            except subprocess.TimeoutExpired:
                continue
        self._reap()

    def _start(self) -> None:
        command = self.command or (
            *(sys.executable, "-m", "runrate_agent.nvml.child"),
            str(self.span_seconds),
        )
        self._child = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self._buffer, self._has_ticked, self._heard_at = b"", False, time.monotonic()

    def _line(self, seconds: float) -> bytes | None:
        """A whole line of the child's, if one comes in time; b'' where the child ended."""
        if self._child is None or self._child.stdout is None:
            return None
        out = self._child.stdout
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                left = until - time.monotonic()
                if left <= 0 or not selector.select(left):
                    return None
                part = os.read(out.fileno(), 1 << 16)
                self._buffer += part
                if not part or len(self._buffer) > LONGEST_LINE:
                    return b""
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _heard(self, line: bytes) -> Frame | None:
        self._heard_at = time.monotonic()
        try:
            told: dict[str, Any] = json.loads(line) if line else dict(_GONE)
        except ValueError:
            told = dict(_GONE)
        if "gone" in told:
            code = told["code"]
            self._give_up(told["gone"], "" if code is None else f"NVML error {code}")
            return self._told_alone()
        self._well(told)
        if told.get("tick"):
            self.on_pids(told["tick"])
        return self._framed(told["frame"]) if "frame" in told else None

    def _well(self, told: dict[str, Any]) -> None:
        self._has_ticked, self._wait = True, FIRST_WAIT_SECONDS
        self._change("ok", "")
        driver = told.get("driver")
        if driver:
            if self.driver and self.driver != driver:
                self._say("driver_reloaded", "point", f"{self.driver} before, {driver} now")
            self.driver = driver

    def _framed(self, told: dict[str, Any]) -> Frame:
        calls, cpu = self._earlier
        self.calls, self.cpu_seconds = calls + told["calls"], cpu + told["cpu_seconds"]
        events = [*self._taken(), *(Event(**each) for each in told["events"])]
        return Frame(
            at_ms=told["at_ms"],
            monotonic_seconds=told["monotonic"],
            devices=tuple(DeviceRecord(**each) for each in told["devices"]),
            readings=tuple(_reading(each) for each in told["readings"]),
            events=tuple(events),
            minors=told["minors"],
            bus_ids=told["bus_ids"],
            gpu_instances=told["gpu_instances"],
        )

    def _told_alone(self) -> Frame | None:
        """What is to be told at once although nothing was measured."""
        events = self._taken()
        if not events:
            return None
        now_ms = time.time_ns() // 1_000_000
        return Frame(now_ms, time.monotonic(), devices=(), readings=(), events=tuple(events))

    def _taken(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def _give_up(self, state: str, detail: str) -> None:
        self._earlier = (self.calls, self.cpu_seconds)
        self._kill()
        self._change(state, detail)
        self._next_start = time.monotonic() + self._wait
        self._wait = min(self._wait * 2, LONGEST_WAIT_SECONDS)

    def _change(self, state: str, detail: str) -> None:
        if state == self.state:
            return
        if self.state in TELLING_STATES:
            self._say(self.state, "ended", "")
        if state in TELLING_STATES:
            self._say(state, "began", detail)
        self.state = state

    def _say(self, kind: str, phase: Any, detail: str) -> None:
        self._events.append(Event(time.time_ns() // 1_000_000, kind, phase, detail=detail))

    def _kill(self) -> None:
        if self._child is None:
            return
        child, self._child = self._child, None
        try:
            child.send_signal(signal.SIGKILL)
        except OSError:
            pass
        if child.stdout is not None:
            child.stdout.close()
        self._unreaped.append(child)

    def _reap(self) -> None:
        """Without waiting: in a driver's uninterruptible sleep a process does not even die."""
        self._unreaped = [each for each in self._unreaped if each.poll() is None]


def _reading(told: dict[str, Any]) -> DeviceReading:
    processes = told.pop("processes", None)
    return DeviceReading(
        **told,
        processes=None if processes is None else tuple(ProcessReading(*each) for each in processes),
    )
