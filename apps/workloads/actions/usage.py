"""Calls to model APIs as they are told, kept once each; told by several, each is counted once."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, LiteralString

from django.db import connection, transaction

from apps.accounts.queries import special_teams
from apps.accounts.queries.arriving import arriving_personal_fields, pseudonymise
from apps.economics.call_statements import (
    CallStatement,
    Contradiction,
    contradictions_of,
    judge_statements,
)
from apps.economics.calls import Counted
from apps.logs.changes import field_of, logged_change
from apps.marks.actions import ALL_CALLS_ANEW, NEW_CALLS, Mark, mark
from apps.marks.queries import Pass

# Arbitrary but fixed: who keeps calls sees what others kept before, and tells twins apart.
KEEPING = 7_305_041
DOORS = ("rest", "litellm", "otel")
"""Who tells of a response best: its receiver as the vendor answered, a gateway, a span."""

COLUMNS: LiteralString = (
    "source, key, response_id, parent_key, at, vendor, model, tier, outcome, team_id, workload_id, feature,"
    " input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, detail,"
    " latency_seconds, stated_cost"
)
STAGE: LiteralString = """
CREATE TEMPORARY TABLE IF NOT EXISTS staged_usage (
    source text, key text, response_id text, parent_key text, at timestamptz, vendor text, model text,
    tier text, outcome text, team_id int8, workload_id int8, feature text, input_tokens int8,
    cached_tokens int8, cache_write_tokens int8, output_tokens int8, reasoning_tokens int8,
    detail jsonb, latency_seconds float8, stated_cost numeric
) ON COMMIT DELETE ROWS
"""
KEEP: LiteralString = """
WITH kept AS (
    INSERT INTO workloads_usageevent (:columns, is_counted, taken_at)
    SELECT :columns, true, %s FROM staged_usage ORDER BY source, key
    ON CONFLICT (source, key) DO NOTHING
    RETURNING at
)
SELECT date_trunc('hour', at, 'UTC') AS hour, count(*) FROM kept GROUP BY hour ORDER BY hour
""".replace(":columns", COLUMNS)
STATEMENT: LiteralString = """
event.id, event.source, event.key, event.parent_key, event.response_id,
array_position(%(doors)s, split_part(event.source, ':', 1)) AS door,
split_part(event.source, ':', 2) = '0' AS is_ours, event.team_id <> %(unowned)s AS is_owned,
event.input_tokens, event.cached_tokens, event.cache_write_tokens, event.output_tokens,
event.reasoning_tokens, (SELECT count(*) FROM jsonb_object_keys(event.detail)) AS details
"""
# Under its key a call is told again by a stream that ended, or by a retry of the sender.
TOLD_BEFORE: LiteralString = """
SELECT :statement
FROM staged_usage AS staged JOIN workloads_usageevent AS event
  ON event.source = staged.source AND event.key = staged.key
ORDER BY event.id
""".replace(":statement", STATEMENT)
TAKE_RICHER: LiteralString = """
UPDATE workloads_usageevent AS event
SET response_id = CASE WHEN staged.response_id = '' THEN event.response_id ELSE staged.response_id END,
    vendor = staged.vendor, model = staged.model, tier = staged.tier, outcome = staged.outcome,
    input_tokens = staged.input_tokens, cached_tokens = staged.cached_tokens,
    cache_write_tokens = staged.cache_write_tokens, output_tokens = staged.output_tokens,
    reasoning_tokens = staged.reasoning_tokens, detail = staged.detail,
    latency_seconds = coalesce(staged.latency_seconds, event.latency_seconds),
    stated_cost = coalesce(staged.stated_cost, event.stated_cost)
