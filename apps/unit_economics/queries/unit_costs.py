"""The cost of a thousand requests and of a million tokens of services, by service, feature and time."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import Any, LiteralString

from psycopg import sql

from apps.economics.money import sum_of_known
from apps.economics.serving import (
    SERVICE_KINDS,
    THOUSAND,
    Purpose,
    ReportedTokens,
    UnitCosts,
    Worked,
    per,
    summed,
    unit_costs,
    used_part,
)
from apps.economics.states import Flag, State
from apps.ledger.queries.costs import Basis
from apps.ledger.queries.kinds import Status
from apps.ledger.queries.tables import Row, rows
from apps.ledger.queries.windows import Window
from apps.unit_economics.queries.service_measures import AMOUNTS, Load, measure_of
from apps.workloads import queries as workloads

GROUPS: dict[str, LiteralString] = {
    "service": "told.workload_id",
    "team": "owner.team_id",
    "feature": "told.feature",
    "day": "told.day",
    "week": "date_trunc('week', told.day)::date",
    "month": "date_trunc('month', told.day)::date",
}
"""What unit costs may be grouped by; a week is named by its Monday, a month by its first day."""


SUMMED = (
    *("untold_ms", "measured_ms", "unit_milliseconds", "unpriced_milliseconds"),
    *("held_milliseconds", "observed_milliseconds", "costless_requests"),
)


class UnknownUnitGroup(ValueError):
    """Unit costs cannot be grouped by that."""


class AllocationBasis(StrEnum):
    """Whether a service's units carry all that it held, or only what was active of it."""

    ALLOCATION = "allocation"
    USAGE = "usage"


@dataclass(frozen=True, slots=True)
class UnitFilter:
    """A filter of services' costs: all where a set is None; on which basis, with what, and how."""

    window: Window
    basis: Basis = Basis.EFFECTIVE
    load: Load = Load.LOADED
    allocation: AllocationBasis = AllocationBasis.ALLOCATION
    team_ids: frozenset[int] | None = None
    workload_ids: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class PartAmounts:
    """The parts of a cost by what it was for; they sum to it. None: nothing of it is known, or there is none."""

    answered: int | None
    idle: int | None
    unattributed: int | None
    uncounted: int | None

    @property
    def total(self) -> int | None:
        """All of them."""
        return sum_of_known((self.answered, self.idle, self.unattributed, self.uncounted))

    @property
    def counted(self) -> int | None:
        """All but hours in which nobody counted."""
        return sum_of_known((self.answered, self.idle, self.unattributed))


@dataclass(frozen=True, slots=True)
class UnitCost:
    """The cost of a group's units; `keys` are its values in the order of `group_by`.

    `micros` is what the units are charged: the counted parts, all of them or what was active
    (usage). `units` has what a thousand requests (those that succeeded; all of them where nobody
    tells) and a million tokens come to; undefined without any. `purpose` tells the rows of a
    feature from the idle, unattributed and uncounted ones, where it is grouped by feature.
    `costless_requests` were answered in hours in which the service has no cost (0 by feature).
    """

    keys: tuple[Any, ...]
    purpose: Purpose | None
    parts: PartAmounts
    micros: int | None
    told: ReportedTokens
    worked: Worked
    untold_ms: int
    measured_ms: int
    unit_milliseconds: int
    unpriced_milliseconds: int
    held_milliseconds: int
    observed_milliseconds: int
    statuses: frozenset[str]
    costless_requests: int

    @property
    def answered_requests(self) -> int | None:
        """Those that succeeded; all of them where nobody tells which did."""
        return self.told.requests if self.told.succeeded is None else self.told.succeeded

    @property
    def units(self) -> UnitCosts:
        """For a thousand requests and a million tokens, in micro-units."""
        thousand = per(THOUSAND, self.micros, self.answered_requests)
        of_tokens = unit_costs(self._of_tokens, None, self.told, self.worked)
        return of_tokens._replace(thousand_requests=thousand)

    @property
    def counted_ratio(self) -> float | None:
        """The part of its cost in hours in which somebody counted."""
        total, counted = self.parts.total, self.parts.counted
        return (counted or 0) / total if total else None

    @property
    def coverage(self) -> float | None:
        """The part of its held device time that was observed."""
        return (
            self.observed_milliseconds / self.held_milliseconds if self.held_milliseconds else None
        )

    @property
    def decode_ratio(self) -> float | None:
        """The part of its work that was writing answers."""
        total_ms = sum(self.worked)
        return self.worked.output / total_ms if total_ms else None

    @property
    def _of_tokens(self) -> int | None:
        """Return the charge of its tokens: without the hours that counted requests alone."""
        worked_ms = sum(self.worked)
        if self.micros is None or not worked_ms:
            return None
        return round(Fraction(self.micros) * worked_ms / (worked_ms + self.untold_ms))


