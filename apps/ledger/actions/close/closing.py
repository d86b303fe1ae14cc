"""A month closed by a person: checked, frozen with a digest of its lines, and told to every team."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import date, datetime

from django.db import transaction
from django.db.models import Max

from apps.accounts import queries as accounts
from apps.economics.money import sum_of_known
from apps.ledger.actions.close.taking_back import take_back_corrections
from apps.ledger.actions.closed import lock_month, refuse_closed_month
from apps.ledger.actions.month_digests import keep_digests
from apps.ledger.models import Close, DigestOrigin, StatementLine
from apps.ledger.queries.bill_months import bills_of_month
from apps.ledger.queries.bills.twins import open_twins_of, undecided_twins
from apps.ledger.queries.calendar import month_span
from apps.ledger.queries.closes.checklist import Item, checklist, has_ended
from apps.ledger.queries.closes.contents import digest_of_month, statement_rows
from apps.ledger.queries.closes.month_digests import digests_of_month
from apps.ledger.queries.tables import Row
from apps.logs.changes import logged_change
from apps.marks.actions import Mark, mark
from apps.marks.queries import BillUnit, Pass

AMOUNTS = ("list_micros", "contracted_micros", "effective_micros", "billed_micros")
COLUMNS = (
    *("team_id", "workload_id", "pool_id", "kind", "status", "state", "flags", "corrects_month"),
    *("unit", "unit_milliseconds", "unpriced_milliseconds", *AMOUNTS),
)


class MonthNotOver(Exception):
    """A month can be closed once its last hour is over."""


class MonthNotReady(Exception):
    """Something is still being settled: closing now would freeze half of it."""


class ItemsNotAccepted(Exception):
    """Something stands open, and whoever closes has not said that it may."""


class MonthNotClosed(Exception):
    """There is nothing to reopen or to correct: the month is open."""


@dataclass(frozen=True, slots=True)
class CloseRequest:
    """Who closes which month, and which open questions of the checklist they accept, by code."""

    month: date
    person_id: int | None
    accepted: Collection[str] = ()
    note: str = ""


@logged_change()
@transaction.atomic
def close_month(*, request: CloseRequest, at: datetime) -> int:
    """Freeze the month as it stands; the id of its close.

    Refuses MonthNotOver, MonthAlreadyClosed, MonthNotReady and ItemsNotAccepted.
    """
    month = request.month.replace(day=1)
    if not has_ended(month, at):
        raise MonthNotOver(f"{month:%Y-%m} is not over yet")
    lock_month(month)
    refuse_closed_month(months={month}, what="closing it again")
    items = checklist(month)
    refuse_open(items, request.accepted)
    digest, lines = digest_of_month(month, accounts.organisation().zone)
    statements = statement_rows(month)
    latest = Close.objects.filter(month=month).aggregate(latest=Max("version"))["latest"]
    close = Close.objects.create(
        month=month,
        version=(latest or 0) + 1,
        closed_at=at,
        closed_by_id=request.person_id,
        note=request.note,
        cut_off=at,
        digest=digest,
        lines=lines,
        checklist=[asdict(item) for item in items],
        totals=_month_totals(statements),
    )
    StatementLine.objects.bulk_create(
        [StatementLine(close=close, **dict(zip(COLUMNS, row, strict=True))) for row in statements],
        batch_size=2_000,
    )
    keep_digests(close, digests_of_month(close), DigestOrigin.CLOSE, at)
    return close.id


@logged_change()
@transaction.atomic
def reopen_month(*, month: date, reason: str, person_id: int | None, at: datetime) -> None:
    """Let facts change the month again; what was told of it stays readable.

    Corrections of it are taken back where they were posted. Refuses MonthNotClosed and NoOpenMonth.
    """
    lock_month(month)
    reopened = Close.objects.filter(month=month, reopened_at=None).update(
        reopened_at=at, reopened_by_id=person_id, reopen_reason=reason
    )
    if not reopened:
        raise MonthNotClosed(f"{month:%Y-%m} is open")
    take_back_corrections(month=month, at=at)
    if open_twins_of(bills_of_month(month), undecided_twins()):
        # The newer one of each gives way, as in every open month, until somebody decides.
        first_hour = month_span(month, accounts.organisation().zone).starts_at
        mark([Mark(Pass.BILLS, BillUnit.TWINS, first_hour)])


def refuse_open(items: Collection[Item], accepted: Collection[str]) -> None:
    """Refuse MonthNotReady or ItemsNotAccepted where these items, so waived, keep a month open."""
    blocking = [item for item in items if item.is_blocking and item.count]
    if blocking:
        message = "; ".join(f"{item.label.lower()}: {item.count}" for item in blocking)
        raise MonthNotReady(message)
    left = [item for item in items if item.count and item.code not in accepted]
    if left and any(not item.is_blocking for item in left):
        message = ", ".join(f"{item.code} ({item.count})" for item in left)
        raise ItemsNotAccepted(f"waive these, or have them done first: {message}")


def _month_totals(statements: Collection[Row]) -> dict[str, int | None]:
    totals: dict[str, int | None] = {}
    for name in AMOUNTS:
        at = COLUMNS.index(name)
        totals[name] = sum_of_known(row[at] for row in statements)
    return totals
