"""Rows read while those before them are being stored."""

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


@contextmanager
def read_ahead(rows: Iterator[Row]) -> Iterator[Iterator[Row]]:
    """The same rows in the same order, a few thousand read ahead by a thread of their own.

    Whatever reading them refuses comes where it would have come. Nothing is read on after the end.
    """
    ahead: Queue[list[Row] | Exception] = Queue(CHUNKS_AHEAD)
    is_over = threading.Event()
    thread = threading.Thread(target=_fill_queue, args=(rows, ahead, is_over), daemon=True)
    thread.start()
    try:
        yield _drain_queue(ahead)
    finally:
        is_over.set()
        thread.join()


def _fill_queue(
    rows: Iterator[Row], ahead: "Queue[list[Row] | Exception]", is_over: threading.Event
) -> None:
    while not is_over.is_set():
        try:
            chunk: list[Row] | Exception = list(islice(rows, ROWS_AT_ONCE))
        except Exception as refused:  # noqa: BLE001 - it is for who reads
            chunk = refused
        while not is_over.is_set():
            try:
                ahead.put(chunk, timeout=LOOKS_UP_SECONDS)
                break
            except Full:
                continue
        if not chunk or isinstance(chunk, Exception):
            return


def _drain_queue(ahead: "Queue[list[Row] | Exception]") -> Iterator[Row]:
    while True:
        chunk = ahead.get()
        if isinstance(chunk, Exception):
            raise chunk
        if not chunk:
            return
        yield from chunk
