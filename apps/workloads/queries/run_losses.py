"""The losses that a run reported, as far as they say whether it went wrong."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import LiteralString

from django.db import connection

from apps.economics.hours import HOUR, hour_of
from apps.economics.run_divergence import ReportedLoss
from apps.economics.spans import END_OF_TIME
from apps.workloads.queries.run_fold_facts import FoldAttemptRow

Cell = tuple[int, datetime | None, datetime]
"""An attempt, and from when to when its last report is looked for."""


def losses_of(
    attempts: Sequence[FoldAttemptRow], backs: Iterable[datetime]
) -> dict[str, list[ReportedLoss]]:
    """Every measure that is better lower, by name: of each hour of each attempt the last report.

    `backs` are when the run went back to a checkpoint: before and after is told apart. Of an hour
    that ends in no finite number it is the first of these since its last number. Reads as many rows
    as there are hours, however often a loss was reported.
    """
    cells = [cell for attempt in attempts for cell in _cells_of(attempt, sorted(backs))]
    if not cells:
        return {}
    told, starts, ends = zip(*cells, strict=True)
    losses: dict[str, list[ReportedLoss]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            LOSSES,
            {
                "attempts": [attempt.id for attempt in attempts],
                "told": list(told),
                "starts": list(starts),
                "ends": list(ends),
            },
        )
        for name, at, value, step in cursor:
            losses.setdefault(name, []).append(ReportedLoss(at, value, step))
    return losses


def _cells_of(attempt: FoldAttemptRow, backs: Sequence[datetime]) -> Iterator[Cell]:
    """Its hours, cut where the run went back; what it reported of a time outside of it is in the outermost."""
    first, until = hour_of(attempt.began_at), attempt.until
    hours = (first + number * HOUR for number in range(1, (until - first) // HOUR + 1))
    cuts = sorted({*hours, *(back for back in backs if first < back <= until)})
    starts = [None, *cuts]
    yield from ((attempt.id, start, end) for start, end in pairwise([*starts, END_OF_TIME]) if end)


# The names of an attempt are found by the index, one after the other: it may have reported millions.
LOSSES: LiteralString = """
WITH RECURSIVE named (attempt_id, name) AS (
    SELECT asked.id, (SELECT min(score.name) FROM workloads_runscore AS score WHERE score.attempt_id = asked.id)
    FROM unnest(%(attempts)s::int8[]) AS asked (id)
    UNION ALL
    SELECT named.attempt_id, (SELECT min(score.name) FROM workloads_runscore AS score
                              WHERE score.attempt_id = named.attempt_id AND score.name > named.name)
    FROM named WHERE named.name IS NOT NULL
)
SELECT named.name, coalesce(wrong.at, newest.at), newest.value, coalesce(wrong.step, newest.step)
FROM named
JOIN unnest(%(told)s::int8[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
    AS cell (attempt_id, starts_at, ends_at) ON cell.attempt_id = named.attempt_id
CROSS JOIN LATERAL (
    SELECT score.at, score.value, score.step FROM workloads_runscore AS score
    WHERE score.attempt_id = cell.attempt_id AND score.name = named.name AND NOT score.higher_is_better
      AND score.at >= coalesce(cell.starts_at, '-infinity') AND score.at < cell.ends_at
    ORDER BY score.at DESC, score.value IS NULL DESC, score.value DESC, score.step DESC LIMIT 1
) AS newest
LEFT JOIN LATERAL (
    SELECT score.at, score.step FROM workloads_runscore AS score
    WHERE score.attempt_id = cell.attempt_id AND score.name = named.name AND NOT score.higher_is_better
      AND score.at < cell.ends_at AND score.value IS NULL AND score.at > coalesce((
          SELECT max(number.at) FROM workloads_runscore AS number
          WHERE number.attempt_id = cell.attempt_id AND number.name = named.name
            AND NOT number.higher_is_better AND number.value IS NOT NULL
            AND number.at >= coalesce(cell.starts_at, '-infinity') AND number.at < cell.ends_at
      ), cell.starts_at - interval '1 microsecond', '-infinity')
    ORDER BY score.at, score.step LIMIT 1
) AS wrong ON newest.value IS NULL
ORDER BY named.name, 2, newest.value IS NULL, 4
"""
