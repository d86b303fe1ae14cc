"""The Celery workers of one machine: one for sweeps and one for people, of one memory.

Both are forked from a process that has loaded everything, so that the second costs what it writes and not
what it loads. `python -m controlplane.workers` starts both, and again what ends.
"""

import gc
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from types import FrameType
from typing import NoReturn

from controlplane.celery import app
from controlplane.processes import die_with_parent
from controlplane.queues import PEOPLE, SWEEPS
from controlplane.settings import ENVIRONMENT

STARTED_AGAIN_AFTER_SECONDS = 2.0
ENDED_BY = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)


@dataclass(frozen=True, slots=True)
class QueueWorker:
    """A worker that takes messages of these queues, so many at a time."""

    queues: tuple[str, ...]
    processes: int

    def arguments(self) -> list[str]:
        """Return what Celery's own command would be given; it is named for its first queue."""
        level = ["--loglevel=DEBUG"] if ENVIRONMENT.log_level == "DEBUG" else []
        return [
            "--quiet", "worker", *level, "--queues", ",".join(self.queues),
            "--hostname", f"{self.queues[0]}@%h", "--concurrency", str(self.processes),
            "--without-gossip", "--without-mingle", "--without-heartbeat",
        ]  # fmt: skip


@dataclass(slots=True)
class Crew:
    """The workers that run, by process id, and whether they were asked to end."""

    workers: dict[int, QueueWorker] = field(default_factory=dict)
    began: dict[int, float] = field(default_factory=dict)
    is_ending: bool = False

    def begin(self, worker: QueueWorker) -> None:
        """Fork a process that is this worker until it ends."""
        parent, pid = os.getpid(), os.fork()
        if not pid:
            _become(worker, parent)
        self.workers[pid], self.began[pid] = worker, time.monotonic()
        if self.is_ending:
            os.kill(pid, signal.SIGTERM)

    def end(self, number: int, frame: FrameType | None) -> None:
        """Hand the signal on to every worker; none is started again."""
        self.is_ending = True
        for pid in self.workers:
            os.kill(pid, number)

    def outlast(self) -> None:
        """Start again what ends, until all were asked to end and have."""
        while self.workers:
            pid, _ = os.wait()
            worker = self.workers.pop(pid, None)
            if worker is None or self.is_ending:
                continue
            rest = self.began.pop(pid) + STARTED_AGAIN_AFTER_SECONDS - time.monotonic()
            time.sleep(max(0.0, rest))
            if not self.is_ending:
                self.begin(worker)


def main() -> None:
    """Run the workers until told to stop."""
    app.loader.import_default_modules()
    # A process that looked for garbage in what is loaded would copy all of it.
    gc.collect()
    gc.freeze()
    crew = Crew()
    for number in ENDED_BY:
        signal.signal(number, crew.end)
    # Sweeps never take the people's worker; the other helps them out when it has time.
    crew.begin(QueueWorker((SWEEPS, PEOPLE), ENVIRONMENT.worker_processes))
    crew.begin(QueueWorker((PEOPLE,), ENVIRONMENT.people_processes))
    crew.outlast()


def _become(worker: QueueWorker, parent: int) -> NoReturn:
    """Be that worker; it ends with its parent, however that ends."""
    code = 1
    try:
        for number in ENDED_BY:
            signal.signal(number, signal.SIG_DFL)
        die_with_parent()
        if os.getppid() == parent:
            app.worker_main(worker.arguments())
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
