"""Facts that the spread pass reads: the hour's shared charges, who its lines belong to, what is idle."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from psycopg import sql

from apps.economics.bases import Amounts, BilledCosts
from apps.economics.spread import IdleCost
from apps.economics.states import Flag, State
from apps.fleet import queries as fleet
from apps.ledger.queries.tables import rows
from apps.pricing import queries as pricing
from apps.pricing.queries.shared import weights_of

HELD = [int(State.ACTIVE), int(State.HELD_IDLE), int(State.UNOBSERVED)]
IDLE = [int(State.UNALLOCATED), int(State.STRANDED)]
SPREAD = int(Flag.SHARED | Flag.SHARED_IDLE)


@dataclass(frozen=True, slots=True)
class CostOwnerTotals:
    """The lines of one bearer of a pool in an hour, added up.

    `held_ms` counts only what a job held, of GPUs or of cores, as the pool is measured. The others
    are of GPUs alone: `unit_ms` all, `active_ms` what worked and what was held while nobody looked
    (`unseen_ms` of it); `core_ms` is the time of cores. `unpriced_ms` is what `effective_micros` leaves out.
    """

    pool_id: int | None
    team_id: int
    workload_id: int | None
    job_id: int | None
    holder_key_id: int | None
    unit_ms: int = 0
    held_ms: int = 0
    effective_micros: int = 0
    active_ms: int = 0
    unseen_ms: int = 0
    unpriced_ms: int = 0
    core_ms: int = 0


@dataclass(frozen=True, slots=True)
class SharedCharge:
    """An hour's part of a shared cost and how it is to be spread; `spread_method` is how it was.

    Nothing is billed of what was entered. `weights` are of teams, in millionths, where it is by them.
    """

    id: int
    method: str
    costs: BilledCosts
    weights: Mapping[int, int]
    reason: str
    spread_method: str


@dataclass(frozen=True, slots=True)
class SpreadLine:
    """A line without device time, as it stands or ought to stand.

    What was billed is None of shared-out idle, which moves nothing of it.
    """

    charge_id: int
    pool_id: int | None
    team_id: int
    workload_id: int | None
    job_id: int | None
    holder_key_id: int | None
    flags: int
    costs: BilledCosts


@dataclass(frozen=True, slots=True)
class IdlePool:
    """The idle cost that a pool's owner carries for what nobody held, charge by charge."""

    team_id: int
    costs: tuple[IdleCost, ...]


def bearers_of_hour(hour: datetime) -> list[CostOwnerTotals]:
    """Everyone on the hour's node-hour lines, in a stable order."""
    query = sql.SQL(
        """
        SELECT pool_id, team_id, workload_id, job_id, holder_key_id,
               coalesce(sum(unit_milliseconds) FILTER (WHERE {gpu}), 0)::int8,
               coalesce(sum(unit_milliseconds) FILTER (
                   WHERE state = ANY(%(held)s) AND job_id IS NOT NULL
                     AND flags & %(unscheduled)s = 0), 0)::int8,
               coalesce(sum(effective_micros), 0)::int8,
               coalesce(sum(unit_milliseconds) FILTER (
                   WHERE state IN (%(active)s, %(unseen)s) AND {gpu}), 0)::int8,
               coalesce(sum(unit_milliseconds) FILTER (
                   WHERE state = %(unseen)s AND {gpu}), 0)::int8,
               coalesce(sum(unit_milliseconds) FILTER (WHERE effective_micros IS NULL), 0)::int8,
               coalesce(sum(unit_milliseconds) FILTER (WHERE NOT {gpu}), 0)::int8
        FROM ledger_line
        WHERE hour = %(hour)s AND settlement_id IS NOT NULL
        GROUP BY 1, 2, 3, 4, 5
        ORDER BY 1, 2, 3 NULLS FIRST, 4 NULLS FIRST, 5 NULLS FIRST
        """
    ).format(gpu=sql.SQL("pool_id <> ALL(%(core_pools)s::int8[])"))
    bearer_rows = rows(
        query,
        {
            "hour": hour,
            "core_pools": fleet.core_pool_ids(),
            "held": HELD,
            "unscheduled": int(Flag.UNSCHEDULED),
            "active": int(State.ACTIVE),
            "unseen": int(State.UNOBSERVED),
        },
    )
    return [CostOwnerTotals(*row) for row in bearer_rows]


