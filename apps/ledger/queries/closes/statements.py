"""The statements that each team was told of a closed month, and the journal of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated

from django.conf import settings

from apps.economics.split import largest_remainder
from apps.ledger.queries.closes.months import CloseFact
from apps.ledger.queries.tables import rows
from apps.show.entries import Entry, Micros, Milliseconds

MICROS_PER_CENT = 10_000
ACCOUNTS = {
    "node_hour": "GPU compute",
    "commitment_unused": "Unused commitments",
    "owned_unused": "Unused own hardware",
    "shared": "Shared costs",
    "purchase": "Purchases",
    "credit": "Credits",
    "tax": "Taxes",
    "api": "API usage",
    "unmatched": "Billed, not matched",
    "service": "Cloud services",
}
TEAMS = """
SELECT team.id, team.name, team.cost_centre, sum(line.effective_micros)::int8,
       sum(line.billed_micros)::int8,
       sum(line.effective_micros) FILTER (WHERE line.corrects_month IS NOT NULL)::int8,
       sum(line.unit_milliseconds) FILTER (WHERE line.unit = 'gpu')::int8,
       coalesce(sum(line.unpriced_milliseconds), 0)::int8
FROM ledger_statementline AS line JOIN accounts_team_fact AS team ON team.id = line.team_id
WHERE line.close_id = %(close)s AND (%(teams)s::int8[] IS NULL OR line.team_id = ANY(%(teams)s))
GROUP BY team.id, team.name, team.cost_centre
ORDER BY 4 DESC NULLS LAST, 2
"""
LINES = """
SELECT line.kind, coalesce(workload.name, ''), coalesce(pool.name, ''), line.state, line.status,
       line.corrects_month, line.unit, sum(line.unit_milliseconds)::int8,
       sum(line.list_micros)::int8, sum(line.contracted_micros)::int8,
       sum(line.effective_micros)::int8, sum(line.billed_micros)::int8
FROM ledger_statementline AS line
LEFT JOIN workloads_workload_fact AS workload ON workload.id = line.workload_id
LEFT JOIN fleet_pool_fact AS pool ON pool.id = line.pool_id
WHERE line.close_id = %(close)s AND line.team_id = %(team)s
GROUP BY 1, 2, 3, 4, 5, 6, 7
ORDER BY 11 DESC NULLS LAST, 1, 2, 3, 4, 5
"""
JOURNAL = """
SELECT team.cost_centre, team.name, line.kind, sum(line.effective_micros)::int8
FROM ledger_statementline AS line JOIN accounts_team_fact AS team ON team.id = line.team_id
WHERE line.close_id = %(close)s AND line.effective_micros IS NOT NULL
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""


@dataclass(frozen=True, slots=True)
class TeamStatement:
    """The statement of a month for a team; `corrections` is what late facts of other months added."""

    team_id: int
    team_name: str
    cost_centre: str
    effective_micros: Micros | None
    billed_micros: Micros | None
    corrections_micros: Micros | None
    gpu_milliseconds: Milliseconds | None
    unpriced_milliseconds: Milliseconds


@dataclass(frozen=True, slots=True)
class CloseStatement:
    """A team's part of a close."""

    close: CloseFact
    statement: TeamStatement


@dataclass(frozen=True, slots=True)
class StatedLine:
    """A part of a team's statement; empty names where it is of none."""

    kind: str
    workload: str
    pool: str
    state: int | None
    status: str
    corrects_month: date | None
    unit: str
    unit_milliseconds: int
    list_micros: int | None
    contracted_micros: int | None
    effective_micros: int | None
    billed_micros: int | None


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A posting: what a cost centre owes for an account, in whole cents."""

    cost_centre: str
    team: str
    account: str
    gl_code: Annotated[
        str,
        Entry(
            help="the account's code in your own ledger, by RUNRATE_GL_CODES; empty where it has none"
        ),
    ]
    amount: Decimal

    @property
    def debit(self) -> Decimal | None:
        """The amount that the cost centre owes; None where it is given back."""
        return None if self.amount < 0 else self.amount

    @property
    def credit(self) -> Decimal | None:
        """The amount that the cost centre is given back; None where it owes."""
        return -self.amount if self.amount < 0 else None


@dataclass(frozen=True, slots=True)
class CloseJournalEntry:
    """A posting of a close."""

    close: CloseFact
    entry: JournalEntry


def team_statements(close_id: int, team_ids: Collection[int] | None) -> list[TeamStatement]:
    """Every team's (of these; None: all) part of a close, the dearest first."""
    params = {"close": close_id, "teams": None if team_ids is None else list(team_ids)}
    return [TeamStatement(*row) for row in rows(TEAMS, params)]


def stated_lines(close_id: int, team_id: int) -> list[StatedLine]:
    """A team's statement line by line, the dearest first; they sum to it."""
    return [StatedLine(*row) for row in rows(LINES, {"close": close_id, "team": team_id})]


def journal(close_id: int) -> Sequence[JournalEntry]:
    """The effective cost of a close by cost centre, team and account, in cents.

    The entries sum to the close rounded to the cent: what rounding leaves goes to the largest
    remainders, as every split does.
    """
    entry_rows = rows(JOURNAL, {"close": close_id})
    cents = _round_to_cents([micros for *_, micros in entry_rows])
    return [
        JournalEntry(
            cost_centre,
            team,
            ACCOUNTS.get(str(kind), str(kind)),
            settings.GL_CODES.get(str(kind), ""),
            Decimal(amount).scaleb(-2),
        )
        for (cost_centre, team, kind, _), amount in zip(entry_rows, cents, strict=True)
    ]


def _round_to_cents(micros: Sequence[int]) -> list[int]:
    """Each to the cent, debits and credits apart, so that both sums are right."""
    cents = [0] * len(micros)
    for sign in (1, -1):
        places = [place for place, micro in enumerate(micros) if micro * sign > 0]
        if places:
            sizes = [abs(micros[place]) for place in places]
            total = round(Decimal(sum(sizes)) / MICROS_PER_CENT)
            for place, part in zip(places, largest_remainder(total, sizes), strict=True):
                cents[place] = part * sign
    return cents
