"""Whether a worker that is at a file was asked to stop: then it lays the file down, and that is no try of it."""

import mmap
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Row = TypeVar("Row")
ROWS_BETWEEN = 500
"""So many rows are read between two looks at whether to stop."""


class WorkerStops(Exception):
    """The worker was asked to stop; whatever it was at waits for the next one."""


class StopNotice:
    """Whether a worker was asked to stop: shared by it and the processes that it forks after `renew`."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin anew, as a worker that nobody asked to stop."""
        # Anonymous and shared: what one process writes, those forked from it read.
        self._of_all = mmap.mmap(-1, 1)
        self.is_posted_here = False

    def post(self) -> None:
        """Ask every process of this worker to stop."""
        self._of_all[0] = 1

    def post_here(self) -> None:
        """Ask this process alone."""
        self.is_posted_here = True

    def is_posted(self) -> bool:
        """Return whether this process was asked to stop, or all of its worker."""
        return self.is_posted_here or self._of_all[0] != 0


STOP = StopNotice()


def refuse_to_go_on() -> None:
    """Refuse WorkerStops once this process was asked to stop."""
    if STOP.is_posted():
        raise WorkerStops("the worker was asked to stop")


def until_stopped(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows as they come; refuses WorkerStops among them once this process was asked to stop."""
    for number, row in enumerate(rows):
        if number % ROWS_BETWEEN == 0:
            refuse_to_go_on()
        yield row


@contextmanager
def stopping_between_rows() -> Iterator[None]:
    """Let SIGTERM wait until the file is laid down; then it ends this process as before.

    Who stops a service asks each of its processes, those too that a worker forked.
    """
    if threading.current_thread() is not threading.main_thread():
        # Only there may a program say what a signal does.
        yield
        return

    def note(number: int, frame: FrameType | None) -> None:
        STOP.post_here()

    before = signal.signal(signal.SIGTERM, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before if before is not None else signal.SIG_DFL)
        was_asked, STOP.is_posted_here = STOP.is_posted_here, False
        if was_asked:
            os.kill(os.getpid(), signal.SIGTERM)
