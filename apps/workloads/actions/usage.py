"""Calls to model APIs as they are told, kept once each."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import LiteralString

from django.db import connection, transaction

from apps.fleet.actions.marks import Mark, mark
from apps.fleet.queries import Pass

NEW_CALLS = 0
"""The unit of a mark that says: calls came; those that have no price yet are priced."""

COLUMNS: LiteralString = (
    "source, key, at, vendor, model, tier, outcome, team_id, workload_id, feature, input_tokens,"
    " cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, detail, latency_seconds"
)
STAGE: LiteralString = """
CREATE TEMPORARY TABLE IF NOT EXISTS staged_usage (
    source text, key text, at timestamptz, vendor text, model text, tier text, outcome text,
    team_id int8, workload_id int8, feature text, input_tokens int8, cached_tokens int8,
    cache_write_tokens int8, output_tokens int8, reasoning_tokens int8, detail jsonb,
    latency_seconds float8
) ON COMMIT DELETE ROWS
"""
KEEP: LiteralString = """
WITH kept AS (
    INSERT INTO workloads_usageevent (:columns, taken_at)
    SELECT :columns, %s FROM staged_usage ORDER BY source, key
    ON CONFLICT (source, key) DO NOTHING
    RETURNING at
)
SELECT date_trunc('hour', at, 'UTC') AS hour, count(*) FROM kept GROUP BY hour ORDER BY hour
""".replace(":columns", COLUMNS)


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
    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    detail: dict[str, int] = field(default_factory=dict)
    latency_seconds: float | None = None


@transaction.atomic
def take_calls(*, calls: Sequence[Call], at: datetime) -> int:
    """Keep each call that was not told before, by its source and key; how many that were.

    The hours they are of are marked to be priced.
    """
    if not calls:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(STAGE)
        with cursor.copy(f"COPY staged_usage ({COLUMNS}) FROM STDIN") as copy:
            for call in calls:
                copy.write_row(_row(call))
        cursor.execute(KEEP, [at])
        hours = cursor.fetchall()
        # One transaction may take several deliveries.
        cursor.execute("TRUNCATE staged_usage")
    mark(Mark(Pass.CALLS, NEW_CALLS, hour) for hour, _ in hours)
    return sum(count for _, count in hours)


def _row(call: Call) -> tuple[object, ...]:
    return (
        *(call.source, call.key, call.at, call.vendor, call.model, call.tier, call.outcome),
        *(call.team_id, call.workload_id, call.feature, call.input_tokens, call.cached_tokens),
        *(call.cache_write_tokens, call.output_tokens, call.reasoning_tokens),
        *(json.dumps(call.detail) if call.detail else "{}", call.latency_seconds),
    )
