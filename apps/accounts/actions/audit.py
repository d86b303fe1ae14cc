"""Who changes something: told to the database, whose triggers write it into the audit trail."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from django.db import InterfaceError, OperationalError, connection

_WITHIN: ContextVar[bool] = ContextVar("within_changes_by", default=False)


@contextmanager
def changes_by(**actor: int | str) -> Iterator[None]:
    """Until the block ends, changes of this thread are `person=id`, `token=id` or `command=name, os_user=name`.

    Set for the connection, not the transaction: a block may hold several transactions.
    """
    mark = _WITHIN.set(True)
    try:
        # Where the database is away, what the block asks of it says so in its own words.
        with suppress(OperationalError, InterfaceError):
            _set_context(actor)
        yield
    finally:
        _WITHIN.reset(mark)
        _forget_actor()


def name_changer(**actor: int | str) -> None:
    """Say within `changes_by` who it is, where that is known only later; outside of it, nothing."""
    if _WITHIN.get():
        _set_context(actor)


def _forget_actor() -> None:
    if connection.connection is None or connection.needs_rollback:
        return
    try:
        _set_context({})
    except (OperationalError, InterfaceError):
        connection.close()


def _set_context(actor: dict[str, int | str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('pghistory.context_metadata', %s, false)",
            [json.dumps(actor) if actor else ""],
        )
