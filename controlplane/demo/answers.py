"""What stands on settled weeks: made of two weeks first, forgotten and made again when all are there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import LiteralString

import pghistory.models
import pgtrigger
from django.apps import apps
from django.db import connection, transaction

from controlplane.demo.company import Company
from controlplane.demo.scenes import ANSWERS, Scene, play

ROOMS = ("planning", "placement", "review")
"""No room below them refers to theirs, so what they hold can be made again by itself."""
PASSING = frozenset({"review_alertsread"})
"""Tables that looking at a page fills."""
FINGERPRINT: LiteralString = (
    "SELECT count(*), coalesce(sum(hashtextextended(kept::text, 0)), 0) FROM {} AS kept"
)


@dataclass(frozen=True, slots=True)
class MadeEarly:
    """The tables that early answers filled, and what they held then."""

    fingerprints: dict[str, tuple[int, int]]


def answer_early(company: Company, scenes: tuple[Scene, ...] = ANSWERS) -> MadeEarly:
    """Play the scenes of answers as a company of two weeks would; return what they filled."""
    empty_before = [table for table in _tables() if not _fingerprint(table)[0]]
    play(scenes, company.of_two_weeks)
    return MadeEarly({table: _fingerprint(table) for table in empty_before})


def answer_again(
    company: Company, early: MadeEarly, scenes: tuple[Scene, ...] = ANSWERS
) -> list[str]:
    """Make every answer again, of all weeks, in one transaction: readers have the early ones until it ends.

    Where somebody changed one meanwhile all of them stay; returns the names of what was changed.
    """
    with transaction.atomic():
        changed = [
            table
            for table, fingerprint in early.fingerprints.items()
            if table not in PASSING and _fingerprint(table) != fingerprint
        ]
        if not changed:
            _forget(list(early.fingerprints))
            play(scenes, company)
    return [name for table in changed if (name := _named(table))]


def _tables() -> list[str]:
    """Return the tables of the rooms, those after which nothing of theirs refers to another first."""
    models = [model for room in ROOMS for model in apps.get_app_config(room).get_models()]
    return [model._meta.db_table for model in models if model._meta.managed]


def _named(table: str) -> str:
    """Return the name of what lies in a table; of an audit trail none, for it repeats another's."""
    for model in apps.get_models():
        if model._meta.db_table == table and not issubclass(model, pghistory.models.Event):
            return str(model._meta.verbose_name_plural)
    return ""


def _fingerprint(table: str) -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(FINGERPRINT.format(connection.ops.quote_name(table)))
        count, digest = cursor.fetchone()
        return count, digest


def _forget(tables: Sequence[str]) -> None:
    """Delete all rows and begin numbers again, so that an address leads to the same answer of more weeks."""
    with pgtrigger.ignore(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        for table in tables:
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")  # noqa: S608  # names of ours
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        for sequence in _sequences(tables):
            cursor.execute(f"ALTER SEQUENCE {sequence} RESTART")


def _sequences(tables: Sequence[str]) -> Iterator[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_serial_sequence(table_name, column_name) FROM information_schema.columns"
            " WHERE table_schema = current_schema AND table_name = ANY(%s)"
            " AND pg_get_serial_sequence(table_name, column_name) IS NOT NULL ORDER BY 1",
            [list(tables)],
        )
        yield from (sequence for (sequence,) in cursor.fetchall())
