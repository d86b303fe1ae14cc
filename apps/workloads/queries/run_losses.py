"""The losses that a run reported, as far as they say whether it went wrong."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any, LiteralString

from django.db import connection

from apps.economics.hours import HOUR, hour_of
from apps.economics.run_divergence import ReportedLoss
from apps.economics.spans import END_OF_TIME
from apps.workloads.queries.run_fold_facts import FoldAttemptRow

Cell = tuple[int, datetime | None, datetime]
"""An attempt, and from when to when its last report is looked for."""
Asked = tuple[str, Cell]
"""Of which measure it is asked."""


def losses_of(
    attempts: Sequence[FoldAttemptRow], backs: Collection[datetime]
) -> dict[str, list[ReportedLoss]]:
    """Every measure that is better lower, by name: of each hour of each attempt the last report.

    `backs` are when the run went back to a checkpoint: what was before and after is kept apart.
    Where hours begin to end in no finite number it is the first of these since the last number.
    Reads about as many rows as there are hours, however often a loss was reported.
    """
    newest = _newest_reports([cell for attempt in attempts for cell in _cells_of(attempt, backs)])
    first_wrong = _first_wrong_reports(list(_turning_wrong(newest, backs)))
    losses: dict[str, list[ReportedLoss]] = {}
    for loss_cell, report in newest.items():
        at, step = first_wrong.get(loss_cell, (report.at, report.step))
        losses.setdefault(loss_cell[0], []).append(replace(report, at=at, step=step))
    return losses


def _cells_of(attempt: FoldAttemptRow, backs: Iterable[datetime]) -> Iterator[Cell]:
    """Its hours, cut where the run went back; what it reported of a time outside of it is in the outermost."""
    first, until = hour_of(attempt.began_at), attempt.until
    hours = (first + number * HOUR for number in range(1, (until - first) // HOUR + 1))
    cuts = sorted({*hours, *(back for back in backs if first < back <= until)})
    starts = [None, *cuts]
    yield from ((attempt.id, start, end) for start, end in pairwise([*starts, END_OF_TIME]) if end)


def _newest_reports(cells: Sequence[Cell]) -> dict[Asked, ReportedLoss]:
    """By measure and attempt, in the order of time; cells without a report are left out."""
    with connection.cursor() as cursor:
        cursor.execute(NEWEST, _columns_of(cells))
        return {
            (name, cells[place - 1]): ReportedLoss(at, value, step)
            for name, place, at, value, step in cursor
        }


def _turning_wrong(
    newest: Mapping[Asked, ReportedLoss], backs: Collection[datetime]
) -> Iterator[Asked]:
    """The cells that end in no number where the one before did not, or was before a going back."""
    before: Asked | None = None
    for loss_cell, report in newest.items():
        name, (attempt_id, _, _) = loss_cell
        goes_on = (
            before is not None
            and (before[0], before[1][0]) == (name, attempt_id)
            and not newest[before].is_number
            and not any(newest[before].at < back <= report.at for back in backs)
        )
        if not report.is_number and not goes_on:
            yield loss_cell
        before = loss_cell


def _first_wrong_reports(loss_cells: Sequence[Asked]) -> dict[Asked, tuple[datetime, int | None]]:
    """The first report after the last finite number in each of these, which end in none."""
    if not loss_cells:
        return {}
    with connection.cursor() as cursor:
        columns = _columns_of([cell for _, cell in loss_cells])
        cursor.execute(FIRST_WRONG, {**columns, "names": [name for name, _ in loss_cells]})
        return {loss_cells[place - 1]: (at, step) for place, at, step in cursor}


def _columns_of(cells: Sequence[Cell]) -> dict[str, list[Any]]:
    return {
        "attempts": [attempt_id for attempt_id, _, _ in cells],
        "starts": [starts_at for _, starts_at, _ in cells],
        "ends": [ends_at for _, _, ends_at in cells],
    }


# The names of an attempt are found by the index, one after the other: it may have reported millions.
NEWEST: LiteralString = """
WITH RECURSIVE named (attempt_id, name) AS (
    SELECT asked.id, (SELECT min(score.name) FROM workloads_runscore AS score WHERE score.attempt_id = asked.id)
    FROM (SELECT DISTINCT unnest(%(attempts)s::int8[])) AS asked (id)
    UNION ALL
    SELECT named.attempt_id, (SELECT min(score.name) FROM workloads_runscore AS score
                              WHERE score.attempt_id = named.attempt_id AND score.name > named.name)
    FROM named WHERE named.name IS NOT NULL
)
SELECT named.name, cell.place, newest.at, newest.value, newest.step
FROM named
JOIN unnest(%(attempts)s::int8[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
    WITH ORDINALITY AS cell (attempt_id, starts_at, ends_at, place) ON cell.attempt_id = named.attempt_id
CROSS JOIN LATERAL (
    SELECT score.at FROM workloads_runscore AS score
    WHERE score.attempt_id = cell.attempt_id AND score.name = named.name AND NOT score.higher_is_better
      AND score.at >= coalesce(cell.starts_at, '-infinity') AND score.at < cell.ends_at
    ORDER BY score.at DESC LIMIT 1
) AS last
CROSS JOIN LATERAL (
    SELECT score.at, score.value, score.step FROM workloads_runscore AS score
    WHERE score.attempt_id = cell.attempt_id AND score.name = named.name AND NOT score.higher_is_better
      AND score.at = last.at
    ORDER BY score.value IS NULL DESC, score.value DESC, score.step DESC LIMIT 1
) AS newest
WHERE named.name IS NOT NULL
ORDER BY named.name, cell.place
"""
FIRST_WRONG: LiteralString = """
SELECT cell.place, wrong.at, wrong.step
FROM unnest(%(names)s::text[], %(attempts)s::int8[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
    WITH ORDINALITY AS cell (name, attempt_id, starts_at, ends_at, place)
CROSS JOIN LATERAL (
    SELECT max(score.at) FILTER (WHERE score.value IS NOT NULL) AS at FROM workloads_runscore AS score
    WHERE score.attempt_id = cell.attempt_id AND score.name = cell.name AND NOT score.higher_is_better
      AND score.at >= coalesce(cell.starts_at, '-infinity') AND score.at < cell.ends_at
) AS number
CROSS JOIN LATERAL (
    SELECT score.at, score.step FROM workloads_runscore AS score
    WHERE score.attempt_id = cell.attempt_id AND score.name = cell.name AND NOT score.higher_is_better
      AND score.value IS NULL AND score.at >= coalesce(number.at, cell.starts_at, '-infinity')
      AND score.at < cell.ends_at
    ORDER BY score.at, score.step LIMIT 1
) AS wrong
"""
