"""One bill reconciled: its rows matched, spread over node-hours, converted once, and compared."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts import queries as accounts
from apps.economics.billing import BillMatch, match
from apps.economics.hours import first_hour
from apps.ledger.actions.month_digests import RECONCILED, TOLD_AGAIN, rewriting_bills
from apps.ledger.actions.reconcile import statements as sql
from apps.ledger.actions.reconcile.long_rows import place_long_rows
from apps.ledger.actions.reconcile.node_terms import record_bill_terms
from apps.ledger.actions.reconcile.shared_rows import place_shared_rows
from apps.ledger.models import Bill
from apps.ledger.queries.bills.matching import nodes_of_rules, places, rules, traits_of
from apps.ledger.queries.calendar import main_month
from apps.ledger.queries.commitments_of_hour import hours_billed_differently
from apps.ledger.queries.conversion import conversion
from apps.ledger.queries.tables import rows, run
from apps.logs.changes import answered, field_of, logged_change, logged_pass
from apps.marks.actions import ORGANISATION, Mark, mark
from apps.marks.queries import Pass
from apps.pricing.queries.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The changes that reconciling a bill made."""

    bill_id: int
    node_hours: int
    charges: int
    hours_changed: int


def bills_due() -> list[int]:
    """The bills that changed since they were reconciled, the oldest change first."""
    due = Bill.objects.filter(reconciled_at=None).order_by("changed_at", "id")
    return list(due.values_list("id", flat=True))


@logged_change(count=answered)
@transaction.atomic
def reconcile_again(*, bills: QuerySet[Bill], at: datetime) -> int:
    """Have these bills reconciled anew; how many they are."""
    locked_bills = bills.select_for_update().order_by("id")
    ids = list(locked_bills.values_list("id", flat=True))
    with rewriting_bills(ids, TOLD_AGAIN):
        return Bill.objects.filter(id__in=ids).update(changed_at=at, reconciled_at=None)


@logged_change()
@transaction.atomic
def note_failure(*, bill_id: int, failure: str) -> None:
    """Say why a bill still waits."""
    failing_bills = Bill.objects.select_for_update().filter(id=bill_id).exclude(failure=failure)
    if failing_bills.exists():
        with rewriting_bills([bill_id], TOLD_AGAIN):
            failing_bills.update(failure=failure)


@logged_pass("reconcile", count=field_of("hours_changed"))
@transaction.atomic
def reconcile_bill(*, bill_id: int, at: datetime) -> Reconciled:
    """Say anew what a bill's rows pay for, and mark the hours of which the charges change.

    Those of a closed month keep their marks, as all that comes late for it. Refuses
    RateOfExchangeMissing. Doing it again changes nothing.
    """
    bill = Bill.objects.select_for_update().get(id=bill_id)
    with rewriting_bills([bill_id], RECONCILED):
        return _reconcile(bill, at)


def _reconcile(bill: Bill, at: datetime) -> Reconciled:
    organisation = accounts.organisation()
    month = main_month(bill.starts_at, bill.ends_at, organisation.zone)
    rate = conversion(currency=bill.currency, to=organisation.currency, month=month)
    traits = traits_of([bill])[bill.id]
    # Before the teams are read: one that comes meanwhile is looked for again.
    ((bill.last_team_id,),) = rows(sql.LAST_TEAM, {})
    by = rules()
    of = places(bill.starts_at, bill.ends_at, nodes_of_rules(by))
    _keep_matches(bill, {digest: match(trait, by, of) for digest, trait in traits.items()})
    record_bill_terms(bill, at)
    params = _bill_params(bill, rate, first_hour(month, organisation.zone))
    for statement in sql.PLACE_SHORT_ROWS:
        run(statement, params)
    place_long_rows(bill)
    place_shared_rows(params, organisation.zone)
    run(sql.GATHER_CHARGES, params)
    run(sql.GATHER_BESIDE, params)
    hours = _changed_hours(params)
    mark(Mark(Pass.CHARGE, ORGANISATION, hour) for hour in hours)
    ((node_hours, charges, residual),) = rows(sql.SUMS, params)
    bill.residual, bill.reconciled_at, bill.failure = residual, at, ""
    ((bill.long_from, bill.long_until),) = rows(sql.LONG_SPAN, params)
    bill.save(
        update_fields=[
            "residual",
            "reconciled_at",
            "failure",
            "long_from",
            "long_until",
            "last_team_id",
        ]
    )
    # What a bill tells of commitments takes the place of ours, also where no node's charge moves.
    moved_hours = hours_billed_differently(bill.starts_at, min(bill.ends_at, at))
    mark(Mark(Pass.CHARGE, ORGANISATION, hour) for hour in moved_hours)
    return Reconciled(bill.id, node_hours, charges, len(hours))


def _bill_params(bill: Bill, rate: Exchange, month_from: datetime) -> dict[str, object]:
    return {
        "bill": bill.id,
        "bills": [bill.id],
        "numerator": rate.rate.numerator,
        "denominator": rate.rate.denominator,
        "provisional": not rate.is_stated,
        "rounded": bill.is_rounded_upstream,
        "month_from": month_from,
    }


def _keep_matches(bill: Bill, matches: Mapping[bytes, BillMatch]) -> None:
    run("DELETE FROM ledger_billedmatch WHERE bill_id = %(bill)s", {"bill": bill.id})
    columns = [_match_columns(digest, match_) for digest, match_ in matches.items()]
    # As JSON: texts of a bill may hold anything.
    matches_json = json.dumps(columns)
    run(sql.KEEP_MATCHES, {"bill": bill.id, "matches": matches_json})
    # Planned on what is not there yet, a million rows would be compared with every match.
    run("ANALYZE ledger_billedmatch", {})


def _match_columns(digest: bytes, bill_match: BillMatch) -> dict[str, object]:
    columns = {
        "traits": digest.hex(),
        "charge_kind": str(bill_match.becomes),
        "matched_by": bill_match.by,
    }
    return asdict(bill_match) | columns


def _changed_hours(params: Mapping[str, object]) -> Sequence[datetime]:
    changed: set[datetime] = set()
    for statement in (*sql.EXCHANGE_HOURS, *sql.EXCHANGE_CHARGES):
        changed |= {hour for (hour,) in rows(statement, params)}
    return sorted(changed)
