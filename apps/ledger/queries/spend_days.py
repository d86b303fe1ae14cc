"""Spend day by day, as it is watched, and what days are made of: effective cost as charged, idle not moved."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date
from typing import LiteralString, NamedTuple

from apps.economics.states import Flag, State
from apps.economics.variance import CapacityCell
from apps.fleet import queries as fleet
from apps.ledger.models import ChargeKind, Status
from apps.ledger.queries.capacity_cells import capacity_cell
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window

BY_TEAM, BY_WORKLOAD, BY_POOL, BY_CHARGE = "team", "workload", "pool", "charge"
NODE_HOUR = str(ChargeKind.NODE_HOUR)
OF_COMMITMENTS = frozenset({str(ChargeKind.COMMITMENT_UNUSED), str(ChargeKind.PURCHASE)})
MOST_UNPRICED = 0.05
"""Of a day's time: above it what the day cost is not known."""
USEFUL = [int(State.ACTIVE), int(State.UNOBSERVED)]


@dataclass(slots=True)
class SpendDays:
    """Micro-units by day (its ordinal) of one key; `unknown` days have too much time without a price, or are not settled."""

    micros: dict[int, int] = field(default_factory=dict)
    unknown: set[int] = field(default_factory=set)

    def add(self, other: "SpendDays") -> None:
        """Take in what another key spent."""
        for day, amount in other.micros.items():
            self.micros[day] = self.micros.get(day, 0) + amount
        self.unknown |= other.unknown


class SpendCell(NamedTuple):
    """The key of a sum of spend. `kind` is of charges; `charge` names one without GPU time, '' where lines do not tell.

    `capacity` is what of it has one rate, of time that machines were paid for; None of charges.
    """

    team_id: int | None
    workload_id: int | None
    pool_id: int | None
    kind: str
    charge: str = ""
    capacity: CapacityCell | None = None


class SpendSum(NamedTuple):
    """Micro-units as paid and before commitments, milliseconds with a price, and those of which work is not denied."""

    micros: float
    rated: float
    milliseconds: float
    useful: float

    def plus(self, other: "SpendSum", weight: float = 1.0) -> "SpendSum":
        """With so much of another."""
        return SpendSum(*(amount + weight * more for amount, more in zip(self, other, strict=True)))


NO_SPEND = SpendSum(0.0, 0.0, 0.0, 0.0)
DayCells = dict[int, dict[SpendCell, SpendSum]]


def spend_by_day(window: Window, by: str) -> dict[int | str, SpendDays]:
    """Each team's own, workload's, pool's or charge's days; what belongs to none of them is not there."""
    if by == BY_CHARGE:
        day_rows = rows(CHARGES, _charge_params(window))
    else:
        day_rows = rows(DAYS_BY[by], _params(window.first_day, window.end_day))
    spent: dict[int | str, SpendDays] = {}
    for key, day, micros, is_provisional, unpriced, unit in day_rows:
        days = spent.setdefault(key, SpendDays())
        place = day.toordinal()
        days.micros[place] = micros
        if is_provisional or unpriced > MOST_UNPRICED * unit:
            days.unknown.add(place)
    return spent


def spend_by_week(window: Window, by: str) -> dict[int | str, SpendDays]:
    """Return the spend by the whole week, counted back from the window's last: its last seven days are week 0. Not of charges."""
    week_rows = rows(WEEKS_BY[by], _params(window.first_day, window.end_day))
    spent: dict[int | str, SpendDays] = {}
    for key, week, micros, is_provisional, unpriced, unit in week_rows:
        weeks = spent.setdefault(key, SpendDays())
        weeks.micros[week] = micros
        if is_provisional or unpriced > MOST_UNPRICED * unit:
            weeks.unknown.add(week)
    return spent


