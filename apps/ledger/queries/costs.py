"""What things cost: sums of roll-ups by whatever is asked for, with how sure they are."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, LiteralString

from django.conf import settings
from psycopg import sql

from apps.economics.states import Flag
from apps.ledger.models import Status
from apps.ledger.queries.due import open_pending_hours
from apps.ledger.queries.tables import Row, rows
from apps.ledger.queries.windows import Window

TAG = "tag."
CHARGED = sql.SQL("day.flags & {} = 0").format(sql.Literal(int(Flag.SHARED_IDLE)))
GROUPS: dict[str, LiteralString] = {
    "day": "day.day",
    "team": "day.team_id",
    "workload": "day.workload_id",
    "pool": "day.pool_id",
    "state": "day.state",
    "status": "day.status",
    "kind": "day.kind",
    "gpu_model": "day.gpu_model",
    "purchase_option": "day.purchase_option",
}
"""What costs may be grouped by, besides `tag.<key>` for the keys of RUNRATE_TAG_KEYS."""

OF_TEAM_DAYS = frozenset({"day", "team", "state", "status", "kind"})
# Not array_agg(DISTINCT …), which would sort every row of the roll-up.
STATUSES = sql.SQL("array_remove(ARRAY[{}], NULL)").format(
    sql.SQL(", ").join(
        [
            sql.SQL("CASE WHEN bool_or(day.status = {0}) THEN {0} END").format(sql.Literal(word))
            for word in Status.values
        ]
    )
)


class Basis(StrEnum):
    """Which amount of a line is meant."""

    LIST = "list"
    CONTRACTED = "contracted"
    EFFECTIVE = "effective"
    BILLED = "billed"


class GroupNotKnown(ValueError):
    """Costs cannot be grouped by that."""


@dataclass(frozen=True, slots=True)
class CostFilter:
    """Which costs: everything where a set is None, else only these; tags must all match."""

    window: Window
    basis: Basis = Basis.EFFECTIVE
    team_ids: frozenset[int] | None = None
    workload_ids: frozenset[int] | None = None
    pool_ids: frozenset[int] | None = None
    states: frozenset[int] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CostGroup:
    """The sums of one group; `keys` are its values in the order of `group_by` (ids, days, texts).

    `micros` is every cost but shared-out idle, so that groups sum to the charges; `loaded_micros`
    has that too; `shared_micros` is the part of `micros` that shared charges are. Null where
    nothing is known. Held and observed milliseconds are of GPUs; `core_milliseconds` is the
    capacity of pools measured in cores.
    """

    keys: tuple[Any, ...]
    micros: int | None
    loaded_micros: int | None
    shared_micros: int | None
    gpu_milliseconds: int
    core_milliseconds: int
    held_milliseconds: int
    observed_milliseconds: int
    unpriced_milliseconds: int
    is_provisional: bool


@dataclass(frozen=True, slots=True)
class CostStanding:
    """How sure sums of a window are: settled as far as `as_of`, with hours still to be done."""

    as_of: datetime | None
    pending_hours: int


def cost_groups(chosen: CostFilter, group_by: Sequence[str]) -> list[CostGroup]:
    """The sums by group, ordered by the groups' values; refuses GroupNotKnown.

    Without any group, one sum of everything.
    """
    columns = [_group_column(name) for name in group_by]
    numbers = sql.SQL(", ").join([sql.Literal(place + 1) for place in range(len(columns))])
    query = sql.SQL(
        """
        SELECT {keys}
               sum({amount}) FILTER (WHERE {charged})::int8, sum({amount})::int8,
               sum({amount}) FILTER (WHERE day.kind = 'shared')::int8,
               coalesce(sum(day.unit_milliseconds) FILTER (WHERE day.unit <> 'core'), 0)::int8,
               coalesce(sum(day.unit_milliseconds) FILTER (WHERE day.unit = 'core'), 0)::int8,
               coalesce(sum(day.held_milliseconds) FILTER (WHERE day.unit <> 'core'), 0)::int8,
               coalesce(sum(day.observed_milliseconds) FILTER (WHERE day.unit <> 'core'), 0)::int8,
               coalesce(sum(day.unit_milliseconds) FILTER (WHERE {amount} IS NULL), 0)::int8,
               coalesce(bool_or(day.status = 'provisional'), false)
        FROM {roll_up} AS day WHERE {where} {grouped}
        """
    ).format(
        keys=sql.SQL("").join([sql.SQL("{}, ").format(column) for column in columns]),
        amount=amount_column(chosen.basis),
        charged=CHARGED,
        roll_up=roll_up(chosen, group_by),
        where=where(chosen),
        grouped=sql.SQL("GROUP BY {0} ORDER BY {0}").format(numbers) if columns else sql.SQL(""),
    )
    return [_group(row, len(columns)) for row in rows(query, parameters(chosen))]


def standing(window: Window, at: datetime) -> CostStanding:
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
    return CostStanding(
        as_of=as_of,
        pending_hours=open_pending_hours(window.starts_at, min(at, window.ends_at), closed),
    )


def amount_column(basis: Basis) -> sql.Composable:
    """The column of the roll-up (`day`) that a basis is."""
    return sql.SQL("day.{}").format(sql.Identifier(f"{basis}_micros"))


def roll_up(chosen: CostFilter, group_by: Iterable[str]) -> sql.Composable:
    """The smallest roll-up (`day`) that can answer: by team where that is all that is asked."""
    asks_more = chosen.tags or (chosen.workload_ids, chosen.pool_ids) != (None, None)
    is_of_teams = not asks_more and OF_TEAM_DAYS.issuperset(group_by)
    return sql.SQL("ledger_ledgerteamday" if is_of_teams else "ledger_ledgerday")


def where(chosen: CostFilter) -> sql.Composable:
    """The filter as a condition on the roll-up (`day`), for `parameters`."""
    conditions: list[LiteralString] = ["day.day >= %(first_day)s AND day.day < %(end_day)s"]
    if chosen.team_ids is not None:
        conditions.append("day.team_id = ANY(%(teams)s)")
    if chosen.workload_ids is not None:
        conditions.append("day.workload_id = ANY(%(workloads)s)")
    if chosen.pool_ids is not None:
        conditions.append("day.pool_id = ANY(%(pools)s)")
    if chosen.states is not None:
        conditions.append("day.state = ANY(%(states)s)")
    if chosen.tags:
        conditions.append("day.tags @> %(tags)s::jsonb")
    return sql.SQL(" AND ".join(conditions))


def parameters(chosen: CostFilter) -> dict[str, object]:
    """The values that `where` names."""
    return {
        "first_day": chosen.window.first_day,
        "end_day": chosen.window.end_day,
        "teams": sorted(chosen.team_ids or ()),
        "workloads": sorted(chosen.workload_ids or ()),
        "pools": sorted(chosen.pool_ids or ()),
        "states": sorted(chosen.states or ()),
        "tags": json.dumps(dict(chosen.tags)),
    }


def groupable() -> list[str]:
    """Everything `group_by` may name."""
    return [*GROUPS, *(TAG + key for key in settings.TAG_KEYS)]


def _group_column(name: str) -> sql.Composable:
    if name not in groupable():
        raise GroupNotKnown(f"group_by: {name!r} is none of {', '.join(groupable())}")
    if name.startswith(TAG):
        return sql.SQL("day.tags ->> {}").format(sql.Literal(name.removeprefix(TAG)))
    return sql.SQL(GROUPS[name])


def _group(row: Row, keys: int) -> CostGroup:
    return CostGroup(tuple(row[:keys]), *row[keys:])
