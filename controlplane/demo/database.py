"""Make room for the demo: only in a database that nobody has used, or that holds the last demo."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import pghistory.models
from django.apps import apps
from django.db import connection, transaction

from apps.accounts import actions as accounts
from apps.accounts.actions.audit import changes_by
from apps.show.amounts import counted
from apps.telemetry.actions import interning, partitions

SIGN_IN = "finance@demo.example"
MANAGES = "platform@demo.example"
BILL = "aws-focus-1.2"
"""How the names of the demo's bills begin."""
KEPT = ("django_migrations", "django_content_type", "auth_permission")
"""What migrations made, and the demo finds again."""
DEFAULT_TEAMS = 2
NEW = {
    "accounts_organisation", "accounts_teamevent", "telemetry_holderkey", "django_session",
    "shared_cache",
}  # fmt: skip
"""What the first command of an installation fills, or the first look at it."""
OTHERS = {
    "people": "SELECT email FROM accounts_user WHERE email NOT LIKE '%%@demo.example' ORDER BY id",
    "bills": "SELECT name FROM ledger_billimport WHERE NOT starts_with(name, %(bill)s) ORDER BY id",
}
"""What people brought into a demo's database, and what it is called."""
BESIDE = "run the demo beside it with RUNRATE_HOME=/tmp/runrate-demo"


DEMO = "demo"
BY_HAND = """
SELECT count(*), max(at) FROM ({}) AS event
WHERE context ->> 'command' IS DISTINCT FROM %(demo)s
  AND (context ? 'person' OR context ? 'command'
       OR (context ->> 'token')::int8 IN (SELECT id FROM accounts_accesstoken WHERE name !~ %(own)s))
"""
OWN_TOKENS = "^(agent of |scheduler of |gateway of the demo$)"
"""How the tokens are called with which the demo itself tells."""


@contextmanager
def person_of_demo(person_id: int) -> Iterator[None]:
    """Have what the block changes be that person's, and known for the demo's own."""
    with changes_by(person=person_id, command=DEMO):
        yield


class DatabaseInUse(Exception):
    """The database holds somebody's own data, which the demo will not touch."""


def make_room(at: datetime, *, is_fresh: bool = False) -> None:
    """Empty Runrate's tables of an earlier demo and start a demo organisation in them.

    Tables of other applications stay as they are. Refuses DatabaseInUse where there is anything
    that is not the demo's; `is_fresh` empties a demo to which people added something.
    """
    with transaction.atomic():
        for trouble in _in_use(is_fresh=is_fresh):
            raise DatabaseInUse(f"{trouble}; {BESIDE}")
        _empty()
        accounts.bootstrap(
            organisation=accounts.Bootstrap(name="Northwind (demo)", is_demo=True), at=at
        )
    partitions.forget()
    interning.forget()
    partitions.keep_partitions(at=at)


def gained_facts() -> list[str]:
    """Return in words what people added to the demo that is here; nothing where none is, or nobody did.

    A demo of a version before this one marked its own people's changes as theirs: it counts as changed.
    """
    if not holds_demo():
        return []
    with connection.cursor() as cursor:
        cursor.execute(BY_HAND.format(_audit_trail()), {"demo": DEMO, "own": OWN_TOKENS})
        count, last = cursor.fetchone()
    changes = (
        [f"{counted(count, 'change')} in the audit trail, the last of {last:%-d %B %Y %H:%M} UTC"]
        if count
        else []
    )
    return [*changes, *_others()]


def holds_demo() -> bool:
    """Return whether an earlier demo is here."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT is_demo FROM accounts_organisation")
        return bool((cursor.fetchone() or (False,))[0])


def _in_use(*, is_fresh: bool) -> Iterator[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT is_demo, chosen_at FROM accounts_organisation")
        is_demo, chosen_at = cursor.fetchone() or (False, None)
        if not is_demo and chosen_at is not None:
            yield "this database holds your own organisation"
        if not is_demo:
            yield from _filled()
            return
    if not is_fresh:
        yield from (f"this demo's database holds {what}" for what in _others())


def _audit_trail() -> str:
    """Return a statement of who made every change, and when."""
    tables = [
        model._meta.db_table
        for model in apps.get_models()
        if issubclass(model, pghistory.models.Event) and not model._meta.proxy
    ]
    return " UNION ALL ".join(
        f'SELECT pgh_context AS context, pgh_created_at AS at FROM "{table}"'  # noqa: S608  # tables of ours
        for table in tables
    )


def _others() -> Iterator[str]:
    with connection.cursor() as cursor:
        for what, statement in OTHERS.items():
            cursor.execute(statement, {"bill": BILL})
            for (name,) in cursor.fetchall():
                yield f"{what} of your own ({name})"


def _filled() -> Iterator[str]:
    with connection.cursor() as cursor:
        for table in _own_tables():
            if table in NEW:
                continue
            most = DEFAULT_TEAMS if table == "accounts_team" else 0
            cursor.execute(f'SELECT count(*) FROM (SELECT FROM "{table}" LIMIT 3) AS found')  # noqa: S608  # a table of ours
            if cursor.fetchone()[0] > most:
                yield f"this database is in use: there are rows in {table}"


def _empty() -> None:
    """Without CASCADE: where another application refers to ours, the database refuses."""
    tables = ", ".join(f'"{table}"' for table in _own_tables() if table != "telemetry_holderkey")
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"TRUNCATE {tables} RESTART IDENTITY")
        # Nobody's key is the one that the migration made.
        cursor.execute("DELETE FROM telemetry_holderkey WHERE id <> 0")


def _own_tables() -> list[str]:
    """Those of our models, not all that lie in the schema."""
    ours = connection.introspection.django_table_names(only_existing=True, include_views=False)
    return sorted({*ours, "ledger_line", "shared_cache"} - set(KEPT))
