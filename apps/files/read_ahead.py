"""Rows, or chunks of them, read while those before them are being stored."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from queue import Full, Queue
from typing import TypeVar

Row = TypeVar("Row")
ROWS_AT_ONCE = 2_500
CHUNKS_AHEAD = 8
LOOKS_UP_SECONDS = 0.1
# Whoever stores comes back from the database some hundred times a chunk, and each time waits as long
# for a thread that reads: with Python's own 5 ms that took longer than the database.
TURN_SECONDS = 0.0005


@contextmanager
def read_ahead(
    rows: Iterator[Row], *, at_once: int = ROWS_AT_ONCE, ahead: int = CHUNKS_AHEAD
) -> Iterator[Iterator[Row]]:
    """The same rows in the same order, read ahead by a thread of their own: `ahead` times `at_once` wait at most.

    Whatever reading them refuses comes where it would have come. Nothing is read on after the end.
    """
    waiting: Queue[list[Row] | Exception] = Queue(ahead)
    is_over = threading.Event()
    given = (rows, at_once, waiting, is_over)
    thread = threading.Thread(target=_fill_queue, args=given, daemon=True)
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
    rows: Iterator[Row],
    at_once: int,
    waiting: "Queue[list[Row] | Exception]",
    is_over: threading.Event,
) -> None:
    while not is_over.is_set():
        try:
            chunk: list[Row] | Exception = list(islice(rows, at_once))
        except Exception as refused:  # noqa: BLE001 - it is for who reads
            chunk = refused
        while not is_over.is_set():
            try:
                waiting.put(chunk, timeout=LOOKS_UP_SECONDS)
                break
            except Full:
                continue
        if not chunk or isinstance(chunk, Exception):
            return


def _drain_queue(waiting: "Queue[list[Row] | Exception]") -> Iterator[Row]:
    while True:
        chunk = waiting.get()
        if isinstance(chunk, Exception):
            raise chunk
        if not chunk:
            return
        yield from chunk
