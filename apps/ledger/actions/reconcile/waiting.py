"""Bills that wait: those that a change woke, reconciled one after the other."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import psycopg
from django.db import DataError, OperationalError, transaction
from django.db.models import Q

from apps.ledger.actions.bill_twins import notice_twins
from apps.ledger.actions.month_digests import TOLD_AGAIN, rewriting_bills
from apps.ledger.actions.reconcile.bill import (
    Reconciled,
    bills_due,
    note_failure,
    reconcile_again,
    reconcile_bill,
)
from apps.ledger.actions.reconcile.statements import LAST_TEAM
from apps.ledger.models import Bill
from apps.ledger.queries.bill_months import open_bills
from apps.ledger.queries.conversion import RateOfExchangeMissing
from apps.ledger.queries.tables import rows
from apps.logs.changes import answered, logged_change
from apps.marks.actions import clear
from apps.marks.queries import BillUnit, Pass, hours_marked, marks_by_hour

log = logging.getLogger(__name__)
AT_ONCE = 100_000
TOO_MUCH = (
    "its amounts together are more than the ledger keeps: look for a row with too many digits"
)
EVER = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)
# In order of ids, as whoever takes a delivery in locks them.
ASLEEP = """
SELECT bill.id FROM ledger_bill AS bill
WHERE bill.reconciled_at IS NOT NULL AND (
    bill.id = ANY(%(opens)s)
    OR EXISTS (SELECT 1 FROM unnest(%(names)s::timestamptz[]) AS hour
               WHERE hour < bill.ends_at AND hour + interval '1 hour' > bill.starts_at)
    OR EXISTS (SELECT 1 FROM unnest(%(weights)s::timestamptz[]) AS hour
               WHERE hour < bill.long_until AND hour + interval '1 hour' > bill.long_from))
ORDER BY bill.id FOR UPDATE
"""


@logged_change(count=answered)
@transaction.atomic
def wake_bills(*, at: datetime) -> int:
    """Have those bills reconciled again that go by what changed since; how many.

    They go by the nodes of their period, their names and their numbers at the provider; those with
    rows longer than an hour by what time cost then; those of open months by the teams.
    """
    marks = marks_by_hour(Pass.BILLS, hours_marked(Pass.BILLS, EVER, AT_ONCE))
    opens = _of_earlier_teams()
    if not marks and not opens:
        return 0
    marked: dict[int, list[datetime]] = {unit: [] for unit in BillUnit}
    for hour, of_hour in marks.items():
        for hour_mark in of_hour:
            marked[hour_mark.unit].append(hour)
    params = {
        "names": marked[BillUnit.NAMES],
        "weights": marked[BillUnit.WEIGHTS],
        "opens": opens,
        "at": at,
    }
    woken = [bill_id for (bill_id,) in rows(ASLEEP, params)]
    with rewriting_bills(woken, TOLD_AGAIN):
        Bill.objects.filter(id__in=woken).update(reconciled_at=None, woken_at=at)
    if marked[BillUnit.TWINS]:
        notice_twins(at=at)
    clear(Pass.BILLS, marks)
    return len(woken)


def _of_earlier_teams() -> list[int]:
    """Bills of open months that were read before the newest team was there."""
    ((newest,),) = rows(LAST_TEAM, {})
    earlier = Q(last_team_id=None) | Q(last_team_id__lt=newest)
    return open_bills(Bill.objects.filter(earlier, reconciled_at__isnull=False))


@logged_change(count=answered)
@transaction.atomic
def wake_open_bills(*, at: datetime) -> int:
    """Have every bill of an open month reconciled again; how many."""
    return reconcile_again(bills=Bill.objects.filter(id__in=open_bills(Bill.objects.all())), at=at)


def reconcile_waiting(clock: Callable[[], datetime]) -> list[Reconciled]:
    """Reconcile one bill after the other; one that cannot be says why and waits.

    What another holds is left to the next time.
    """
    done = []
    wake_bills(at=clock())
    for bill_id in bills_due():
        try:
            done.append(reconcile_bill(bill_id=bill_id, at=clock()))
        except RateOfExchangeMissing as refused:
            note_failure(bill_id=bill_id, failure=str(refused))
        except (DataError, psycopg.DataError):
            # Each row is in bounds, and the rows together are not: no other bill waits for that.
            note_failure(bill_id=bill_id, failure=TOO_MUCH)
        except (OperationalError, psycopg.OperationalError) as problem:
            # A deadlock or a lock timeout: the next sweep tries again.
            log.warning("reconcile_deferred bill=%s reason=%s", bill_id, problem)
    return done
