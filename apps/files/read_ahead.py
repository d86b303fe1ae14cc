"""Reading ahead: the next items are read while what came before them is being stored."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Full, Queue
from typing import TypeVar

Item = TypeVar("Item")
LOOKS_UP_SECONDS = 0.1
# Whoever stores comes back from the database some hundred times a chunk, and each time waits as long
# for a thread that reads: with Python's own 5 ms that took longer than the database.
TURN_SECONDS = 0.0005


@dataclass(frozen=True, slots=True)
class _Ended:
    """There is no more to read, or reading it was refused."""

    trouble: Exception | None = None


@contextmanager
def read_ahead(items: Iterator[Item], *, ahead: int = 1) -> Iterator[Iterator[Item]]:
    """Yield the items in the same order, read ahead by a thread of their own: `ahead` wait at most.

    Whatever reading them refuses comes where it would have come. Nothing is read on after the end.
    """
    waiting: Queue[Item | _Ended] = Queue(ahead)
    is_over = threading.Event()
    thread_args = (items, waiting, is_over)
    thread = threading.Thread(target=_fill_queue, args=thread_args, daemon=True)
    turn = sys.getswitchinterval()
    sys.setswitchinterval(TURN_SECONDS)
    thread.start()
    try:
        yield _drain_queue(waiting)
    finally:
        sys.setswitchinterval(turn)
        is_over.set()
        thread.join()


def _fill_queue(
    items: Iterator[Item], waiting: "Queue[Item | _Ended]", is_over: threading.Event
) -> None:
    while not is_over.is_set():
        try:
            item: Item | _Ended = next(items, _Ended())
        except Exception as refused:  # noqa: BLE001 - it is for who reads
            item = _Ended(refused)
        while not is_over.is_set():
            try:
                waiting.put(item, timeout=LOOKS_UP_SECONDS)
                break
            except Full:
                continue
        if isinstance(item, _Ended):
            return


def _drain_queue(waiting: "Queue[Item | _Ended]") -> Iterator[Item]:
    while True:
        item = waiting.get()
        if isinstance(item, _Ended):
            if item.trouble is not None:
                raise item.trouble
            return
        yield item
