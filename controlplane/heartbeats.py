"""Signs of life: a file for each process under RUNRATE_HOME, which only it touches, from the loop that does its work."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from controlplane.folders import own_folder

EVERY_SECONDS = 5.0
FOLDER = "heartbeats"


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The newest sign of life of a process; `at_ns` means nothing but that it changes."""

    path: Path
    pid: int
    at_ns: int


class OwnHeartbeat:
    """The sign of this process; touched as often as one likes, written every few seconds."""

    def __init__(self, home: Path, kind: str) -> None:
        self.home, self.kind = home, kind
        self.written = 0.0

    def touch(self) -> None:
        """Say that the loop which calls this goes on; a full disk is no reason to end it."""
        now = time.monotonic()
        if now - self.written < EVERY_SECONDS:
            return
        self.written = now
        # By its number as it is now: a process that forks after this was made is another.
        with suppress(OSError):
            (own_folder(self.home / FOLDER) / f"{self.kind}.{os.getpid()}").touch()


def heartbeats(home: Path) -> Iterator[Heartbeat]:
    """Yield the newest sign of every process that left one, dead ones too."""
    for path in sorted((home / FOLDER).glob("*.*")):
        number = path.suffix.removeprefix(".")
        with suppress(FileNotFoundError):
            if number.isdecimal():
                yield Heartbeat(path, int(number), path.stat().st_mtime_ns)