FROM staged_usage AS staged
WHERE event.id = ANY(%s) AND event.source = staged.source AND event.key = staged.key
RETURNING date_trunc('hour', event.at, 'UTC')
"""
# What tells of the same response, the span that holds a span, and the spans that it holds.
NEAR: LiteralString = """
WITH RECURSIVE near AS (
    SELECT event.id, event.source, event.key, event.parent_key, event.response_id
    FROM staged_usage AS staged JOIN workloads_usageevent AS event
      ON event.source = staged.source AND event.key = staged.key
    WHERE event.response_id <> '' OR event.source LIKE 'otel:%%'
    UNION
    SELECT other.* FROM near CROSS JOIN LATERAL (
        SELECT same.id, same.source, same.key, same.parent_key, same.response_id
        FROM workloads_usageevent AS same
        WHERE same.response_id = near.response_id AND same.response_id <> ''
        UNION ALL
        SELECT parent.id, parent.source, parent.key, parent.parent_key, parent.response_id
        FROM workloads_usageevent AS parent
        WHERE near.parent_key <> '' AND parent.source = near.source AND parent.key = near.parent_key
        UNION ALL
        SELECT child.id, child.source, child.key, child.parent_key, child.response_id
        FROM workloads_usageevent AS child
        WHERE child.source = near.source AND child.parent_key = near.key AND child.parent_key <> ''
    ) AS other
)
SELECT :statement, event.is_counted
FROM near JOIN workloads_usageevent AS event ON event.id = near.id
ORDER BY event.id
""".replace(":statement", STATEMENT)
COUNT_ONCE: LiteralString = """
UPDATE workloads_usageevent AS event
SET is_counted = judged.is_counted,
    team_id = coalesce(owner.team_id, event.team_id),
    workload_id = CASE WHEN owner.id IS NULL THEN event.workload_id ELSE owner.workload_id END,
    feature = coalesce(owner.feature, event.feature)
FROM unnest(%s::int8[], %s::boolean[], %s::int8[]) AS judged (id, is_counted, owner_id)
LEFT JOIN workloads_usageevent AS owner ON owner.id = judged.owner_id
WHERE event.id = judged.id
RETURNING date_trunc('hour', event.at, 'UTC')
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Counted):
    """One call to a model API as its source tells it; None where nobody counted. Nothing of what was said is in it.

    `parent_key` is the key of the span that holds a span's; `stated_cost` what a gateway or an SDK
    says that it cost, in US dollars.
    """

    source: str
    key: str
    team_id: int
    workload_id: int | None = None
    feature: str = ""
    response_id: str = ""
    latency_seconds: float | None = None
    parent_key: str = ""
    stated_cost: Decimal | None = None

    @property
    def counts(self) -> tuple[int | None, ...]:
        """Tokens in, cached, written to the cache, out, and of these reasoning ones."""
        return (
            *(self.input_tokens, self.cached_tokens, self.cache_write_tokens),
            *(self.output_tokens, self.reasoning_tokens),
        )


@dataclass(frozen=True, slots=True)
class CallsTaken:
    """How many calls were not told before, and by its place each that contradicts another statement."""

    new: int
    contradictions: tuple[tuple[int, Contradiction], ...] = ()


@logged_change(count=field_of("new"))
@transaction.atomic
def take_calls(*, calls: Sequence[Call], at: datetime) -> CallsTaken:
    """Keep each call once, by its source and key, and of two statements of one the richer.

    Of those that tell of one response of a vendor, or of which one span holds the other, through
    whichever door and in whatever order, one is counted. The hours in which anything changed are
    marked to be priced.
    """
    if not calls:
        return CallsTaken(0)
    calls = pseudonymise(calls, arriving_personal_fields("workloads.usageevent"))
    richest, places, contradictions = _richest_by_key(calls)
    with connection.cursor() as cursor:
        cursor.execute(STAGE)
        with cursor.copy(f"COPY staged_usage ({COLUMNS}) FROM STDIN") as copy:
            for call in richest:
                copy.write_row(_call_columns(call))
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [KEEPING])
        named: dict[str, Any] = {"doors": list(DOORS), "unowned": special_teams().unowned_id}
        cursor.execute(TOLD_BEFORE, named)
        told_before = [_statement_of(row) for row in cursor.fetchall()]
        before = {(statement.source, statement.key): statement for statement in told_before}
        cursor.execute(KEEP, [at])
        hour_counts = cursor.fetchall()
        richer, differing = _richer_than_before(richest, before)
        cursor.execute(TAKE_RICHER, [richer])
        changed_hours = {hour for (hour,) in cursor.fetchall()}
        cursor.execute(NEAR, named)
        judged, twins = _judge(cursor.fetchall(), {(call.source, call.key) for call in richest})
        cursor.execute(
            COUNT_ONCE, [list(column) for column in zip(*judged, strict=True)] or [[]] * 3
        )
        hours = {hour for hour, _ in hour_counts} | {hour for (hour,) in cursor.fetchall()}
        # One transaction may take several deliveries.
        cursor.execute("TRUNCATE staged_usage")
    mark(Mark(Pass.CALLS, NEW_CALLS, hour) for hour in sorted(hours))
    mark(Mark(Pass.CALLS, ALL_CALLS_ANEW, hour) for hour in sorted(changed_hours))
    of_place = [(places[key], contradiction) for key, contradiction in (*differing, *twins)]
    return CallsTaken(sum(count for _, count in hour_counts), (*contradictions, *of_place))