def unit_cost_groups(chosen: UnitFilter, group_by: Sequence[str] = ()) -> list[UnitCost]:
    """Unit costs by group, ordered by the groups' values; refuses UnknownUnitGroup.

    Without any group, one of all services (none where there is no cost). By feature, the rows of a
    service sum to what it cost: those of its features, and after them the parts that no feature has.
    """
    for name in group_by:
        if name not in GROUPS:
            raise UnknownUnitGroup(f"group_by: {name!r} is none of {', '.join(GROUPS)}")
    owners = _owners_of_services(chosen)
    params: dict[str, object] = {
        "first_day": chosen.window.first_day,
        "end_day": chosen.window.end_day,
        "measure": measure_of(chosen.basis, chosen.load),
        "of": list(owners),
        "teams": list(owners.values()),
    }
    if "feature" in group_by:
        cost_rows = _by_feature(chosen, group_by, params)
    else:
        cost_rows = _by_service(group_by, params)
    is_used = chosen.allocation is AllocationBasis.USAGE
    costs = [_unit_cost(row, len(group_by), is_used=is_used) for row in cost_rows]
    return sorted(costs, key=partial(_place_of_cost, group_by)) if "feature" in group_by else costs


def together(costs: Sequence[UnitCost]) -> UnitCost | None:
    """The sum of groups that are not by feature, as one without keys; None without any."""
    if not costs:
        return None
    parts = [cost.parts for cost in costs]
    # What nobody counted says nothing of what others did: it is a cost of its own, not a gap.
    token_sums = summed(cost.told for cost in costs if cost.told != ReportedTokens())
    tokens = {
        name: sum_of_known(getattr(cost.told, name) for cost in costs)
        for name in ("prompt_tokens", "cached_tokens", "output_tokens")
    }
    return UnitCost(
        keys=(),
        purpose=None,
        parts=PartAmounts(
            *(sum_of_known(getattr(part, name) for part in parts) for name in PartAmounts.__slots__)
        ),
        micros=sum_of_known(cost.micros for cost in costs),
        told=token_sums._replace(**tokens),
        worked=Worked(*map(sum, zip(*(cost.worked for cost in costs), strict=True))),
        statuses=frozenset().union(*(cost.statuses for cost in costs)),
        **{name: sum(getattr(cost, name) for cost in costs) for name in SUMMED},
    )


def _owners_of_services(chosen: UnitFilter) -> dict[int, int]:
    """The team of each service that is meant."""
    return {
        workload.id: workload.team_id
        for workload in workloads.workloads().values()
        if workload.kind in SERVICE_KINDS
        and (chosen.workload_ids is None or workload.id in chosen.workload_ids)
        and (chosen.team_ids is None or workload.team_id in chosen.team_ids)
    }


def _by_service(group_by: Sequence[str], params: dict[str, object]) -> list[Row]:
    keys, grouped = _key_columns(group_by, ())
    return rows(sql.SQL(TOTALS).format(keys=keys, grouped=grouped), params)


