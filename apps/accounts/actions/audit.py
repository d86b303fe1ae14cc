"""Who changes something: told to the database, whose triggers write it into the audit trail."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db import connection

_WITHIN: ContextVar[bool] = ContextVar("within_changes_by", default=False)


@contextmanager
def changes_by(**who: int | str) -> Iterator[None]:
    """Until the block ends, changes of this thread are `person=id`, `token=id` or `command=name`.

    Set for the connection, not the transaction: a block may hold several transactions.
    """
    mark = _WITHIN.set(True)
    _tell(who)
    try:
        yield
    finally:
        _WITHIN.reset(mark)
        if connection.connection is not None and not connection.needs_rollback:
            _tell({})


def name_changer(**who: int | str) -> None:
    """Say within `changes_by` who it is, where that is known only later; outside of it, nothing."""
    if _WITHIN.get():
        _tell(who)


def _tell(who: dict[str, int | str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('pghistory.context_metadata', %s, false)",
            [json.dumps(who) if who else ""],
        )
