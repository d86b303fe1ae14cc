"""How a command ends that is asked to: by an exception, so that what it started is ended on the way out."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""What Python itself would end on at once; Ctrl-C is an exception already."""
ASKING = {*ENDING, signal.SIGINT}


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Have SIGTERM, and the SIGHUP of a terminal that closes, raise SystemExit within the block.

    The first is heard and no further one: whatever ends is ended once. What is ignored, as by nohup, stays so.
    """
    before = {number: signal.getsignal(number) for number in ENDING}

    def end(number: int, frame: FrameType | None) -> NoReturn:
        for each in ENDING:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def signals_wait() -> Iterator[None]:
    """Hold what asks this process to end until the block is over: half a start or stop would leave a server."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ASKING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
