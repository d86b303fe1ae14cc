"""Sums by month, user and node: made with the day, made once of what was settled before, and again."""

import threading
from datetime import datetime, timedelta

import pytest
from django.db import connection, transaction
from django.db.models import Model, Sum

from apps.fleet.models import Node
from apps.ledger.actions.rollup import roll_up_day
from apps.ledger.models import (
    LedgerMonth,
    Line,
)
from apps.marks.actions import Mark, mark
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from tests import make
from tests.apps.ledger import scene
from tests.databases import somebody_waits, wait_until


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
