"""The processes of one installation: started together, watched, stopped cleanly."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from controlplane.embedded_postgres import end_hung_server, revive, url_in_use
from controlplane.env import PROJECT_ROOT, Environment
from controlplane.postgres_programs import EmbeddedPostgresFailed
from controlplane.settings import ENVIRONMENT, HOME
from controlplane.supervision import Question, Silences, Watch, database_answers, web_answers

PR_SET_PDEATHSIG = 1
# Looked up before anything forks: between a fork and its program other threads may hold any lock.
PRCTL = ctypes.CDLL(None).prctl
GRACE_SECONDS = 20.0
RESTART_AFTER_SECONDS = 2.0
LOOKED_EVERY_SECONDS = 1.0
HEADER_MILLISECONDS = 15_000
MOST_FAILURES = 5


@dataclass(slots=True)
class Child:
    """One process of the installation and how to start it again."""

    name: str
    command: Sequence[str]
    answers: Callable[[], bool] | None = None
    """The question that it answers while it lives; a group that does not is killed, and started again."""
    process: subprocess.Popen[bytes] | None = None
    started: list[float] = field(default_factory=list)
    question: Question | None = None

    def start(self) -> None:
        """Start it; it dies with this process, even by SIGKILL."""
        self.started.append(time.monotonic())
        if self.question is not None:
            self.question.end()
        self.question = None if self.answers is None else Question(self.name, self.answers)
        self.process = subprocess.Popen(
            self.command,
            cwd=PROJECT_ROOT,
            stdout=sys.stderr,  # stdout is for figures
            preexec_fn=die_with_parent,
            start_new_session=True,
        )


def web(chosen: Environment, listen: str) -> Child:
    """granian serving `controlplane.door` on `listen` (host:port)."""
    host, _, port = listen.rpartition(":")
    tool = str(Path(sys.executable).with_name("granian"))
    command = [
        tool, "controlplane.door:application", "--interface", "rsgi", "--no-ws", "--http", "1",
        "--host", host, "--port", port, "--workers", str(chosen.web_processes),
        "--backlog", "2048", "--http1-header-read-timeout", str(HEADER_MILLISECONDS),
        "--log-level", "warning", "--respawn-failed-workers",
    ]  # fmt: skip
    return Child("web", command, web_answers(listen))


def workers() -> Child:
    """The Celery workers that do what waits; people and agents, who wait for answers of the web, go first."""
    return Child("workers", ["nice", "-n", "5", sys.executable, "-m", "controlplane.workers"])


def beat(chosen: Environment) -> Child:
    """The Celery beat that says when."""
    tool = str(Path(sys.executable).with_name("celery"))
    loud = ["--loglevel=DEBUG"] if chosen.log_level == "DEBUG" else []
    return Child("beat", [tool, "-A", "controlplane.clock", "--quiet", *loud, "beat", "--pidfile="])


def die_with_parent() -> None:
    """Have the kernel end this process when the one that started it ends, even by SIGKILL."""
    PRCTL(PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def started(child: Child) -> Iterator[Child]:
    """Run one child for as long as the block lasts."""
    child.start()
    try:
        yield child
    finally:
        stop([child])


class GivenUp(Exception):
    """What the processes stand on is gone and does not come back; the message says what."""


@dataclass(slots=True)
class Database:
    """The embedded Postgres under the processes, started again when it dies."""

    looked_at: float = 0.0
    failures: int = 0
    question: Question | None = None
    silences: Silences = field(default_factory=Silences)

    def end_hung(self, after: float, step: float) -> None:
        """Kill a server that has said nothing for too long, so that it is started again."""
        url = url_in_use()
        if url is None or not after:
            return
        if self.question is None:
            self.question = Question("database", database_answers(url))
        if self.silences.note("database", self.question.answers, step) > after:
            end_hung_server(after)
            self.silences = Silences()

    def look(self) -> None:
        """Look once a second; refuses GivenUp after some failures in a row."""
        now = time.monotonic()
        if now - self.looked_at < LOOKED_EVERY_SECONDS * (1 + self.failures):
            return
        self.looked_at = now
        try:
            if revive():
                print("the database had ended; it was started again", file=sys.stderr)
            self.failures = 0
        except EmbeddedPostgresFailed as problem:
            self.failures += 1
            print(f"the database does not start: {problem}", file=sys.stderr)
            if self.failures >= MOST_FAILURES:
                raise GivenUp(
                    f"the database ended and does not start again: {problem}"
                ) from problem


def supervise(children: Sequence[Child]) -> None:
    """Run until SIGTERM or SIGINT; what ends by itself, the database too, is started again.

    A child that runs already is taken over.

    Refuses GivenUp where the database does not start again; every child is stopped then.
    """
    asked: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    previous = {each: signal.signal(each, ask) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        for child in children:
            if child.process is None:
                child.start()
        database, watch = Database(), Watch(HOME, ENVIRONMENT.hung_after_seconds)
        while not asked:
            time.sleep(0.2)
            if (step := watch.step()) is not None:
                watch.end_hung(*_watched(children), step)
                database.end_hung(watch.after, step)
            database.look()
            _start_again(children)
    finally:
        stop(children)
        for each, handler in previous.items():
            signal.signal(each, handler)


def _watched(children: Sequence[Child]) -> tuple[list[int], dict[int, Question]]:
    """The process groups of those that run, and what is asked of some."""
    running = [child.process.pid for child in children if child.process is not None]
    questions = {
        child.process.pid: child.question
        for child in children
        if child.process is not None and child.question is not None
    }
    return running, questions


def _start_again(children: Sequence[Child]) -> None:
    for child in children:
        if child.process is None or child.process.poll() is None:
            continue
        if time.monotonic() - child.started[-1] > RESTART_AFTER_SECONDS:
            code = child.process.returncode
            print(f"{child.name} ended with {code}; starting it again", file=sys.stderr)
            _end_orphans(child.process)
            child.start()


def _end_orphans(ended: subprocess.Popen[bytes]) -> None:
    """Kill what a dead process left running in its group: a web worker would keep the port."""
    try:
        os.killpg(ended.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stop(children: Sequence[Child]) -> None:
    """Ask every child to end, and kill the groups of those that do not within the grace.

    Of one that had ended by itself, what it left running ends too.
    """
    for child in children:
        if child.question is not None:
            child.question.end()
    processes = [child.process for child in children if child.process]
    alive = [process for process in processes if process.poll() is None]
    for process in processes:
        if process not in alive:
            _end_orphans(process)
    for process in alive:
        process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + GRACE_SECONDS
    for process in alive:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
