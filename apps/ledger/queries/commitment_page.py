"""Whom one commitment covered, and which hours of it nobody used."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import LiteralString

from apps.ledger.queries.tables import rows

# A node-hour that several commitments cover is one charge: each has its part of it, of the time by
# time and of the money by money.
COVERED: LiteralString = """
WITH part AS (
    SELECT charge.id, charge.pool_id,
           sum(piece.end_ms - piece.start_ms) FILTER (WHERE piece.commitment_id = %(id)s)
               / sum(piece.end_ms - piece.start_ms)::numeric AS of_time,
           CASE WHEN sum(piece.effective_micros) = 0 THEN 0
                ELSE sum(piece.effective_micros) FILTER (WHERE piece.commitment_id = %(id)s)
                     / sum(piece.effective_micros)::numeric END AS of_cost,
           CASE WHEN sum(piece.contracted_micros) = 0 THEN 0
                ELSE sum(piece.contracted_micros) FILTER (WHERE piece.commitment_id = %(id)s)
                     / sum(piece.contracted_micros)::numeric END AS of_worth
    FROM ledger_charge AS charge
    JOIN ledger_chargepiece AS piece ON piece.charge_id = charge.id
    WHERE charge.kind = 'node_hour' AND charge.corrects_id IS NULL
      AND charge.hour >= %(starts_at)s AND charge.hour < %(ends_at)s
    GROUP BY charge.id, charge.pool_id
    HAVING bool_or(piece.commitment_id = %(id)s)
)
SELECT part.pool_id, line.team_id,
       round(sum(line.unit_milliseconds * part.of_time))::int8,
       CASE WHEN count(line.contracted_micros) = count(*)
            THEN round(sum(line.contracted_micros * part.of_worth))::int8 END,
       CASE WHEN count(line.effective_micros) = count(*)
            THEN round(sum(line.effective_micros * part.of_cost))::int8 END
FROM part JOIN ledger_line AS line ON line.charge_id = part.id
WHERE line.posting_month >= %(first)s AND line.posting_month <= %(last)s
GROUP BY 1, 2 ORDER BY 1, 2
"""
HOURS: LiteralString = """
SELECT charge.hour, charge.through, line.team_id, charge.effective_micros, charge.status,
       charge.reason
FROM ledger_charge AS charge
JOIN ledger_line AS line ON line.charge_id = charge.id AND line.posting_month = charge.posting_month
LEFT JOIN ledger_billedcharge AS billed ON billed.id = charge.billed_charge_id
WHERE charge.kind = 'commitment_unused' AND charge.corrects_id IS NULL
  AND (charge.commitment_id = %(id)s OR billed.label = %(external_id)s AND %(external_id)s <> '')
  AND charge.hour >= %(starts_at)s AND charge.hour < %(ends_at)s
ORDER BY charge.hour, charge.id
"""
STATUSES: LiteralString = """
SELECT DISTINCT status FROM ledger_charge
WHERE kind = 'commitment_unused' AND hour >= %(starts_at)s AND hour < %(ends_at)s
"""


@dataclass(frozen=True, slots=True)
class CoveredTeam:
    """The part of one team in one pool that a commitment covered; money None where it is not known."""

    pool_id: int
    team_id: int
    unit_milliseconds: int
    on_demand_micros: int | None
    cost_micros: int | None


@dataclass(frozen=True, slots=True)
class UnusedHour:
    """The part of a commitment that nobody used in an hour, or as long as a bill says, and whose that is."""

    starts_at: datetime
    through: datetime
    team_id: int
    micros: int | None
    status: str
    reason: str


def covered_teams(
    commitment_id: int, starts_at: datetime, ends_at: datetime, months: tuple[date, date]
) -> list[CoveredTeam]:
    """By pool and team; `months` are the first and the last in which the span is posted."""
    params: dict[str, object] = {
        "id": commitment_id,
        "starts_at": starts_at,
        "ends_at": ends_at,
        "first": months[0],
        "last": months[1],
    }
    return [CoveredTeam(*row) for row in rows(COVERED, params)]


def unused_hours(
    commitment_id: int, external_id: str, starts_at: datetime, ends_at: datetime
) -> list[UnusedHour]:
    """In order of time."""
    params: dict[str, object] = {
        "id": commitment_id,
        "external_id": external_id,
        "starts_at": starts_at,
        "ends_at": ends_at,
    }
    return [UnusedHour(*row) for row in rows(HOURS, params)]


def worst_status(starts_at: datetime, ends_at: datetime) -> str:
    """How sure the least sure of the amounts is."""
    statuses = {
        status for (status,) in rows(STATUSES, {"starts_at": starts_at, "ends_at": ends_at})
    }
    order = ("provisional", "estimated", "restated", "reconciled")
    return next((status for status in order if status in statuses), "estimated")
