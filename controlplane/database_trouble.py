"""What a refusal of the database means to whoever asked: gone, in use, changed meanwhile, too slow, or away."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

import psycopg
from django.db import Error as DatabaseTrouble
from django.db import IntegrityError, InterfaceError, OperationalError
from django.db.models import ProtectedError, RestrictedError
from psycopg import errors

RETRY_AFTER_SECONDS = 5


@dataclass(frozen=True, slots=True)
class DatabaseAnswer:
    """The answer to a refusal of the database; `retry_after` is None where asking again changes nothing.

    One that `is_passing` may be asked for again as it is, and a moment later comes through.
    """

    status: HTTPStatus
    title: str
    detail: str
    retry_after: int | None = RETRY_AFTER_SECONDS
    is_passing: bool = False

    def for_machines(self) -> "DatabaseAnswer":
        """Return the same as 503, which senders send again after; they take 409 for a last word."""
        return replace(self, status=HTTPStatus.SERVICE_UNAVAILABLE)


AWAY = DatabaseAnswer(
    HTTPStatus.SERVICE_UNAVAILABLE, "Database away", "Try again shortly; nothing is lost."
)
TOO_SLOW = DatabaseAnswer(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "Took too long",
    "The database was given up on, for the question took longer than one request may. Ask for a "
    "shorter period, for fewer groups or with a filter; an export has the time for large questions.",
)
LOCKED = DatabaseAnswer(
    HTTPStatus.CONFLICT,
    "Being changed by another",
    "Something else is writing what this would change, and did not end in time. Nothing was "
    "changed; try again in a moment.",
    is_passing=True,
)
CROSSED = DatabaseAnswer(
    HTTPStatus.CONFLICT,
    "Crossed another change",
    "This and another change waited for each other, and this one was given up. Nothing was "
    "changed; try again in a moment.",
    is_passing=True,
)
MEANWHILE = DatabaseAnswer(
    HTTPStatus.CONFLICT,
    "Changed meanwhile",
    "Somebody else changed what this is about, or what hangs on it, at the same moment. Nothing "
    "was changed; look at it again before you try once more.",
)
IN_USE = "Something still hangs on it: {}. Nothing was changed; remove or end that first."
NOT_MIGRATED = DatabaseAnswer(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "Database not upgraded yet",
    "The tables are of another version than this process. `manage.py prepare` brings them up to "
    "date; /readyz says how many migrations wait.",
)
ANSWERS: tuple[tuple[type[Exception], DatabaseAnswer], ...] = (
    (errors.QueryCanceled, TOO_SLOW),
    (errors.LockNotAvailable, LOCKED),
    (errors.DeadlockDetected, CROSSED),
    (errors.SerializationFailure, CROSSED),
    (errors.ForeignKeyViolation, MEANWHILE),
    (errors.RestrictViolation, MEANWHILE),
    (errors.UniqueViolation, MEANWHILE),
    (errors.ExclusionViolation, MEANWHILE),
    (errors.UndefinedTable, NOT_MIGRATED),
    (errors.UndefinedColumn, NOT_MIGRATED),
    (errors.ReadOnlySqlTransaction, AWAY),
    (OperationalError, AWAY),
    (InterfaceError, AWAY),
    (psycopg.OperationalError, AWAY),
    (psycopg.InterfaceError, AWAY),
)
"""By what the database says, the first that fits; a broken check or a missing value is a bug, and stands in none."""


def database_answer(trouble: Exception) -> DatabaseAnswer | None:
    """Return the answer to what the database refused; None for what is no refusal of it, or is a bug."""
    if isinstance(trouble, ProtectedError | RestrictedError):
        return _still_in_use(trouble)
    if not isinstance(trouble, DatabaseTrouble | psycopg.Error):
        return None
    causes = list(_causes(trouble))
    return next(
        (answer for kind, answer in ANSWERS if any(isinstance(cause, kind) for cause in causes)),
        None,
    )


def constraint_of(trouble: Exception) -> str:
    """Return the name of the constraint that was broken, for the log; empty where it was none."""
    names = (
        getattr(getattr(cause, "diag", None), "constraint_name", None) for cause in _causes(trouble)
    )
    return next((name for name in names if name), "")


def _causes(trouble: BaseException) -> Iterator[BaseException]:
    """The error and the driver's own beneath it."""
    yield trouble
    if trouble.__cause__ is not None:
        yield trouble.__cause__


def _still_in_use(trouble: IntegrityError) -> DatabaseAnswer:
    rows: Iterable[Any] = getattr(
        trouble, "protected_objects", getattr(trouble, "restricted_objects", ())
    )
    kinds = sorted({str(row._meta.verbose_name_plural) for row in rows})
    detail = IN_USE.format(", ".join(kinds) or "other rows")
    return DatabaseAnswer(HTTPStatus.CONFLICT, "Still in use", detail, retry_after=None)
