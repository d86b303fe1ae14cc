"""Small whole tables that many questions of one answer need: read once for it, not once for each."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from functools import wraps
from typing import Any, TypeVar

Answer = TypeVar("Answer")

_kept: ContextVar[dict[Callable[[], Any], Any] | None] = ContextVar("kept", default=None)


@contextmanager
def reading_once() -> Iterator[None]:
    """Within it, what is marked by `once` is read when it is first asked for, and kept.

    Nothing may be changed within it that is read so.
    """
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def once(read: Callable[[], Answer]) -> Callable[[], Answer]:
    """Read once within `reading_once`, each time outside; whoever asks gets a copy of their own."""

    @wraps(read)
    def remembered() -> Answer:
        kept = _kept.get()
        if kept is None:
            return read()
        if read not in kept:
            kept[read] = read()
        answer: Answer = copy(kept[read])
        return answer

    return remembered
