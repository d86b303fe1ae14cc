"""The bases of a cost, and how sure sums of costs are."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from psycopg import sql

from apps.ledger.models import Status
from apps.ledger.queries.calendar import next_month
from apps.ledger.queries.due import open_pending_hours
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window

# Not array_agg(DISTINCT …), which would sort every row of the roll-up.
STATUSES = sql.SQL("array_remove(ARRAY[{}], NULL)").format(
    sql.SQL(", ").join(
        [
            sql.SQL("CASE WHEN bool_or(day.status = {0}) THEN {0} END").format(sql.Literal(word))
            for word in Status.values
        ]
    )
)


LEAST_SURE_FIRST = ("provisional", "estimated", "restated", "reconciled")


def least_sure(statuses: Collection[str]) -> str:
    """The least sure of them; empty without any."""
    return next((word for word in LEAST_SURE_FIRST if word in statuses), "")


class Basis(StrEnum):
    """The cost basis: the amount of a line that is meant."""

    LIST = "list"
    CONTRACTED = "contracted"
    EFFECTIVE = "effective"
    BILLED = "billed"


@dataclass(frozen=True, slots=True)
class SettlementStatus:
    """How sure sums of a window are: settled as far as `as_of`, with hours still to be done; `is_closed`: all its months are."""

    as_of: datetime | None
    pending_hours: int
    is_closed: bool = False


def settlement_status(window: Window, at: datetime) -> SettlementStatus:
    """How far the window is settled, and what still waits in it."""
    ((as_of, closed),) = rows(
        """
        SELECT (SELECT through FROM ledger_settlement
                WHERE hour >= %(from)s AND hour < %(to)s AND superseded_at IS NULL
                ORDER BY hour DESC, through DESC LIMIT 1),
               ARRAY(SELECT month FROM ledger_close WHERE reopened_at IS NULL)
        """,
        {"from": window.starts_at, "to": window.ends_at},
    )
    return SettlementStatus(
        as_of=as_of,
        pending_hours=open_pending_hours(window.starts_at, min(at, window.ends_at), closed),
        is_closed=_months_of(window) <= {*closed},
    )


def _months_of(window: Window) -> set[date]:
    """Those that it has a day of."""
    month, months = window.first_day.replace(day=1), set[date]()
    while month < window.end_day:
        months.add(month)
        month = next_month(month)
    return months
