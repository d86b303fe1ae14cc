"""A driver of C that says what a test wants, asked through the real binding in a real child process."""

import fcntl
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from runrate_agent.frames import DeviceReading, Event, Frame
from runrate_agent.nvml.source import NvmlSource

SOURCE = Path(__file__).resolve().parent.parent / "fake_nvml" / "fake_nvml.c"
LIBRARY = "libnvidia-ml.so.1"
# Far shorter than on a node; a quarter is exact in binary.
SPAN = 0.25
WAITS: dict[str, float] = {"deadline_seconds": 2.0, "start_seconds": 6.0, "_wait": 0.1}


def built(folder: Path, *options: str, source: Path = SOURCE, name: str = LIBRARY) -> Path:
    """The library in its folder, compiled once for all workers of a run."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / name).exists():
            command = ["gcc", "-O1", "-shared", "-fPIC", f"-Wl,-soname,{name}", *options, "-o"]
            subprocess.run([*command, str(folder / "new"), str(source)], check=True)
            (folder / "new").rename(folder / name)
    return folder


@pytest.fixture(scope="session")
def library(run_folder) -> Path:
    return built(run_folder / "fake_nvml")


@dataclass
class Driver:
    """`write` says what the GPUs say from now on; keys as in fake_nvml.c, dots as `__`."""

    library: Path
    state: Path
    _written: dict[str, object] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        return {"LD_LIBRARY_PATH": str(self.library), "FAKE_NVML_STATE": str(self.state)}

    def write(self, **state: object) -> None:
        """Change some keys; None takes one away."""
        self._written |= {name.replace("__", "."): value for name, value in state.items()}
        lines = [f"{name}={value}\n" for name, value in self._written.items() if value is not None]
        new = self.state.with_suffix(".new")
        new.write_text("".join(lines))
        new.replace(self.state)

    def gpu(self, number: int, **state: object) -> None:
        given = {"uuid": f"GPU-{number}", "busid": f"00000000:{number + 16:02X}:00.0"} | state
        self.write(**{f"gpu__{number}__{name}": value for name, value in given.items()})


@pytest.fixture
def driver(library, tmp_path, monkeypatch) -> Driver:
    driver = Driver(library, tmp_path / "nvml.state")
    for name, value in driver.env.items():
        monkeypatch.setenv(name, value)
    driver.write(count=1)
    driver.gpu(0, samples=40, mem_used=1 << 30)
    return driver


@dataclass
class Watch:
    """What has come from a source so far."""

    source: NvmlSource
    frames: list[Frame] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    longest: float = 0.0

    def until(self, is_there: Callable[["Watch"], object], seconds: float = 20.0) -> "Watch":
        """Read on until something is there; fails with what came instead."""
        last = time.monotonic() + seconds
        while not is_there(self):
            assert time.monotonic() < last, (self.source.state, self.events, self.frames[-1:])
            began = time.monotonic()
            frame = self.source.frame()
            self.longest = max(self.longest, time.monotonic() - began)
            if frame is not None:
                self.events += frame.events
                if frame.devices or frame.readings:
                    self.frames.append(frame)
        return self

    def more(self, frames: int) -> "Watch":
        wanted = len(self.frames) + frames
        return self.until(lambda watch: len(watch.frames) >= wanted)

    def last(self, uuid: str = "GPU-0") -> DeviceReading:
        return next(each for each in self.frames[-1].readings if each.uuid == uuid)

    def told(self, kind: str, phase: str) -> bool:
        return any((each.kind, each.phase) == (kind, phase) for each in self.events)


@pytest.fixture
def watching(driver) -> Iterator[Callable[..., Watch]]:
    made: list[NvmlSource] = []

    def start(span: float = SPAN, **options: float) -> Watch:
        made.append(NvmlSource(span, **WAITS | options))
        return Watch(made[-1])

    yield start
    for source in made:
        source.close()
