"""The agent and its NVML child on a clock that is told, so that a day passes in minutes.

`python -m bench.fast_clock agent CONFIG` and `… child SPAN`; $FAKE_NVML_CLOCK names the clock's file.
Everything else is the agent's own: its threads, its spool, its uplink wait in real time.
"""

import mmap
import os
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runrate_agent.frames import Frame
    from runrate_agent.nvml.source import NvmlSource

VARIABLE = "FAKE_NVML_CLOCK"
NANOSECONDS = 1_000_000_000
# These keep the clock they were imported with, which is the real one.
REAL = (subprocess, threading)
really_sleep = time.sleep


class Told:
    """Three numbers in a file, nanoseconds since 1970: the child's moment, how far it may go, and
    how far the agent has read."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(24))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 24)

    def read(self, place: int) -> int:
        return int(struct.unpack_from("<q", self._map, 8 * place)[0])

    def write(self, place: int, nanoseconds: int) -> None:
        struct.pack_into("<q", self._map, 8 * place, nanoseconds)


CHILD, ALLOWED, AGENT = range(3)


def tell(told: Told, place: int) -> None:
    """From here on `time` says what the file says; its sleep is left alone."""

    def nanoseconds() -> int:
        return told.read(place)

    def seconds() -> float:
        return told.read(place) / NANOSECONDS

    time.time_ns = time.monotonic_ns = nanoseconds
    time.time = time.monotonic = seconds


class Paced:
    """A source whose frames are what time it is."""

    def __init__(self, source: "NvmlSource", told: Told) -> None:
        self._source, self._told = source, told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def frame(self) -> "Frame | None":
        """A second for each line without a frame, and never back."""
        frame, now = self._source.frame(), self._told.read(AGENT)
        at = now + NANOSECONDS if frame is None else frame.at_ms * 1_000_000
        self._told.write(AGENT, max(now, min(at, self._told.read(CHILD))))
        return frame


def agent(config: Path) -> None:
    """`runrate-agent run`, until SIGTERM."""
    told = Told(Path(os.environ[VARIABLE]))
    from runrate_agent.health import Health
    from runrate_agent.making import agent_of
    from runrate_agent.running import heed_signals
    from runrate_agent.settings import settings_in

    tell(told, AGENT)
    settings = settings_in(config)
    made = agent_of(settings, "bench")
    source: Any = made.source
    source.command = (sys.executable, "-m", "bench.fast_clock", "child", str(source.span_seconds))
    made.source = Paced(source, told)
    made.start(time.time_ns() // 1_000_000)
    heed_signals(made)
    health = Health(settings.health.listen, made.figures, made.problems)
    threading.Thread(target=health.run, daemon=True).start()
    made.run()


def child(span_seconds: int) -> int:
    """The process that asks NVML; its sleep takes no time but until it may go on."""
    told = Told(Path(os.environ[VARIABLE]))
    from runrate_agent.nvml import child as asking

    def sleep(seconds: float) -> None:
        now = told.read(CHILD) + max(1_000, round(seconds * NANOSECONDS))
        told.write(CHILD, now)
        while told.read(ALLOWED) < now:
            really_sleep(0.001)

    tell(told, CHILD)
    vars(time)["sleep"] = sleep
    return asking.main(span_seconds)


if __name__ == "__main__":
    if sys.argv[1] == "agent":
        agent(Path(sys.argv[2]))
    else:
        os._exit(child(int(sys.argv[2])))
