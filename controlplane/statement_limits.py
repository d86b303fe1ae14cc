"""How long one statement, one wait for a lock and one idle transaction may last, by what is asked.

Web processes have limits, for somebody waits; commands and passes have one where a setting says so.
They are set when a connection is made, by a statement: poolers refuse them as start-up options.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponseBase

from controlplane.settings import ENVIRONMENT

IDLE_SECONDS = 60
"""What a request leaves open while it asks for nothing: its thread hangs, and holds locks."""
FILE_IDLE_SECONDS = 600
"""A file goes out as fast as its reader takes it, out of one transaction."""
READINESS_SECONDS = 2


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds for one statement, one wait for a lock, and a transaction in which nothing is asked; 0: the server's own."""

    statement: int = 0
    lock: int = 0
    idle: int = 0


WEB = Limits(ENVIRONMENT.web_statement_seconds, ENVIRONMENT.web_lock_seconds, IDLE_SECONDS)
FILES = Limits(ENVIRONMENT.file_statement_seconds, ENVIRONMENT.web_lock_seconds, FILE_IDLE_SECONDS)
READINESS = Limits(READINESS_SECONDS, READINESS_SECONDS, IDLE_SECONDS)
PASSES = Limits(ENVIRONMENT.pass_statement_seconds)
_process: list[Limits] = []


def limit_this_process(limits: Limits = WEB) -> None:
    """Have every connection that this process makes from now on begin with these limits."""
    _process[:] = [limits]


def limits_of_process() -> Limits | None:
    """Return the limits that connections of this process begin with; None: the server's own."""
    return _process[0] if _process else None


def limits_statement(limits: Limits | None) -> str:
    """Return the one statement that sets all three, or gives back the server's own."""
    seconds = limits or Limits()
    named = {
        "statement_timeout": seconds.statement,
        "lock_timeout": seconds.lock,
        "idle_in_transaction_session_timeout": seconds.idle,
    }
    return "; ".join(
        f"SET {name} = '{value}s'" if value else f"RESET {name}" for name, value in named.items()
    )


@contextmanager
def limited(limits: Limits) -> Iterator[None]:
    """Have what the block asks end within these limits."""
    limit: Callable[[Limits | None], None] = connection.limit  # type: ignore[attr-defined]  # our backend's
    before: Limits | None = connection.limits  # type: ignore[attr-defined]
    limit(limits)
    try:
        yield
    finally:
        limit(before)


def limit_requests(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware of web processes: files have longer than pages, for nobody looks at a blank page meanwhile."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if _process:
            backend: Any = connection
            backend.limit(FILES if is_of_file(request) else WEB)
        return get_response(request)

    return middleware


def is_of_file(request: HttpRequest) -> bool:
    """Whether rows are asked for that are kept, not looked at."""
    accepts = request.headers.get("Accept", "")
    return request.path.endswith((".csv", "/file", "/pdf")) or "text/csv" in accepts
