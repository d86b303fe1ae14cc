"""Which processes of an installation hang: alive, and without a sign of life for too long.

Silence is counted in the steps in which this process itself got to look, so that a machine that
slept, or is too busy to look, makes nobody hang.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import psutil
import psycopg

from controlplane.heartbeats import heartbeats

log = logging.getLogger(__name__)

LOOKED_EVERY_SECONDS = 2.0
LONGEST_STEP = 3.0
ASKED_EVERY_SECONDS = 5.0
STARTING = 5
"""So many times as long has a process that has given no sign yet: it loads, on a machine that may be busy."""


@dataclass(slots=True)
class Silences:
    """For how long whoever is watched has given no other sign than the last one."""

    signs: dict[object, object] = field(default_factory=dict)
    seconds: dict[object, float] = field(default_factory=dict)

    def note(self, who: object, sign: object, step: float) -> float:
        """Take down the sign of now; for how many seconds it has been the same."""
        if self.signs.get(who, self) != sign:
            self.signs[who], self.seconds[who] = sign, 0.0
        else:
            self.seconds[who] += step
        return self.seconds[who]

    def keep_only(self, watched: Iterable[object]) -> None:
        """Forget whoever is watched no more."""
        kept = set(watched)
        for who in [who for who in self.signs if who not in kept]:
            del self.signs[who], self.seconds[who]


class Question:
    """Something that is asked again and again by a thread of its own, and that may never answer."""

    def __init__(self, name: str, ask: Callable[[], bool]) -> None:
        self.name, self.ask = name, ask
        self.answers = 0
        self.ended = threading.Event()
        threading.Thread(target=self._go_on, daemon=True, name=f"asks-{name}").start()

    def _go_on(self) -> None:
        while not self.ended.wait(ASKED_EVERY_SECONDS):
            self.answers += self.ask()

    def end(self) -> None:
        """Ask no more."""
        self.ended.set()


def web_answers(listen: str) -> Callable[[], bool]:
    """Return the question whether `/healthz` is answered there, whatever with."""
    host, _, port = listen.rpartition(":")
    nearest = {"0.0.0.0": "127.0.0.1", "[::]": "::1", "::": "::1", "": "127.0.0.1"}  # noqa: S104  # what is listened on

    def ask() -> bool:
        caller = HTTPConnection(
            nearest.get(host, host.strip("[]")), int(port), timeout=ASKED_EVERY_SECONDS
        )
        try:
            caller.request("GET", "/healthz")
            caller.getresponse().read()
        except (OSError, HTTPException):
            return False
        finally:
            caller.close()
        return True

    return ask


def database_answers(url: str) -> Callable[[], bool]:
    """Return the question whether a server says anything at all: that it is starting, or full, is an answer."""

    def ask() -> bool:
        try:
            psycopg.connect(url, connect_timeout=int(ASKED_EVERY_SECONDS)).close()
        except psycopg.errors.ConnectionTimeout:
            return False
        except psycopg.OperationalError:
            return True
        return True

    return ask


class Watch:
    """Looks after process groups; `after_seconds` of silence is too long, and 0 watches nothing."""

    def __init__(self, home: Path, after_seconds: float) -> None:
        self.home, self.after = home, after_seconds
        self.silences = Silences()
        self.looked_at = time.monotonic()

    def step(self) -> float | None:
        """Return the seconds that count since the last look; None where it is too early for another."""
        elapsed = time.monotonic() - self.looked_at
        if elapsed < LOOKED_EVERY_SECONDS:
            return None
        self.looked_at += elapsed
        return min(elapsed, LONGEST_STEP)

    def end_hung(self, groups: Iterable[int], questions: dict[int, Question], step: float) -> None:
        """Kill what hangs of these process groups: one process, or a group whose question is not answered."""
        if not self.after:
            return
        members = list(_members(set(groups)))
        watched: list[object] = []
        for who, sign, pid in self._signs(members):
            watched.append(who)
            if self.silences.note(who, sign, step) > self.after:
                _kill(pid, str(who), self.after)
        for group, question in questions.items():
            who = (question.name, group)
            watched.append(who)
            longest = self.after * (1 if question.answers else STARTING)
            if self.silences.note(who, question.answers, step) > longest:
                _kill_group(group, question.name, longest)
        self.silences.keep_only(watched)

    def _signs(self, members: list[psutil.Process]) -> Iterator[tuple[object, object, int]]:
        """Who, what it last showed, and which process that is of."""
        alive = {process.pid for process in members}
        for heartbeat in heartbeats(self.home):
            if heartbeat.pid in alive:
                yield heartbeat.path.name, heartbeat.at_ns, heartbeat.pid
            elif not psutil.pid_exists(heartbeat.pid):
                heartbeat.path.unlink(missing_ok=True)
        for process in members:
            with suppress(psutil.Error):
                if process.status() == psutil.STATUS_STOPPED:
                    yield ("stopped", process.pid), True, process.pid


def _members(groups: set[int]) -> Iterator[psutil.Process]:
    """Every process of these groups, but those that only wait to be reaped."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error, ProcessLookupError):
            if os.getpgid(process.pid) in groups and process.status() != psutil.STATUS_ZOMBIE:
                yield process


def _kill(pid: int, who: str, seconds: float) -> None:
    log.warning("process_hung who=%s pid=%s silent_seconds=%s", who.replace(" ", ""), pid, seconds)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _kill_group(group: int, who: str, seconds: float) -> None:
    log.warning("process_hung who=%s pid=%s silent_seconds=%s", who, group, seconds)
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
