"""Calls to model APIs as they are told, kept once each; told by several, each is counted once."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import LiteralString

from django.db import connection, transaction

from apps.accounts.queries import special_teams
from apps.logs.changes import answered, logged_change
from apps.marks.actions import Mark, mark
from apps.marks.queries import Pass

NEW_CALLS = 0
"""The unit of a mark that says: calls came; those that have no price yet are priced."""

# Arbitrary but fixed: who keeps calls sees what others kept before, and tells twins apart.
KEEPING = 7_305_041
DOORS = ("rest", "litellm", "otel")
"""Who tells of a response best: its receiver as the vendor answered, a gateway, a span."""

COLUMNS: LiteralString = (
    "source, key, response_id, at, vendor, model, tier, outcome, team_id, workload_id, feature, input_tokens,"
    " cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, detail, latency_seconds"
)
STAGE: LiteralString = """
CREATE TEMPORARY TABLE IF NOT EXISTS staged_usage (
    source text, key text, response_id text, at timestamptz, vendor text, model text, tier text, outcome text,
    team_id int8, workload_id int8, feature text, input_tokens int8, cached_tokens int8,
    cache_write_tokens int8, output_tokens int8, reasoning_tokens int8, detail jsonb,
    latency_seconds float8
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
# The organisation's tellers stand above a team's own, and no team's token moves another team's calls.
# Whose a call is, the best of them says that knows it.
COUNT_ONCE: LiteralString = """
WITH told AS (
    SELECT event.id, event.response_id, event.team_id, event.workload_id, event.feature,
           split_part(event.source, ':', 2) AS token_of,
           array_position(%(doors)s, split_part(event.source, ':', 1)) AS door
    FROM (SELECT DISTINCT response_id FROM staged_usage WHERE response_id <> '') AS staged
    JOIN workloads_usageevent AS event
      ON event.response_id = staged.response_id AND event.response_id <> ''
),
ranked AS (
    SELECT id, team_id, token_of,
           count(*) OVER response AS tellers,
           bool_or(token_of = '0') OVER response AS has_ours,
           row_number() OVER (PARTITION BY response_id, token_of ORDER BY door, id) AS place,
           first_value(team_id) OVER knowing AS known_team_id,
           first_value(workload_id) OVER knowing AS known_workload_id,
           first_value(feature) OVER knowing AS known_feature
    FROM told
    WINDOW response AS (PARTITION BY response_id),
           knowing AS (PARTITION BY response_id
                       ORDER BY team_id = %(unowned)s, token_of <> '0', door, id)
),
counted AS (
    SELECT *, place = 1 AND (token_of = '0' OR NOT has_ours) AS is_counted
    FROM ranked WHERE tellers > 1
),
judged AS (
    SELECT *, is_counted AND team_id = %(unowned)s AND known_team_id <> %(unowned)s AS is_known
    FROM counted
)
UPDATE workloads_usageevent AS event
SET is_counted = judged.is_counted,
    team_id = CASE WHEN judged.is_known THEN judged.known_team_id ELSE event.team_id END,
    workload_id = CASE WHEN judged.is_known THEN judged.known_workload_id
                       ELSE event.workload_id END,
    feature = CASE WHEN judged.is_known THEN judged.known_feature ELSE event.feature END
FROM judged
WHERE event.id = judged.id AND (event.is_counted <> judged.is_counted OR judged.is_known)
RETURNING date_trunc('hour', event.at, 'UTC')
"""


@dataclass(frozen=True, slots=True)
class Call:
    """One call to a model API; None where nobody counted. Nothing of what was said is in it."""

    source: str
    key: str
    at: datetime
    vendor: str
    model: str
    team_id: int
    tier: str = ""
    outcome: str = "ok"
    workload_id: int | None = None
    feature: str = ""
    response_id: str = ""
    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    detail: dict[str, int] = field(default_factory=dict)
    latency_seconds: float | None = None


@logged_change(count=answered)
@transaction.atomic
def take_calls(*, calls: Sequence[Call], at: datetime) -> int:
    """Keep each call that was not told before, by its source and key; how many that were.

    Of those that tell of one response of a vendor, through whichever door and in whatever order,
    one is counted. The hours in which anything changed are marked to be priced.
    """
    if not calls:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(STAGE)
        with cursor.copy(f"COPY staged_usage ({COLUMNS}) FROM STDIN") as copy:
            for call in calls:
                copy.write_row(_call_columns(call))
        if any(call.response_id for call in calls):
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [KEEPING])
        cursor.execute(KEEP, [at])
        kept = cursor.fetchall()
        unowned = special_teams().unowned_id
        cursor.execute(COUNT_ONCE, {"doors": list(DOORS), "unowned": unowned})
        hours = {hour for hour, _ in kept} | {hour for (hour,) in cursor.fetchall()}
        # One transaction may take several deliveries.
        cursor.execute("TRUNCATE staged_usage")
    mark(Mark(Pass.CALLS, NEW_CALLS, hour) for hour in sorted(hours))
    return sum(count for _, count in kept)


def _call_columns(call: Call) -> tuple[object, ...]:
    return (
        *(call.source, call.key, call.response_id, call.at, call.vendor, call.model, call.tier),
        call.outcome,
        *(call.team_id, call.workload_id, call.feature, call.input_tokens, call.cached_tokens),
        *(call.cache_write_tokens, call.output_tokens, call.reasoning_tokens),
        *(json.dumps(call.detail) if call.detail else "{}", call.latency_seconds),
    )