def cells_of_days(
    days: Collection[date],
    *,
    team_ids: Collection[int] | None = None,
    workload_id: int | None = None,
    pool_id: int | None = None,
) -> DayCells:
    """Return the cells that these days are made of, by ordinal: of all, of these teams, of a workload, or of a pool."""
    params = _params(min(days), max(days)) | {
        "days": sorted(days),
        "teams": None if team_ids is None else sorted(team_ids),
        "workload": workload_id,
        "pool": pool_id,
        "useful": USEFUL,
    }
    cells_by_day: DayCells = {}
    pools = fleet.pools()
    for day, team, workload, pool, kind, model, option, is_core, *sums in rows(CELLS, params):
        is_time = kind == NODE_HOUR
        capacity = capacity_cell(pools, pool, (model, option), is_core=is_core) if is_time else None
        cell = SpendCell(team, workload, pool, kind, capacity=capacity)
        of_day = cells_by_day.setdefault(day.toordinal(), {})
        of_day[cell] = of_day.get(cell, NO_SPEND).plus(SpendSum(*map(float, sums)))
    return cells_by_day


def charge_cells_of_days(window: Window, days: Collection[date], charge: str) -> DayCells:
    """Return the cells of these days of a charge; its team and workload where it is of calls to a model API."""
    wanted = {day.toordinal() for day in days}
    cells_by_day: DayCells = {}
    for day, team, workload, kind, micros in rows(
        CHARGE_CELLS, _charge_params(window) | {"key": charge}
    ):
        if day.toordinal() in wanted:
            cell = SpendCell(team, workload, None, kind, charge)
            cells_by_day.setdefault(day.toordinal(), {})[cell] = SpendSum(
                float(micros), 0.0, 0.0, 0.0
            )
    return cells_by_day


def users_of_days(
    days: Collection[date],
    *,
    team_ids: Collection[int] | None = None,
    workload_id: int | None = None,
    pool_id: int | None = None,
) -> dict[int, dict[str, int]]:
    """Return the spend of these days, by ordinal and by whose jobs it was, in micro-units; '' of no job, or where nobody is named."""
    params = _params(min(days), max(days)) | {
        "days": sorted(days),
        "teams": None if team_ids is None else sorted(team_ids),
        "workload": workload_id,
        "pool": pool_id,
    }
    micros_by_day: dict[int, dict[str, int]] = {}
    for day, user, micros in rows(USERS, params):
        micros_by_day.setdefault(day.toordinal(), {})[user] = micros
    return micros_by_day


def last_settled_day(window: Window) -> date | None:
    """The last day of it with costs, of which no hour waits to be settled; None where there is none."""
    ((last,),) = rows(LAST_SETTLED, _params(window.first_day, window.end_day))
    last_day: date | None = last
    return last_day


def _params(first: date, end: date) -> dict[str, object]:
    return {
        "first": first,
        "end": end,
        "moved": int(Flag.SHARED_IDLE),
        "provisional": str(Status.PROVISIONAL),
    }


def _charge_params(window: Window) -> dict[str, object]:
    return {
        "from": window.starts_at,
        "to": window.ends_at,
        "zone": window.zone,
        "provisional": str(Status.PROVISIONAL),
        "node_hour": NODE_HOUR,
    }


