"""Sums by month, user and node: made with the day, made once of what was settled before, and again."""

import threading
from datetime import date, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.db.models import F, Model, Sum

from apps.fleet.models import Node
from apps.ledger.actions.rollup import roll_up_day
from apps.ledger.models import (
    LedgerDay,
    LedgerMonth,
    LedgerNodeDay,
    LedgerPoolDay,
    LedgerUserDay,
    Line,
)
from apps.ledger.queries.tables import run
from apps.marks.actions import Mark, mark
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.telemetry.actions.partitions import forget
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.audited_world import make_world
from tests.databases import somebody_waits, wait_until

DIVIDING = "apps.ledger.migrations.0026_days_tell_jobs"
MIGRATION = "apps.ledger.migrations.0024_rollups_of_months_users_and_nodes"
BY_POOL = "apps.ledger.migrations.0027_days_by_pool"
TABLES = (LedgerPoolDay, LedgerMonth, LedgerUserDay, LedgerNodeDay)


def contents() -> list[list[tuple[object, ...]]]:
    """Every row of these and of LedgerDay, without its number."""
    found = []
    for table in (*TABLES, LedgerDay):
        names = [field.attname for field in table._meta.fields if field.attname != "id"]
        found.append(sorted(table.objects.values_list(*names), key=repr))
    return found


@pytest.mark.django_db
def test_an_installed_database_is_summed_once_closed_months_too(tmp_path: Path) -> None:
    forget()
    make_world(tmp_path)
    rolled_up = contents()
    for table in TABLES:
        table.objects.all().delete()
    LedgerDay.objects.update(is_of_job=False)

    import_module(MIGRATION).sum_what_is_settled(None, connection.schema_editor())
    import_module(DIVIDING).divide_what_is_summed(None, connection.schema_editor())
    run(import_module(BY_POOL).POOL_DAYS, {})

    assert contents() == rolled_up
    assert {row.posting_month for row in LedgerMonth.objects.all()} == {
        date(2026, 3, 1),
        date(2026, 4, 1),
    }
    assert audit_here(reading="ledger_ledgernodeday").places == ()
    forget()


def parts_of(table: type[Model]) -> dict[tuple[object, ...], tuple[object, ...]]:
    """What each cell of a table cost and held, of jobs and beside them."""
    cells = ("day", "kind", "status", "team_id", "workload_id", "pool_id", "state", "flags")
    sums = [Sum(name) for name in ("list_micros", "effective_micros", "unit_milliseconds")]
    found = table._default_manager.values_list(*cells, "is_of_job").annotate(*sums)
    return {row[: len(cells) + 1]: row[len(cells) + 1 :] for row in found}


@pytest.mark.django_db
def test_a_row_of_which_jobs_held_a_part_becomes_two(tmp_path: Path) -> None:
    forget()
    make_world(tmp_path)
    tagged = LedgerDay.objects.exclude(tags={}).values_list("workload_id")
    held = LedgerUserDay.objects.filter(is_of_job=True, effective_micros__gt=0)
    beside = held.exclude(workload_id__in=tagged).earliest("id")
    measures = ("list_micros", "contracted_micros", "effective_micros", "unit_milliseconds")
    thirds = {name: getattr(beside, name) // 3 for name in measures}
    LedgerUserDay.objects.filter(id=beside.id).update(
        **{name: F(name) - third for name, third in thirds.items()}
    )
    for name, third in thirds.items():
        setattr(beside, name, third)
    beside.id, beside.is_of_job, beside.user_name = None, False, ""
    beside.save()
    LedgerDay.objects.update(is_of_job=False)

    import_module(DIVIDING).divide_what_is_summed(None, connection.schema_editor())

    assert parts_of(LedgerDay) == parts_of(LedgerUserDay)
    assert sums_of(LedgerMonth) == sums_of(Line)
    forget()


@pytest.mark.django_db(transaction=True)
def test_two_days_of_a_month_wait_for_each_other_and_both_are_in_it() -> None:
    make.make_organisation()
    node_id = scene.make_priced_node()
    until = scene.TEN + timedelta(hours=20)
    scene.settle(at=until + timedelta(days=1), ends_at=until)
    days = [scene.TEN.replace(hour=0), scene.TEN.replace(hour=0) + timedelta(days=1)]
    pool_id = Node.objects.get(id=node_id).pool_id
    with transaction.atomic():
        mark(Mark(Pass.ROLLUP, pool_id, day) for day in days)

    with transaction.atomic():
        assert roll_up_day(first_hour=days[1]).changed
        other = threading.Thread(target=roll_up_in_thread, args=(days[0],))
        other.start()
        wait_until(somebody_waits)
    other.join()

    assert sums_of(LedgerMonth) == sums_of(Line)
    assert not ChangedHour.objects.filter(pass_id=Pass.ROLLUP).exists()


def sums_of(table: type[Model]) -> dict[str, int]:
    return table.objects.aggregate(all=Sum("effective_micros"), time=Sum("unit_milliseconds"))


def roll_up_in_thread(first_hour: datetime) -> None:
    try:
        roll_up_day(first_hour=first_hour)
    finally:
        connection.close()
