"""Grants, what jobs hold, kept by node: placed on the nodes of that name, changed, and their hours marked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import Any

from django.db import connection
from psycopg.types.range import Range

from apps.economics.job_holding import HeldSpan
from apps.fleet.queries import nodes_named
from apps.workloads.actions.touched_hours import TouchedHours

Bearers = Mapping[str, Sequence[tuple[int, datetime, datetime | None]]]
"""Who bore a node name, from when to when."""

COLUMNS = (
    "job_id, node_name, part, node_id, gpus_numerator, gpus_denominator, device_uuids, "
    "cpus_numerator, cpus_denominator, divided_evenly, gpus_unknown, period"
)


PLACE = """
WITH placed AS (
    UPDATE workloads_allocation AS held SET node_id = %(node)s
    FROM workloads_job AS job
    WHERE job.id = held.job_id AND job.cluster_id = %(cluster)s AND held.node_name = %(name)s
      AND held.node_id IS NULL AND held.period && tstzrange(%(from)s, %(to)s)
    RETURNING held.period
)
SELECT lower(span), upper(span)
FROM unnest((SELECT range_agg(period) FROM placed)) AS span ORDER BY span
"""


@dataclass(frozen=True, slots=True)
class Grant:
    """A job's holding on one node; `node_id` None: nobody bears the name."""

    job_id: int
    node_id: int | None
    span: HeldSpan

    @property
    def key(self) -> tuple[int, str, int, datetime]:
        """The key that stays the same when the rest changes."""
        return self.job_id, self.span.node, self.span.part, self.span.starts_at

    @property
    def claim(self) -> tuple[object, ...]:
        """All but how long it lasts."""
        return self.node_id, replace(self.span, ends_at=None)


def placed(job_id: int, spans: Iterable[HeldSpan], bearers: Bearers) -> Iterator[Grant]:
    """Put each span on the nodes that bore its name then.

    A span outlives a node and goes on with the next of that name; only one that no node of that
    name ever saw is left without.
    """
    for span in spans:
        for node_id, starts_at, ends_at in _pieces_by_bearer(span, bearers.get(span.node, ())):
            yield Grant(job_id, node_id, replace(span, starts_at=starts_at, ends_at=ends_at))


def bearers_of(names: Mapping[int, set[str]]) -> dict[int, Bearers]:
    """Who bore the node names, by cluster."""
    return {cluster_id: nodes_named(cluster_id, name) for cluster_id, name in names.items()}


@dataclass(frozen=True, slots=True)
class Altered:
    """Jobs kept before of which more changed than what they hold."""

    renewed: Set[int]
    """Other rules may match them: every hour counts as changed."""
    retagged: Set[int]
    """Their costs go under another tag."""


def keep_grants(
    job_ids: Sequence[int], wanted: Sequence[Grant], altered: Altered, touched: TouchedHours
) -> None:
    """Make the allocations of these jobs exactly `wanted`, and note every node-hour that changed."""
    stored_grants = _stored_grants(job_ids)
    new = {grant.key: grant for grant in wanted}
    removed_ids = [grant_id for key, (grant_id, _) in stored_grants.items() if key not in new]
    changed = [
        (stored_grants[key][0], grant)
        for key, grant in new.items()
        if key in stored_grants and stored_grants[key][1] != grant
    ]
    for key in stored_grants.keys() | new.keys():
        old = stored_grants[key][1] if key in stored_grants else None
        _touch_difference(old, new.get(key), touched, is_renewed=key[0] in altered.renewed)
    for grant in wanted:
        if grant.job_id in altered.retagged:
            touched.retag(grant.node_id, grant.span.starts_at, grant.span.ends_at)
    _delete_grants(removed_ids)
    _update_grants(changed)
    _insert_grants([grant for key, grant in new.items() if key not in stored_grants])


def place_on_only_bearer(*, cluster_id: int, name: str, at: datetime) -> None:
    """Put all that is held under a name that nobody bore on the one node that bears it now.

    One statement for any number of jobs: with a second bearer some would be divided. To be called
    where nobody else places jobs or changes lives; marks the hours.
    """
    bearers = nodes_named(cluster_id, [name]).get(name, ())
    if len(bearers) != 1:
        return
    ((node_id, since, until),) = bearers
    touched = TouchedHours(at)
    with connection.cursor() as cursor:
        cursor.execute(
            PLACE,
            {"cluster": cluster_id, "name": name, "node": node_id, "from": since, "to": until},
        )
        for starts_at, ends_at in cursor.fetchall():
            touched.add(node_id, starts_at, ends_at)
    touched.mark()


