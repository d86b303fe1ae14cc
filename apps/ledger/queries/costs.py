"""What things cost: sums of roll-ups by whatever is asked for, with how sure they are."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import LiteralString

from django.conf import settings
from psycopg import sql

from apps.economics.states import Flag
from apps.ledger.models import Status
from apps.ledger.queries.due import open_pending_hours
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window

TAG = "tag."
CHARGED = sql.SQL("day.flags & {} = 0").format(sql.Literal(int(Flag.SHARED_IDLE)))
GROUPS = (
    *("day", "team", "workload", "pool", "state", "status", "kind", "gpu_model"),
    "purchase_option",
)
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


LEAST_SURE_FIRST = ("provisional", "estimated", "restated", "reconciled")


def least_sure(statuses: Collection[str]) -> str:
    """The least sure of them; empty without any."""
    return next((word for word in LEAST_SURE_FIRST if word in statuses), "")


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
class CostStanding:
    """How sure sums of a window are: settled as far as `as_of`, with hours still to be done."""

    as_of: datetime | None
    pending_hours: int


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
