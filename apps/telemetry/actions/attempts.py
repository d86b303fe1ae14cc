"""Attempts: what came together is tried together, and nobody's answer depends on another's."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

Given = TypeVar("Given")
Result = TypeVar("Result")


def capture_exception(work: Callable[[], Result]) -> Result | Exception:
    """Return what `work` comes to, or what it raised: the others that came with it go on."""
    try:
        return work()
    except Exception as trouble:  # noqa: BLE001  # it is raised, or answered, where it belongs
        return trouble


def attempted_together(
    work: Callable[[Sequence[Given]], Sequence[Result]], items: Sequence[Given]
) -> list[Result | Exception]:
    """`work` of all of them at once; where that fails, of each by itself."""
    if len(items) > 1:
        try:
            return [*work(items)]
        except Exception as trouble:  # noqa: BLE001  # whose it was shows when each is alone
            leave_lost_connection(trouble)
    return [capture_exception(partial(_of_one, work, item)) for item in items]


def _of_one(work: Callable[[Sequence[Given]], Sequence[Result]], item: Given) -> Result:
    return work([item])[0]


def leave_lost_connection(trouble: Exception) -> None:
    """The connection may have died while idle; whoever comes next deserves a new one."""
    if isinstance(trouble, (OperationalError, InterfaceError)) and not connection.in_atomic_block:
        connection.close()
