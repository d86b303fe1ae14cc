"""What stands open before a month is closed."""

from dataclasses import dataclass
from datetime import date, datetime

from apps.accounts import queries as accounts
from apps.economics.states import State
from apps.ledger.queries.calendar import month_span
from apps.ledger.queries.tables import rows


@dataclass(frozen=True, slots=True)
class Item:
    """One question of the checklist: how many, of what amount (None: not in money), what it means.

    A blocking one must be 0; any other may be accepted by whoever closes.
    """

    code: str
    label: str
    count: int
    micros: int | None
    meaning: str
    is_blocking: bool = False


PENDING = """
SELECT count(DISTINCT hour) FROM fleet_changedhour
WHERE pass_id IN (2, 3, 4) AND hour >= %(from)s AND hour < %(to)s
"""
RANGES = """
SELECT count(*) FROM fleet_changedrange WHERE starts_at < %(to)s AND ends_at > %(from)s
"""
PROVISIONAL = """
SELECT count(*), coalesce(sum(effective_micros), 0)::int8 FROM ledger_charge
WHERE posting_month = %(month)s AND status = 'provisional'
"""
UNPRICED = """
SELECT count(*) FROM ledger_charge
WHERE posting_month = %(month)s AND effective_micros IS NULL AND kind = 'node_hour'
  AND corrects_id IS NULL
"""
UNOBSERVED = """
SELECT (coalesce(sum(unit_milliseconds), 0) / 3600000)::int8, coalesce(sum(effective_micros), 0)::int8
FROM ledger_line WHERE posting_month = %(month)s AND state = %(unobserved)s
"""
UNOWNED = """
SELECT count(DISTINCT job_id), coalesce(sum(effective_micros), 0)::int8
FROM ledger_line WHERE posting_month = %(month)s AND team_id = %(unowned)s
"""
UNMATCHED = """
SELECT count(*), coalesce(sum(effective_micros), 0)::int8 FROM ledger_charge
WHERE posting_month = %(month)s AND kind = 'unmatched'
"""
BILLS = """
SELECT count(*) FROM ledger_bill
WHERE reconciled_at IS NULL AND starts_at < %(to)s AND ends_at > %(from)s
"""
UNBILLED = """
SELECT count(*), coalesce(sum(charge.effective_micros), 0)::int8
FROM ledger_charge AS charge
WHERE charge.posting_month = %(month)s AND charge.kind = 'node_hour'
  AND charge.corrects_id IS NULL AND charge.billed_micros IS NULL
"""


def checklist(month: date) -> list[Item]:
    """Every question, also where its answer is 0."""
    zone = accounts.organisation().zone
    span = month_span(month, zone)
    params: dict[str, object] = {
        "month": month,
        "from": span.starts_at,
        "to": span.ends_at,
        "unobserved": int(State.UNOBSERVED),
        "unowned": accounts.special_teams().unowned_id,
    }
    ((pending,),) = rows(PENDING, params)
    ((ranges,),) = rows(RANGES, params)
    ((provisional, provisional_micros),) = rows(PROVISIONAL, params)
    ((unpriced,),) = rows(UNPRICED, params)
    ((unobserved, unobserved_micros),) = rows(UNOBSERVED, params)
    ((unowned, unowned_micros),) = rows(UNOWNED, params)
    ((unmatched, unmatched_micros),) = rows(UNMATCHED, params)
    ((bills,),) = rows(BILLS, params)
    ((unbilled, unbilled_micros),) = rows(UNBILLED, params)
    return [
        Item("pending", "Hours still to be settled", pending + ranges, None,
             "Facts changed; the worker settles them within minutes.", is_blocking=True),
        Item("bills", "Bills still to be reconciled", bills, None,
             "The worker reconciles them; one that cannot be says why.", is_blocking=True),
        Item("provisional", "Provisional charges", provisional, provisional_micros,
             "Hours that ended lately, or a rate of exchange that is not stated yet.",
             is_blocking=True),
        Item("unpriced", "Node-hours without a price", unpriced, None,
             "They are in the statements as time without an amount."),
        Item("unbilled", "Node-hours that no bill names", unbilled, unbilled_micros,
             "Their estimate is final where no bill comes for them."),
        Item("unmatched", "Billed rows of no node", unmatched, unmatched_micros,
             "Platform carries them."),
        Item("unowned", "Jobs nobody owns", unowned, unowned_micros, "The team Unowned carries them."),
        Item("unobserved", "GPU-hours held and not observed", unobserved, unobserved_micros,
             "They are charged to who held them, as unobserved."),
    ]  # fmt: skip


def has_ended(month: date, at: datetime) -> bool:
    """Whether the month's last hour is over."""
    return at >= month_span(month, accounts.organisation().zone).ends_at
