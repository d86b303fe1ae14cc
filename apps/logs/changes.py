"""One line for a change that an action makes, and for a pass over facts: the only place they are.

A line never has a text that somebody entered: it tells the action's name, numbers that are ids,
the hour, day or month it is about, and counts. So no password, token or prompt can come into it.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, Protocol, TypeVar

import structlog

from apps.logs.context import acting, current_actor, current_request

Given = ParamSpec("Given")
Result = TypeVar("Result")
Sent = TypeVar("Sent", bound="Delivered")
Counter = Callable[[Any, Mapping[str, Any]], int]
"""How many things were changed, by what the action answered and what it was given."""

UNTOLD = "-"
ABOUT = ("hour", "first_hour", "day", "month")
log = structlog.get_logger()
_WITHIN: ContextVar[str] = ContextVar("within_a_logged_change", default="")


def one(result: Any, arguments: Mapping[str, Any]) -> int:
    """A single thing."""
    return 1


def answered(result: Any, arguments: Mapping[str, Any]) -> int:
    """As many as the action answers: a number, how long its list is, or one thing; None is none."""
    if result is None or isinstance(result, int):
        return int(result or 0)
    return len(result) if isinstance(result, Sized) else 1


def items_of(name: str) -> Counter:
    """As many as the argument of this name holds."""
    return lambda result, arguments: len(arguments[name])


def field_of(name: str) -> Counter:
    """As many as this field of the answer says; none without an answer."""
    return lambda result, arguments: int(getattr(result, name, 0))


def logged_change(
    *, count: Counter = one, text_arguments: tuple[str, ...] = ()
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """One line when the action is done or refused, by the action's own name.

    An action that another one calls is part of that one's line. Where nothing was changed, the
    line is for DEBUG. `text_arguments` names arguments whose text is one of a few words of our own.
    """
    return lambda action: _logged(action, action.__name__, count, text_arguments, is_pass=False)


def logged_pass(
    event: str, *, count: Counter = answered
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Return a decorator that logs a pass over an hour, a day, a bill: a line of its own, whoever calls it."""
    return lambda action: _logged(action, event, count, (), is_pass=True)


class Delivered(Protocol):
    """One of several things that came together, each of its own sender and request."""

    @property
    def actor(self) -> str:
        """Who sent it, such as `agent:7`."""

    @property
    def request_id(self) -> str:
        """The id of its request."""


def logged_batch(
    event: str, *, count: Counter
) -> Callable[[Callable[[Sequence[Sent]], list[Result]]], Callable[[Sequence[Sent]], list[Result]]]:
    """One line for each of what came together, by what the action answers of it in its place.

    An exception in an answer's place is a refusal. Each took as long as all did.
    """

    def decorate(
        action: Callable[[Sequence[Sent]], list[Result]],
    ) -> Callable[[Sequence[Sent]], list[Result]]:
        @wraps(action)
        def logged(sent: Sequence[Sent]) -> list[Result]:
            mark, since = _WITHIN.set(event), time.perf_counter()
            try:
                results = action(sent)
            finally:
                _WITHIN.reset(mark)
            for item, result in zip(sent, results, strict=True):
                with acting(actor=item.actor, request_id=item.request_id):
                    if isinstance(result, Exception):
                        _write("info", event, since, {"count": 0, "refused": type(result).__name__})
                    else:
                        id_fields = _id_of(result) if count is one else {}
                        _write("info", event, since, id_fields | {"count": count(result, {})})
            return results

        logged.event = event  # type: ignore[attr-defined]  # docs/reference/log-events.md is made of them
        return logged

    return decorate


@contextmanager
def untold() -> Iterator[None]:
    """Log no changes and no passes in the block: what it does is taken back again."""
    mark = _WITHIN.set(UNTOLD)
    try:
        yield
    finally:
        _WITHIN.reset(mark)


def _logged(
    action: Callable[Given, Result],
    event: str,
    count: Counter,
    text_arguments: tuple[str, ...],
    *,
    is_pass: bool,
) -> Callable[Given, Result]:
    names = tuple(signature(action).parameters)

    @wraps(action)
    def logged(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        within = _WITHIN.get()
        if within == UNTOLD or (within and not is_pass):
            return action(*args, **kwargs)
        mark, since = _WITHIN.set(event), time.perf_counter()
        arguments = dict(zip(names, args, strict=False)) | kwargs
        fields = _about(arguments) | {name: str(arguments[name]) for name in text_arguments}
        try:
            result = action(*args, **kwargs)
        except Exception as refused:
            _write("info", event, since, fields | {"count": 0, "refused": type(refused).__name__})
            raise
        finally:
            _WITHIN.reset(mark)
        number = count(result, arguments)
        id_fields = _id_of(result) if count is one else {}
        _write("info" if number else "debug", event, since, fields | id_fields | {"count": number})
        return result

    logged.event = event  # type: ignore[attr-defined]  # docs/reference/log-events.md is made of them
    return logged


def _id_of(result: object) -> dict[str, int]:
    """Return the number of what was made, or that of the fact that was answered."""
    number = result if type(result) is int else getattr(result, "id", None)
    return {"id": number} if type(number) is int else {}


def _about(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a change or pass is about: ids, and the hour, day or month; of several hours the first, and how many."""
    hours = arguments.get("hours")
    several = {"hour": hours[0].isoformat(), "hours": len(hours)} if isinstance(hours, list) else {}
    return several | {
        name: value.isoformat() if isinstance(value, date) else value
        for name, value in arguments.items()
        if (name.endswith("_id") and isinstance(value, int))
        or (name in ABOUT and isinstance(value, date))
    }


def _write(level: str, event: str, since: float, fields: Mapping[str, Any]) -> None:
    emit = log.info if level == "info" else log.debug
    emit(
        event,
        who=current_actor(),
        ms=round((time.perf_counter() - since) * 1000, 1),
        request_id=current_request(),
        **fields,
    )