_SPENT_BY: LiteralString = """
SELECT :key, :when, coalesce(sum(effective_micros), 0)::int8, bool_or(status = %(provisional)s),
       sum(unpriced_milliseconds)::int8, sum(unit_milliseconds)::int8
FROM :table WHERE day >= %(first)s AND day < %(end)s AND flags & %(moved)s = 0 AND :key IS NOT NULL
GROUP BY 1, 2
"""
_SPENT: dict[str, LiteralString] = {
    BY_TEAM: _SPENT_BY.replace(":key", "team_id").replace(":table", "ledger_ledgerteamday"),
    BY_WORKLOAD: _SPENT_BY.replace(":key", "workload_id").replace(":table", "ledger_ledgerday"),
    BY_POOL: _SPENT_BY.replace(":key", "pool_id").replace(":table", "ledger_ledgerpoolday"),
}
DAYS_BY = {by: spent.replace(":when", "day") for by, spent in _SPENT.items()}
WEEKS_BY = {by: spent.replace(":when", "(%(end)s - 1 - day) / 7") for by, spent in _SPENT.items()}
CELLS: LiteralString = """
SELECT day, team_id, workload_id, pool_id, kind, gpu_model, purchase_option, unit = 'core',
       coalesce(sum(effective_micros), 0)::int8,
       coalesce(sum(coalesce(contracted_micros, effective_micros))
           FILTER (WHERE effective_micros IS NOT NULL), 0)::int8,
       coalesce(sum(unit_milliseconds) FILTER (WHERE effective_micros IS NOT NULL), 0)::int8,
       coalesce(sum(unit_milliseconds) FILTER (WHERE effective_micros IS NOT NULL
           AND state = ANY(%(useful)s)), 0)::int8
FROM ledger_ledgerday
WHERE day = ANY(%(days)s) AND flags & %(moved)s = 0
  AND (%(teams)s::int8[] IS NULL OR team_id = ANY(%(teams)s))
  AND (%(workload)s::int8 IS NULL OR workload_id = %(workload)s)
  AND (%(pool)s::int8 IS NULL OR pool_id = %(pool)s)
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
"""
USERS: LiteralString = """
SELECT day, CASE WHEN is_of_job THEN user_name ELSE '' END, coalesce(sum(effective_micros), 0)::int8
FROM ledger_ledgeruserday
WHERE day = ANY(%(days)s) AND flags & %(moved)s = 0
  AND (%(teams)s::int8[] IS NULL OR team_id = ANY(%(teams)s))
  AND (%(workload)s::int8 IS NULL OR workload_id = %(workload)s)
  AND (%(pool)s::int8 IS NULL OR pool_id = %(pool)s)
GROUP BY 1, 2
"""
LAST_SETTLED: LiteralString = """
SELECT max(day) FROM (
    SELECT day FROM ledger_ledgerteamday WHERE day >= %(first)s AND day < %(end)s
    GROUP BY day HAVING NOT bool_or(status = %(provisional)s)
) AS settled
"""
# A charge is known by its kind, whose it is of (a provider and account, or a vendor), and what it is for;
# a correction by what it corrects.
_CHARGE: LiteralString = """
FROM ledger_charge AS charge
JOIN ledger_charge AS original ON original.id = coalesce(charge.corrects_id, charge.id)
LEFT JOIN ledger_billedcharge AS billed ON billed.id = original.billed_charge_id
LEFT JOIN ledger_bill AS bill ON bill.id = billed.bill_id
LEFT JOIN ledger_apiitem AS item ON item.id = original.api_item_id
LEFT JOIN pricing_sharedcost_fact AS cost ON cost.id = original.shared_cost_id
CROSS JOIN LATERAL (SELECT concat_ws('|', charge.kind, coalesce(item.vendor, bill.provider, ''),
    coalesce(bill.account, ''), coalesce(item.model, nullif(billed.label, ''), cost.name, ''))
    AS name) AS called
WHERE charge.hour >= %(from)s AND charge.hour < %(to)s AND charge.kind <> %(node_hour)s
"""
CHARGES: LiteralString = (
    """
SELECT called.name, (charge.hour AT TIME ZONE %(zone)s)::date,
       coalesce(sum(charge.effective_micros), 0)::int8, bool_or(charge.status = %(provisional)s),
       0::int8, 1::int8
"""
    + _CHARGE
    + "GROUP BY 1, 2"
)
CHARGE_CELLS: LiteralString = (
    """
SELECT (charge.hour AT TIME ZONE %(zone)s)::date, item.team_id, item.workload_id, charge.kind,
       coalesce(sum(charge.effective_micros), 0)::int8
"""
    + _CHARGE
    + "AND called.name = %(key)s GROUP BY 1, 2, 3, 4"
)
