"""Counts of what services answered, taken in whatever order and however often they are told."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from apps.accounts.queries import organisation, teams
from apps.accounts.queries.arriving import arriving_personal_fields, pseudonymise
from apps.economics.hours import HOUR
from apps.fleet.actions import TrustMatter, raise_trust_incident
from apps.fleet.queries import TrustKind
from apps.logs.changes import answered, logged_change
from apps.workloads.actions.request_statements import (
    DELETE_DAYS,
    PLAIN,
    SUM_DAYS,
    UPSERT,
    CountedRequests,
    Key,
)
from apps.workloads.actions.touched_hours import TouchedHours
from apps.workloads.models import OwnershipRule, RequestHour, Workload, WorkloadKind
from apps.workloads.queries import RuleFact
from apps.workloads.queries.node_services import services_on_node
from apps.workloads.queries.ownership import held_by_matching, rules

KEPT = timedelta(days=790)
"""As long as hours of use are kept: 25 months and a little."""
SERVICES = (WorkloadKind.SERVING, WorkloadKind.BATCH)
"""Kinds of workload that answer requests."""
JOINED_AT_ONCE = 500

WorkloadHour = tuple[int, datetime]
"""A workload and an hour of it."""


@dataclass(frozen=True, slots=True)
class RequestTeller:
    """On whose word: a team's token (None: the organisation's), or an agent's, of one node."""

    team_id: int | None = None
    node_id: int | None = None


@dataclass(frozen=True, slots=True)
class RequestTaken:
    """The outcome of a row; unchanged where as new a revision was told before.

    `workload_id` None: no service of that name is known, or several are; of a node's, also none
    that runs there: then `is_elsewhere`. `is_foreign`: another token counts under that source key,
    and the row was not taken.
    """

    is_changed: bool
    workload_id: int | None
    is_foreign: bool = False
    is_elsewhere: bool = False


@logged_change(count=answered)
@transaction.atomic
def record_requests(
    *, counted: Sequence[CountedRequests], teller: RequestTeller, at: datetime
) -> list[RequestTaken]:
    """Keep counts on a teller's word; one answer a row.

    A service is looked for among the serving and batch workloads of its team and those below it;
    with a token of the organisation, by the one name. A later revision takes an earlier one's
    place, whatever the order; what a team's or a node's token told nobody else writes over. What a
    node counts is of services that hold it in that hour; else it waits until a job says so
    (decision 0228). Days are summed anew, and what hours that are over cost is divided again.
    """
    counted = pseudonymise(
        counted, arriving_personal_fields("workloads.requesthour", service_named="service")
    )
    services = _services_by_name(teller.team_id)
    newest = _newest_revisions(counted)
    stored_counts = _stored_counts(newest)
    named = {
        key: (stored_counts[key].workload_id if key in stored_counts else None)
        or services.get(key[1])
        for key in newest
    }
    joined = {
        key
        for key, one in stored_counts.items()
        if one.workload_id and one.node_id == teller.node_id
    }
    elsewhere = _elsewhere(named, joined, teller)
    foreign = {
        key
        for key, one in stored_counts.items()
        if not _is_writable_by(one, newest[key], teller)
        or (key in elsewhere and one.node_id is None)
    }
    workload_by_key = {key: None if key in elsewhere else named[key] for key in newest}
    _note_services_elsewhere(elsewhere - foreign, teller, at)
    _lock_workloads(
        workload_id for workload_id in workload_by_key.values() if workload_id is not None
    )
    own_rows = [(newest[key], workload_by_key[key]) for key in sorted(newest) if key not in foreign]
    changed = _upsert_counts(own_rows, teller)
    _follow_changed_hours(
        {
            (changed_id, key[4])
            for key in changed
            if (changed_id := workload_by_key[key]) is not None
        },
        at,
    )
    return [
        RequestTaken(
            is_changed=counts.key in changed and counts is newest[counts.key],
            workload_id=None if counts.key in foreign else workload_by_key[counts.key],
            is_foreign=counts.key in foreign,
            is_elsewhere=counts.key in elsewhere,
        )
        for counts in counted
    ]


def _elsewhere(
    named: Mapping[Key, int | None], joined: Collection[Key], teller: RequestTeller
) -> set[Key]:
    """The keys of services that do not hold the node that counts them; those joined before aside."""
    if teller.node_id is None:
        return set()
    hours = {key[4] for key in named}
    there = services_on_node(teller.node_id, hours) if hours else set()
    return {
        key
        for key, workload_id in named.items()
        if workload_id is not None and key not in joined and (workload_id, key[4]) not in there
    }


