"""Reads that many questions of one answer need, done once for it, not once for each."""

import inspect
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

_kept: ContextVar[dict[Hashable, Any] | None] = ContextVar("kept", default=None)


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


def once(read: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Read once for the same arguments within `reading_once`, each time outside.

    Whoever asks gets a copy of their own. Arguments are hashable, or lists of what is.
    """

    @wraps(read)
    def remembered(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        answers = _kept.get()
        if answers is None:
            return read(*args, **kwargs)
        key = read, *map(_hashable, args), *((name, _hashable(kwargs[name])) for name in kwargs)
        if key not in answers:
            answers[key] = read(*args, **kwargs)
        answer: Answer = copy(answers[key])
        return answer

    return remembered


def keep(read: Callable[[], Answer], answer: Answer) -> None:
    """Within `reading_once`, what `read` (marked by `once`) would answer: it came with something else."""
    answers = _kept.get()
    if answers is not None:
        answers[(inspect.unwrap(read),)] = answer


def _hashable(argument: object) -> Hashable:
    return tuple(argument) if isinstance(argument, list) else argument