def _by_feature(
    chosen: UnitFilter, group_by: Sequence[str], params: dict[str, object]
) -> list[Row]:
    keys, grouped = _key_columns(group_by, ("told.part",))
    amount = sql.SQL(AMOUNTS[measure_of(chosen.basis, chosen.load)])
    params |= {
        "active": int(State.ACTIVE),
        "held": [int(State.ACTIVE), int(State.HELD_IDLE), int(State.UNOBSERVED)],
        "unobserved": int(State.UNOBSERVED),
        "not_held": int(Flag.UNSCHEDULED | Flag.UNCLAIMED),
        "shared_idle": int(Flag.SHARED_IDLE),
        "words": list(Status.values),
    }
    query = sql.SQL(FEATURES).format(
        keys=keys,
        grouped=grouped,
        amount=amount,
        both=_joined_keys(len(group_by) + 1),
        part=_key_column(len(group_by)),
    )
    return rows(query, params)


def _key_columns(
    group_by: Sequence[str], more: Sequence[LiteralString]
) -> tuple[sql.Composable, sql.Composable]:
    """The keys of a SELECT, each with its comma, and what groups by them."""
    names = [*(GROUPS[name] for name in group_by), *more]
    keys = [
        sql.SQL("{} AS {}, ").format(sql.SQL(name), _key_column(n)) for n, name in enumerate(names)
    ]
    numbers = sql.SQL(", ").join([sql.Literal(n + 1) for n in range(len(names))])
    grouped = (
        sql.SQL("GROUP BY {0} ORDER BY {0}").format(numbers)
        if names
        else sql.SQL("HAVING count(*) > 0")
    )
    return sql.SQL("").join(keys), grouped


def _place_of_cost(group_by: Sequence[str], cost: UnitCost) -> tuple[Any, ...]:
    """Where a row stands: what no feature has comes after the features."""
    return tuple(
        (cost.purpose, key) if name == "feature" else key
        for name, key in zip(group_by, cost.keys, strict=True)
    )


def _key_column(place: int) -> sql.Identifier:
    return sql.Identifier(f"key_{place}")


def _joined_keys(keys: int) -> sql.Composable:
    """Rows of both sides by all keys, whether or not the other side has one."""
    return sql.SQL(", ").join([_key_column(place) for place in range(keys)])


def _unit_cost(row: Row, keys: int, *, is_used: bool) -> UnitCost:
    (purpose, answered, idle, unattributed, uncounted, stated, active, unit_ms, unpriced_ms, held_ms,
     observed_ms, statuses, *counts) = row[keys:]  # fmt: skip
    parts = PartAmounts(answered, idle, unattributed, uncounted)
    *token_counts, prompt_ms, cached_ms, output_ms, untold_ms, measured_ms, costless = counts
    return UnitCost(
        keys=tuple(row[:keys]),
        purpose=None if purpose is None else Purpose(purpose),
        parts=parts,
        micros=used_part(parts.counted, active, stated) if is_used else parts.counted,
        # A sum of no counts is not a count of 0.
        told=ReportedTokens(*token_counts)
        if parts.counted or any(token_counts)
        else ReportedTokens(),
        worked=Worked(prompt_ms, cached_ms, output_ms),
        untold_ms=untold_ms,
        measured_ms=measured_ms,
        unit_milliseconds=unit_ms,
        unpriced_milliseconds=unpriced_ms,
        held_milliseconds=held_ms,
        observed_milliseconds=observed_ms,
        statuses=frozenset(w for n, w in enumerate(Status.values) if statuses >> n & 1),
        costless_requests=costless,
    )


