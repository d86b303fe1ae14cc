"""Runs of which something new is known: they are folded again from there on."""

from collections.abc import Mapping
from datetime import datetime

from django.db import connection


def touch_runs(since: Mapping[int, datetime], at: datetime) -> None:
    """Have these runs folded again, each from this moment on; in the transaction of the change.

    A fold that runs meanwhile holds the run's row, so what commits after it is later than it.
    """
    if not since:
        return
    run_ids = sorted(since)
    with connection.cursor() as cursor:
        cursor.execute(TOUCHING, [at, run_ids, [since[run_id] for run_id in run_ids]])


TOUCHING = """
INSERT INTO workloads_runsummary AS kept (
    run_id, told_at, changed_from, status, attempts, jobs, model, tags, steps, tokens,
    redone_tokens, examples, flops, good_checkpoints, dropped
)
SELECT since.run_id, %s, since.moment, '', 0, 0, '{}', '{}', 0, 0, 0, 0, 0, 0, 0
FROM unnest(%s::int8[], %s::timestamptz[]) AS since (run_id, moment)
ORDER BY since.run_id
ON CONFLICT (run_id) DO UPDATE SET
    told_at = greatest(
        excluded.told_at, kept.told_at, kept.folded_at + interval '1 microsecond'
    ),
    changed_from = CASE
        WHEN kept.told_at > kept.folded_at AND kept.changed_from IS NULL THEN NULL
        ELSE least(kept.changed_from, excluded.changed_from)
    END
"""