def _pieces_by_bearer(
    span: HeldSpan, bearers: Sequence[tuple[int, datetime, datetime | None]]
) -> Iterator[tuple[int | None, datetime, datetime | None]]:
    bearer_starts = [
        (node_id, since)
        for node_id, since, until in bearers
        if (span.ends_at is None or since < span.ends_at)
        and (until is None or span.starts_at < until)
    ]
    if not bearer_starts:
        yield None, span.starts_at, span.ends_at
    for place, (node_id, since) in enumerate(bearer_starts):
        is_last = place == len(bearer_starts) - 1
        yield (
            node_id,
            span.starts_at if place == 0 else since,
            span.ends_at if is_last else bearer_starts[place + 1][1],
        )


def _stored_grants(
    job_ids: Sequence[int],
) -> dict[tuple[int, str, int, datetime], tuple[int, Grant]]:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT id, job_id, node_id, node_name, part, gpus_numerator, gpus_denominator,
                   cpus_numerator, cpus_denominator, device_uuids, divided_evenly, gpus_unknown,
                   lower(period), upper(period)
            FROM workloads_allocation WHERE job_id = ANY(%s)
            """,
            [list(job_ids)],
        )
        grants_by_key = {}
        for grant_id, job_id, node_id, node, part, gpus, gpu_parts, *other_columns in cursor:
            cpus, cpu_parts, devices, divided_evenly, gpus_unknown, starts_at, ends_at = (
                other_columns
            )
            span = HeldSpan(
                node=node,
                part=part,
                gpus=Fraction(gpus, gpu_parts),
                cpus=None if cpus is None else Fraction(cpus, cpu_parts),
                devices=None if devices is None else tuple(devices),
                divided_evenly=divided_evenly,
                starts_at=starts_at,
                ends_at=ends_at,
                gpus_unknown=gpus_unknown,
            )
            grant = Grant(job_id, node_id, span)
            grants_by_key[grant.key] = grant_id, grant
    return grants_by_key


def _touch_difference(
    old: Grant | None, new: Grant | None, touched: TouchedHours, *, is_renewed: bool
) -> None:
    if old and new and old.claim == new.claim and not is_renewed:
        if old.span.ends_at != new.span.ends_at:
            ends = [
                version.span.ends_at for version in (old, new) if version.span.ends_at is not None
            ]
            touched.add(new.node_id, min(ends), max(ends) if len(ends) == 2 else None)
        return
    if old == new and not is_renewed:
        return
    for grant in (old, new):
        if grant is not None:
            touched.add(grant.node_id, grant.span.starts_at, grant.span.ends_at)


def _delete_grants(allocation_ids: Sequence[int]) -> None:
    if allocation_ids:
        with connection.cursor() as cursor:
            cursor.execute(
                "DELETE FROM workloads_allocation WHERE id = ANY(%s)", [list(allocation_ids)]
            )


def _update_grants(changed: Sequence[tuple[int, Grant]]) -> None:
    if changed:
        assignments = ", ".join(f"{name} = %s" for name in COLUMNS.split(", "))
        with connection.cursor() as cursor:
            cursor.executemany(
                f"UPDATE workloads_allocation SET {assignments} WHERE id = %s",  # noqa: S608  # our own column names
                [(*_grant_columns(grant), allocation_id) for allocation_id, grant in changed],
            )


def _insert_grants(grants: Sequence[Grant]) -> None:
    if grants:
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY workloads_allocation ({COLUMNS}) FROM STDIN") as copy,
        ):
            for grant in grants:
                copy.write_row(_grant_columns(grant))


def _grant_columns(grant: Grant) -> tuple[Any, ...]:
    span, cpus = grant.span, grant.span.cpus
    return (
        grant.job_id,
        span.node,
        span.part,
        grant.node_id,
        span.gpus.numerator,
        span.gpus.denominator,
        None if span.devices is None else list(span.devices),
        None if cpus is None else cpus.numerator,
        1 if cpus is None else cpus.denominator,
        span.divided_evenly,
        span.gpus_unknown,
        Range(span.starts_at, span.ends_at),
    )