_Key = tuple[str, str]


def _statement_of(row: Sequence[Any]) -> CallStatement:
    """Of the columns of STATEMENT, one name each: another one is refused here."""
    id, source, key, parent_key, response_id, door, is_ours, is_owned, *counted = row
    sent, cached, cache_write, answered, reasoning, details = counted
    return CallStatement(
        id=id,
        source=source,
        key=key,
        parent_key=parent_key,
        response_id=response_id,
        door=door,
        is_ours=is_ours,
        is_owned=is_owned,
        counts=(sent, cached, cache_write, answered, reasoning),
        details=details,
    )


def _statement_of_call(call: Call, place: int) -> CallStatement:
    return CallStatement(
        id=place,
        source=call.source,
        key=call.key,
        parent_key=call.parent_key,
        response_id=call.response_id,
        door=0,
        is_ours=True,
        is_owned=True,
        counts=call.counts,
        details=len(call.detail),
    )


def _richest_by_key(
    calls: Sequence[Call],
) -> tuple[list[Call], Mapping[_Key, int], list[tuple[int, Contradiction]]]:
    """Of a delivery's statements under one key the richest, its place, and where others differ."""
    by_key: dict[_Key, list[CallStatement]] = defaultdict(list)
    for place, call in enumerate(calls):
        by_key[call.source, call.key].append(_statement_of_call(call, place))
    best = {
        key: max(same, key=lambda statement: (statement.richness, -statement.id))
        for key, same in by_key.items()
    }
    contradictions = [
        (contradiction.other_id, contradiction)
        for key, same in by_key.items()
        if len(same) > 1
        for contradiction in contradictions_of(best[key], same)
    ]
    chosen = [calls[statement.id] for statement in best.values()]
    return chosen, {key: statement.id for key, statement in best.items()}, contradictions


def _richer_than_before(
    calls: Iterable[Call], before: Mapping[_Key, CallStatement]
) -> tuple[list[int], list[tuple[_Key, Contradiction]]]:
    """Ids of kept calls of which this delivery says more, and where the two differ."""
    richer: list[int] = []
    contradictions: list[tuple[_Key, Contradiction]] = []
    for call in calls:
        key = (call.source, call.key)
        stored = before.get(key)
        if stored is None:
            continue
        statement = _statement_of_call(call, stored.id)
        takes = statement.richness > stored.richness
        if takes:
            richer.append(stored.id)
        first, second = (statement, stored) if takes else (stored, statement)
        contradictions += [
            (key, contradiction) for contradiction in contradictions_of(first, [second])
        ]
    return richer, contradictions


def _judge(
    rows: Sequence[Sequence[Any]], sent: set[_Key]
) -> tuple[list[tuple[int, bool, int | None]], list[tuple[_Key, Contradiction]]]:
    """Return what changes of the calls near those sent, and where one of these contradicts another."""
    near = [(_statement_of(statement), is_counted) for *statement, is_counted in rows]
    statements = [statement for statement, _ in near]
    judgement = judge_statements(statements)
    was_counted = {statement.id: is_counted for statement, is_counted in near}
    changed = [
        (id, is_counted, judgement.owners.get(id))
        for id, is_counted in sorted(judgement.counted.items())
        if is_counted != was_counted[id] or id in judgement.owners
    ]
    keys = {statement.id: (statement.source, statement.key) for statement in statements}
    contradictions: list[tuple[_Key, Contradiction]] = []
    for contradiction in judgement.contradictions:
        reported_key = next(
            (
                keys[id]
                for id in (contradiction.other_id, contradiction.counted_id)
                if keys[id] in sent
            ),
            None,
        )
        if reported_key is not None:
            contradictions.append((reported_key, contradiction))
    return changed, contradictions


def _call_columns(call: Call) -> tuple[object, ...]:
    return (
        *(call.source, call.key, call.response_id, call.parent_key, call.at, call.vendor),
        *(call.model, call.tier, call.outcome, call.team_id, call.workload_id, call.feature),
        *call.counts,
        *(json.dumps(call.detail) if call.detail else "{}", call.latency_seconds),
        call.stated_cost,
    )