TOTALS: LiteralString = """
SELECT {keys} NULL::int2, sum(told.answered_micros)::int8, sum(told.idle_micros)::int8,
       sum(told.unattributed_micros)::int8, sum(told.uncounted_micros)::int8,
       sum(told.stated_micros)::int8, sum(told.active_micros)::int8,
       sum(told.unit_milliseconds)::int8, sum(told.unpriced_milliseconds)::int8,
       sum(told.held_milliseconds)::int8, sum(told.observed_milliseconds)::int8,
       bit_or(told.statuses),
       CASE WHEN count(told.requests) = count(*) THEN sum(told.requests)::int8 END,
       CASE WHEN count(told.succeeded) = count(*) THEN sum(told.succeeded)::int8 END,
       sum(told.prompt_tokens)::int8, sum(told.cached_tokens)::int8, sum(told.output_tokens)::int8,
       sum(told.prompt_ms)::int8, sum(told.cached_ms)::int8, sum(told.output_ms)::int8,
       sum(told.untold_ms)::int8, sum(told.measured_ms)::int8, sum(told.costless_requests)::int8
FROM ledger_servicetotal AS told
JOIN unnest(%(of)s::int8[], %(teams)s::int8[]) AS owner (id, team_id) ON owner.id = told.workload_id
WHERE told.measure = %(measure)s AND told.day >= %(first_day)s AND told.day < %(end_day)s
{grouped}
"""
FEATURES: LiteralString = """
WITH money AS (
    SELECT {keys} sum(told.micros) AS micros,
           sum(told.micros) FILTER (WHERE told.state IS NOT NULL) AS stated,
           sum(told.micros) FILTER (WHERE told.state = %(active)s) AS active,
           sum(told.unit_milliseconds) AS ms, sum(told.unpriced_milliseconds) AS unpriced_ms,
           coalesce(sum(told.unit_milliseconds) FILTER (
               WHERE told.state = ANY(%(held)s) AND told.flags & %(not_held)s = 0), 0) AS held_ms,
           coalesce(sum(told.unit_milliseconds) FILTER (
               WHERE told.state = ANY(%(held)s) AND told.state <> %(unobserved)s
                 AND told.flags & %(not_held)s = 0), 0) AS observed_ms,
           bit_or(1 << (array_position(%(words)s::text[], told.status) - 1)) AS statuses
    FROM (SELECT row.*, {amount} AS micros FROM ledger_serviceday AS row) AS told
    JOIN unnest(%(of)s::int8[], %(teams)s::int8[]) AS owner (id, team_id)
         ON owner.id = told.workload_id
    WHERE told.day >= %(first_day)s AND told.day < %(end_day)s
    {grouped}
), counted AS (
    SELECT {keys} CASE WHEN count(told.requests) = count(*) THEN sum(told.requests) END AS requests,
           CASE WHEN count(told.succeeded) = count(*) THEN sum(told.succeeded) END AS succeeded,
           sum(told.prompt_tokens) AS prompt_tokens, sum(told.cached_tokens) AS cached_tokens,
           sum(told.output_tokens) AS output_tokens, sum(told.prompt_ms) AS prompt_ms,
           sum(told.cached_ms) AS cached_ms, sum(told.output_ms) AS output_ms,
           sum(told.untold_ms) AS untold_ms, sum(told.measured_ms) AS measured_ms
    FROM ledger_servicecount AS told
    JOIN unnest(%(of)s::int8[], %(teams)s::int8[]) AS owner (id, team_id)
         ON owner.id = told.workload_id
    WHERE told.day >= %(first_day)s AND told.day < %(end_day)s
    {grouped}
)
SELECT {both}, CASE WHEN {part} = 0 THEN micros::int8 END, CASE WHEN {part} = 1 THEN micros::int8 END,
       CASE WHEN {part} = 2 THEN micros::int8 END, CASE WHEN {part} = 3 THEN micros::int8 END,
       stated::int8, active::int8, coalesce(ms, 0)::int8, coalesce(unpriced_ms, 0)::int8,
       coalesce(held_ms, 0)::int8, coalesce(observed_ms, 0)::int8, coalesce(statuses, 0),
       requests::int8, succeeded::int8, prompt_tokens::int8, cached_tokens::int8,
       output_tokens::int8, coalesce(prompt_ms, 0)::int8, coalesce(cached_ms, 0)::int8,
       coalesce(output_ms, 0)::int8, coalesce(untold_ms, 0)::int8, coalesce(measured_ms, 0)::int8,
       0::int8
FROM money FULL JOIN counted USING ({both})
ORDER BY {both}
"""