def shared_charges_of_hour(hour: datetime, ends_at: datetime) -> list[SharedCharge]:
    """The charges to spread, each by the method of its cost, or of the rule that shares its rows."""
    methods = {cost.id: cost.method for cost in pricing.shared_costs(hour, ends_at)}
    by_weight = [cost_id for cost_id, method in methods.items() if method == "weighted"]
    weights = weights_of(by_weight) if by_weight else {}
    charge_rows = rows(
        """
        SELECT charge.id, charge.reason, charge.spread_method, charge.shared_cost_id,
               billed.share_method, charge.list_micros, charge.contracted_micros,
               charge.effective_micros, charge.billed_micros
        FROM ledger_charge AS charge
        LEFT JOIN ledger_billedcharge AS billed ON billed.id = charge.billed_charge_id
        WHERE charge.hour = %(hour)s AND charge.kind = 'shared' AND charge.corrects_id IS NULL
          AND (charge.effective_micros IS NOT NULL OR charge.billed_micros IS NOT NULL)
        ORDER BY charge.id
        """,
        {"hour": hour},
    )
    return [
        SharedCharge(
            id=charge_id,
            method=methods.get(cost_id) or by_rule or "by_cost",
            costs=BilledCosts(*costs),
            weights=weights.get(cost_id, {}),
            reason=reason,
            spread_method=spread_method,
        )
        for charge_id, reason, spread_method, cost_id, by_rule, *costs in charge_rows
    ]


def idle_of_hour(hour: datetime, pool_ids: Collection[int]) -> dict[int, IdlePool]:
    """Return the idle cost of these pools, for what nobody held, where it has a price."""
    pool_rows = rows(
        """
        SELECT pool_id, team_id, charge_id, sum(unit_milliseconds)::int8, sum(list_micros)::int8,
               sum(contracted_micros)::int8, sum(effective_micros)::int8
        FROM ledger_line
        WHERE hour = %(hour)s AND settlement_id IS NOT NULL AND pool_id = ANY(%(pools)s)
          AND state = ANY(%(idle)s) AND effective_micros IS NOT NULL
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        """,
        {"hour": hour, "pools": list(pool_ids), "idle": IDLE},
    )
    costs: dict[int, list[IdleCost]] = {}
    teams: dict[int, int] = {}
    for pool_id, team_id, charge_id, idle_ms, *amounts in pool_rows:
        teams[pool_id] = team_id
        costs.setdefault(pool_id, []).append(IdleCost(charge_id, idle_ms, Amounts(*amounts)))
    return {pool_id: IdlePool(teams[pool_id], tuple(of_pool)) for pool_id, of_pool in costs.items()}


def spread_lines_of_hour(hour: datetime) -> set[SpreadLine]:
    """The lines that the spread pass wrote before; those of corrections are not its own."""
    line_rows = rows(
        """
        SELECT line.charge_id, line.pool_id, line.team_id, line.workload_id, line.job_id,
               line.holder_key_id, line.flags, line.list_micros, line.contracted_micros,
               line.effective_micros,
               CASE WHEN line.flags & %(shared)s <> 0 THEN line.billed_micros END
        FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
        WHERE line.hour = %(hour)s AND line.settlement_id IS NULL AND line.flags & %(spread)s <> 0
          AND charge.corrects_id IS NULL
        """,
        {"hour": hour, "spread": SPREAD, "shared": int(Flag.SHARED)},
    )
    return {
        SpreadLine(charge, pool, team, workload, job, key, flags, BilledCosts(*costs))
        for charge, pool, team, workload, job, key, flags, *costs in line_rows
    }
