"""Who holds what now, and who held what; outside the viewer's teams a holder keeps only its time."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from django.db import connection
from django.db.models import DateTimeField, F, Func

from apps.accounts.queries import Viewer
from apps.workloads.models import Allocation
from apps.workloads.queries.holding import HeldFact, allocations_held
from apps.workloads.queries.ownership import owners

MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Holding:
    """A job's holding of a node, and since when; `device_uuids` None: not pinned.

    `units` are GPUs, or cores where these were asked for; None: nobody knows how many. Outside the viewer's teams everything that says whose it is is None.
    """

    node_id: int
    units: Fraction | None
    device_uuids: tuple[str, ...] | None
    since: datetime
    job_id: int | None
    raw_id: str | None
    name: str | None
    user: str | None
    team_id: int | None
    is_theirs: bool


@dataclass(frozen=True, slots=True)
class HolderSpan:
    """A job's holding in a span of time, and when inside it."""

    holding: Holding
    held_from: datetime
    held_to: datetime


def held_by_node(at: datetime, in_cores: Collection[int] = ()) -> dict[int, Fraction]:
    """How many GPUs jobs claim of each node at `at`; more than there are where it is contested.

    Of the nodes `in_cores` it is cores; a job of unknown cores claims none that could be told.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT node_id, parts, sum(units)
            FROM workloads_allocation CROSS JOIN LATERAL (
                SELECT CASE WHEN is_core THEN cpus_denominator ELSE gpus_denominator END AS parts,
                       CASE WHEN is_core THEN cpus_numerator ELSE gpus_numerator END AS units
                FROM (SELECT node_id = ANY(%(in_cores)s::int8[]) AS is_core) AS node
            ) AS claimed
            WHERE period @> %(at)s AND node_id IS NOT NULL AND units > 0
            GROUP BY 1, 2
            """,
            {"at": at, "in_cores": list(in_cores)},
        )
        units_by_node: dict[int, Fraction] = {}
        for node_id, parts, units in cursor.fetchall():
            units_by_node[node_id] = units_by_node.get(node_id, Fraction(0)) + Fraction(
                int(units), parts
            )
        return units_by_node


def holders_now(
    node_ids: Collection[int], at: datetime, viewer: Viewer, *, in_cores: bool = False
) -> list[Holding]:
    """Return what jobs hold of these nodes at `at`, in GPUs or cores, by node, the longest held first."""
    allocations = allocations_held(node_ids, at, at + MOMENT)
    holdings = [
        holder_span.holding
        for holder_span in _holder_spans(allocations, at, viewer, in_cores=in_cores)
    ]
    return sorted(holdings, key=lambda one: (one.node_id, one.since))


def holders_between(
    node_ids: Collection[int], starts_at: datetime, ends_at: datetime, viewer: Viewer
) -> list[HolderSpan]:
    """Return what jobs held of these nodes in `[starts_at, ends_at)`, the earliest first.

    Whose a job is is asked of the rules in force at the end.
    """
    if ends_at <= starts_at:
        return []
    allocations = allocations_held(node_ids, starts_at, ends_at)
    spans = _holder_spans(allocations, ends_at - MOMENT, viewer, in_cores=False)
    return sorted(spans, key=lambda one: (one.holding.node_id, one.held_from, one.held_to))


def _holder_spans(
    facts: Sequence[HeldFact], at: datetime, viewer: Viewer, *, in_cores: bool
) -> list[HolderSpan]:
    """Without the jobs that are known to hold none."""
    units = {fact.allocation_id: _units_held(fact, in_cores=in_cores) for fact in facts}
    holding_facts = [fact for fact in facts if units[fact.allocation_id] != 0]
    teams = owners([fact.job_id for fact in holding_facts], at) if holding_facts else {}
    grants = (
        _grants_by_allocation([fact.allocation_id for fact in holding_facts])
        if holding_facts
        else {}
    )
    return [
        HolderSpan(
            replace(
                _visible_holding(
                    fact, teams[fact.job_id].team_id, grants[fact.allocation_id], viewer
                ),
                units=units[fact.allocation_id],
            ),
            fact.held_from,
            fact.held_to,
        )
        for fact in holding_facts
    ]


def _units_held(fact: HeldFact, *, in_cores: bool) -> Fraction | None:
    if in_cores:
        return fact.cpus
    return None if fact.gpus_unknown else fact.gpus


def _visible_holding(
    allocation: HeldFact, team_id: int | None, grant: dict[str, Any], viewer: Viewer
) -> Holding:
    is_theirs = viewer.sees_team(team_id)
    job = grant if is_theirs else {}
    return Holding(
        node_id=allocation.node_id,
        units=allocation.gpus,
        device_uuids=allocation.device_uuids,
        since=grant["since"],
        job_id=allocation.job_id if is_theirs else None,
        raw_id=job.get("job__raw_id"),
        name=job.get("job__name"),
        user=job.get("job__user"),
        team_id=team_id if is_theirs else None,
        is_theirs=is_theirs,
    )


def _grants_by_allocation(allocation_ids: Collection[int]) -> dict[int, dict[str, Any]]:
    """When each allocation began, and what its job is called."""
    since = Func(F("period"), function="lower", output_field=DateTimeField())
    rows = Allocation.objects.filter(id__in=allocation_ids).annotate(since=since)
    columns = ("id", "since", "job__raw_id", "job__name", "job__user")
    return {row["id"]: row for row in rows.values(*columns)}