def _note_services_elsewhere(keys: Collection[Key], teller: RequestTeller, at: datetime) -> None:
    if not keys:
        return
    names = sorted({key[1] for key in keys})
    matter = TrustMatter(
        TrustKind.SERVICE,
        f"no job of {', '.join(names[:5])} holds the node",
        node_id=teller.node_id,
        count=len(keys),
    )
    raise_trust_incident(matter=matter, at=at)


@logged_change(count=answered)
def join_requests(*, at: datetime) -> int:
    """Give counts that named no known service to the workload of that name, if there is one now;
    how many hours were joined. Safe to run at any time; a sweep does."""
    waiting = RequestHour.objects.filter(workload=None).values_list("team_id", "service_named")
    joined = 0
    for team_id, name in sorted(waiting.distinct(), key=lambda one: (one[0] or 0, one[1])):
        workload_id = _services_by_name(team_id).get(name)
        while workload_id is not None and (hours := _join_some(team_id, name, workload_id, at)):
            joined += hours
    return joined


@logged_change(count=answered)
def forget_requests(*, at: datetime) -> int:
    """Delete hours that are older than hours of use are kept; the sums of days stay. How many."""
    deleted, _ = RequestHour.objects.filter(hour__lt=at - KEPT).delete()
    return deleted


@transaction.atomic
def _join_some(team_id: int | None, name: str, workload_id: int, at: datetime) -> int:
    _lock_workloads([workload_id])
    told_by = Q(team=None) if team_id is None else Q(team_id=team_id)
    waiting = RequestHour.objects.filter(told_by, workload=None, service_named=name)
    rows = waiting.order_by("hour", "id").values_list("id", "hour", "node_id")
    some = list(_of_their_nodes(rows, workload_id))
    RequestHour.objects.filter(id__in=[row[0] for row in some]).update(workload_id=workload_id)
    _follow_changed_hours({(workload_id, hour) for _, hour in some}, at)
    return len(some)


def _of_their_nodes(
    rows: QuerySet[RequestHour, tuple[int, datetime, int | None]], workload_id: int
) -> Iterator[tuple[int, datetime]]:
    """Of waiting rows so many that may be joined: a node's where the service holds the node."""
    held_hours: dict[int, set[WorkloadHour]] = {}
    hours: dict[int, set[datetime]] = {}
    for _, hour, node_id in rows:
        if node_id is not None:
            hours.setdefault(node_id, set()).add(hour)
    for node_id, of_node in hours.items():
        held_hours[node_id] = services_on_node(node_id, of_node)
    fitting = (
        (row_id, hour)
        for row_id, hour, node_id in rows
        if node_id is None or (workload_id, hour) in held_hours[node_id]
    )
    return islice(fitting, JOINED_AT_ONCE)


def _services_by_name(team_id: int | None) -> dict[str, int]:
    """Serving and batch workloads by name, of a team and those below it or of all; a name that
    several bear is nobody's."""
    services = Workload.objects.filter(kind__in=SERVICES)
    if team_id is not None:
        own_services = Workload.objects.filter(kind__in=SERVICES, team_id=team_id)
        return _unique_by_name(services.filter(team_id__in=_teams_from(team_id))) | dict(
            own_services.order_by("id").values_list("name", "id")
        )
    return _unique_by_name(services)


def _unique_by_name(workloads: QuerySet[Workload]) -> dict[str, int]:
    ids: dict[str, list[int]] = {}
    for name, workload_id in workloads.order_by("id").values_list("name", "id"):
        ids.setdefault(name, []).append(workload_id)
    return {name: named_ids[0] for name, named_ids in ids.items() if len(named_ids) == 1}


def _teams_from(team_id: int) -> set[int]:
    below: dict[int | None, list[int]] = {}
    for team in teams():
        below.setdefault(team.parent_id, []).append(team.id)
    team_ids, waiting = {team_id}, [team_id]
    while waiting:
        children = [
            child_id for child_id in below.get(waiting.pop(), []) if child_id not in team_ids
        ]
        team_ids.update(children)
        waiting += children
    return team_ids


def _newest_revisions(counted: Iterable[CountedRequests]) -> dict[Key, CountedRequests]:
    """Of several revisions in one telling the newest, of equal ones the first."""
    newest: dict[Key, CountedRequests] = {}
    for counts in counted:
        if counts.key not in newest or counts.revision > newest[counts.key].revision:
            newest[counts.key] = counts
    return newest


@dataclass(frozen=True, slots=True)
class StoredRequestCounts:
    """The row that was told before: of which service, as what, and by whom."""

    workload_id: int | None
    source: str
    team_id: int | None
    node_id: int | None


def _is_writable_by(
    stored: StoredRequestCounts, counts: CountedRequests, teller: RequestTeller
) -> bool:
    """Whether the teller may write over it. What agents told before nodes were noted is engines'."""
    is_unnoted = stored.node_id is None and stored.source == counts.source == "engine"
    return stored.team_id == teller.team_id and (stored.node_id == teller.node_id or is_unnoted)


