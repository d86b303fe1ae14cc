"""Rows that a rule makes a shared cost of: what they bill of a month, over all of its hours."""

from dataclasses import dataclass
from datetime import date

from apps.economics.bases import BilledCosts
from apps.economics.billing import spread
from apps.economics.hours import HOUR
from apps.ledger.queries.bills.parts import filled
from apps.ledger.queries.calendar import month_span
from apps.ledger.queries.tables import Row, copy_in, rows

# They are of their bill's month, or of the earlier one that they are of. Converted and rounded once,
# before the month is divided: its hours sum to what is billed.
SHARED_ROWS = filled("""
WITH summed (kind, reason, label, share_method, month, listed, contracted, effective, billed, rows)
AS (
    SELECT found.kind, found.reason, found.label,
           (SELECT rule.share_method FROM ledger_billrule AS rule WHERE rule.id = found.rule_id),
           date_trunc('month', CASE WHEN row.ends_at > %(month_from)s THEN %(month_from)s
                                    ELSE :its_hour END AT TIME ZONE %(zone)s)::date,
           :row_sums, count(*)
    :matched AND found.charge_kind = 'shared'
    GROUP BY 1, 2, 3, 4, 5
)
SELECT kind, reason, label, share_method, month, rows, :list_micros, :contracted_micros,
       :effective_micros, :billed_micros
FROM summed ORDER BY 1, 2, 3, 4, 5
""")
HOURS_OF_MONTH = """
COPY apart (kind, charge_kind, reason, label, share_method, starts_at, ends_at, rows, listed,
            contracted, effective, billed) FROM STDIN
"""


@dataclass(frozen=True, slots=True)
class SharedRows:
    """Rows of one bill and month that are shared alike; `costs` in the ledger's micro-units."""

    kind: str
    reason: str
    label: str
    share_method: str
    month: date
    rows: int
    costs: BilledCosts


def place_shared_rows(params: dict[str, object], zone: str) -> None:
    """Put each month's amount on its hours, in equal parts; the rows are counted in the first."""
    for kind, reason, label, share_method, month, count, *amounts in rows(
        SHARED_ROWS, params | {"zone": zone}
    ):
        shared = SharedRows(kind, reason, label, share_method, month, count, BilledCosts(*amounts))
        copy_in(HOURS_OF_MONTH, _rows_of_hours(shared, zone))


def _rows_of_hours(shared: SharedRows, zone: str) -> list[Row]:
    span = month_span(shared.month, zone)
    common_fields = (shared.kind, "shared", shared.reason, shared.label, shared.share_method)
    hours = [span.starts_at + place * HOUR for place in range(span.hours)]
    return [
        (*common_fields, hour, hour + HOUR, 0 if place else shared.rows, *part)
        for place, (hour, part) in enumerate(
            zip(hours, spread(shared.costs, [1] * span.hours), strict=True)
        )
    ]
