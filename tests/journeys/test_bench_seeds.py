"""The rows that benches make by SQL fit the tables as they are now: a new column fails here, not half an hour into a bench."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from django.db import connection
from psycopg.sql import SQL, Identifier
from pytest_django import DjangoDbBlocker

from apps.ledger.actions.partitions import ensure_month
from bench import (
    explore_ask,
    export,
    pages_seed,
    reconcile_month,
    runs_ask,
    settle_days,
    settle_fleet,
    settle_work_day,
    units_ask,
    weekly_review_ask,
)
from controlplane.readiness import make_ready
from tests.databases import migrated_template, other_database

BENCH = Path(pages_seed.FOLDER)
WRITES = re.compile(r"(?:INSERT INTO|COPY)\s+(\w+)\s*\(([^()]*)\)")
COLUMNS = """
SELECT table_name::text, column_name::text,
       is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO' AND is_generated = 'NEVER'
  FROM information_schema.columns WHERE table_schema = 'public'
"""
NODES = 80


def _written() -> Iterator[tuple[str, str, frozenset[str]]]:
    """Each statement of a bench that makes rows: its file, the table and the columns that it names."""
    for path in sorted([*BENCH.glob("*.sql"), *BENCH.glob("*.py")]):
        for table, columns in WRITES.findall(path.read_text()):
            yield path.name, table, _names(columns)
    for head, _ in settle_fleet._tables(settle_fleet.Fleet(np.random.default_rng(1))):
        table, _, columns = head.partition("(")
        yield "settle_fleet.py", table.strip(), _names(columns.rstrip(")"))


def _names(columns: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", columns))


@pytest.mark.django_db
def test_statements_of_benches_name_every_column_that_has_to_be_filled() -> None:
    tables: dict[str, dict[str, bool]] = {}
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS)
        for table, column, has_to_be_filled in cursor.fetchall():
            tables.setdefault(table, {})[column] = has_to_be_filled
    written = [(file, table, named) for file, table, named in _written() if table in tables]
    assert len(written) > 80
    wrong = {}
    for file, table, named in written:
        needed = {column for column, has_to in tables[table].items() if has_to}
        if lacking := needed - named:
            wrong[f"{file}: {table} lacks"] = lacking
        if stray := named - set(tables[table]):
            wrong[f"{file}: {table} has no"] = stray
    assert wrong == {}


def _seeded_pages() -> None:
    pages_seed.main(0.001)


def _seeded_cube() -> None:
    make_ready()
    explore_ask._fill(0.001, datetime.now(UTC))


def _seeded_review() -> None:
    make_ready()
    weekly_review_ask._fill(20)


def _seeded_services() -> None:
    make_ready()
    today = datetime.now(UTC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(units_ask, "SERVICES", 10)
        units_ask._fill(today.date())
    ensure_month(month=today.date().replace(day=1))
    _run(units_ask.DAY, {"from": day_of(today), "pools": units_ask.POOLS})


def _seeded_runs() -> None:
    make_ready()
    today = day_of(datetime.now(UTC))
    few = {"runs": 20, "teams": 5, "workloads": 10, "pools": 2, "nodes": 4, "jobs": 4, "carried": 2}
    ensure_month(month=today.date().replace(day=1))
    for query in (runs_ask.FILL, runs_ask.DAY, runs_ask.CARRY):
        _run(query, {"at": today, "today": today, "from": today, **few})


def _seeded_days() -> None:
    """A populated hour, made into two, with the work, the bill and the month that other benches lay over it."""
    settle_fleet.main(NODES)
    settle_days._fill(2)
    ended = settle_fleet.HOUR + timedelta(hours=2)
    _run(settle_work_day.WORK, {"from": settle_fleet.HOUR, "to": ended})
    _run(reconcile_month.FILL, {"from": settle_fleet.HOUR, "hours": 2, "at": settle_fleet.AT})
    _run(export.FILL, {"nodes": NODES, "hours": 2, "parts": export.LINES_OF_CHARGE})


def day_of(at: datetime) -> datetime:
    """The midnight before it, of UTC."""
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def _run(query: str, params: dict[str, object]) -> None:
    # As clients do that are given several statements at once.
    with connection.cursor() as cursor:
        cursor.execute(query, params)


SEEDED: Mapping[str, tuple[Callable[[], None], str]] = {
    "pages": (_seeded_pages, "ledger_ledgermonth"),
    "cube": (_seeded_cube, "ledger_ledgermonth"),
    "review": (_seeded_review, "ledger_servicetotal"),
    "services": (_seeded_services, "ledger_servicetotal"),
    "runs": (_seeded_runs, "workloads_runhour"),
    "days": (_seeded_days, "ledger_billrow"),
}


@pytest.mark.proof
@pytest.mark.parametrize("name", SEEDED)
def test_a_seed_fills_a_database(
    name: str, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> None:
    seed, table = SEEDED[name]
    with django_db_blocker.unblock(), other_database(migrated_template()):
        seed()
        with connection.cursor() as cursor:
            cursor.execute(SQL("SELECT count(*) FROM {}").format(Identifier(table)))
            assert cursor.fetchone()[0] > 0