def _stored_counts(keys: Collection[Key]) -> dict[Key, StoredRequestCounts]:
    """Return what was told before under these keys."""
    columns = [list(column) for column in zip(*keys, strict=True)] or [[], [], [], [], []]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT source_key, service_named, feature, model, hour,
                   workload_id, source, team_id, node_id
            FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::timestamptz[])
                 AS key (source_key, service_named, feature, model, hour)
            JOIN workloads_requesthour USING (source_key, service_named, feature, model, hour)
            """,
            columns,
        )
        return {
            (source_key, service, feature, model, hour): StoredRequestCounts(
                workload_id, source, team_id, node_id
            )
            for source_key, service, feature, model, hour, workload_id, source, team_id, node_id
            in cursor
        }  # fmt: skip


def _lock_workloads(workload_ids: Iterable[int]) -> None:
    """Two tellings of one service sum its day one after the other; foreign keys are not in the
    way of this lock."""
    ids = sorted(set(workload_ids))
    list(
        Workload.objects.select_for_update(no_key=True)
        .filter(id__in=ids)
        .order_by("id")
        .values_list("id")
    )


def _upsert_counts(
    count_pairs: Sequence[tuple[CountedRequests, int | None]], teller: RequestTeller
) -> set[Key]:
    """The keys of the rows that are new, or newer than what was kept."""
    rows = [_row_of_counts(counted, workload_id, teller) for counted, workload_id in count_pairs]
    with connection.cursor() as cursor:
        cursor.execute(UPSERT, [json.dumps(rows)])
        return {tuple(row) for row in cursor}


def _row_of_counts(
    counted: CountedRequests, workload_id: int | None, teller: RequestTeller
) -> dict[str, Any]:
    latency, first_token = counted.latency, counted.first_token
    return {
        "workload_id": workload_id,
        "team_id": teller.team_id,
        "node_id": teller.node_id,
        "service_named": counted.service,
        "hour": counted.hour.isoformat(),
        "latency_bounds_seconds": latency.bounds if latency else (),
        "latency_counts": latency.counts if latency else (),
        "first_token_bounds_seconds": first_token.bounds if first_token else (),
        "first_token_counts": first_token.counts if first_token else (),
        **{name: getattr(counted, name) for name in PLAIN},
    }


def _follow_changed_hours(changed: Collection[WorkloadHour], at: datetime) -> None:
    """Update what rests on these hours: the sums of their days, and what they cost."""
    if not changed:
        return
    zone = ZoneInfo(organisation().zone)
    _sum_days({(workload_id, hour.astimezone(zone).date()) for workload_id, hour in changed}, zone)
    _mark_divided_days(
        {(workload_id, hour) for workload_id, hour in changed if hour + HOUR <= at}, at
    )


def _sum_days(days: Collection[tuple[int, date]], zone: ZoneInfo) -> None:
    """Write the sums of these local days anew."""
    ordered = sorted(days)
    workload_ids = [workload_id for workload_id, _ in ordered]
    of_days = [day for _, day in ordered]
    since = [_local_midnight(day, zone) for day in of_days]
    until = [_local_midnight(day + timedelta(days=1), zone) for day in of_days]
    with connection.cursor() as cursor:
        cursor.execute(DELETE_DAYS, [workload_ids, of_days])
        cursor.execute(SUM_DAYS, [workload_ids, of_days, since, until])


def _local_midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time.min, tzinfo=zone)


def _mark_divided_days(over: Collection[WorkloadHour], at: datetime) -> None:
    """Have the days of the pools divided again on which jobs of the workloads held nodes.

    By the rules that give jobs to the workload: one that another rule takes away marks a day too
    many, which costs time and changes nothing.
    """
    spans: dict[int, list[datetime]] = {}
    for workload_id, hour in over:
        spans.setdefault(workload_id, []).append(hour)
    giving = rules(OwnershipRule.objects.filter(workload_id__in=spans))
    touched = TouchedHours(at)
    for fact in giving:
        hours = spans.get(fact.rule.workload_id or 0, [])
        since, until = min(hours), max(hours) + HOUR
        if (cut := _cut_to_span(fact, since, until)) is not None:
            for holding in held_by_matching(cut, until):
                touched.divide(holding.node_id, holding.starts_at, holding.ends_at)
    if giving:
        touched.mark()


def _cut_to_span(fact: RuleFact, since: datetime, until: datetime) -> RuleFact | None:
    """The rule within a span; None where it is not in force in it."""
    starts_at = since if fact.starts_at is None else max(since, fact.starts_at)
    ends_at = until if fact.ends_at is None else min(until, fact.ends_at)
    return RuleFact(fact.rule, starts_at, ends_at) if starts_at < ends_at else None
