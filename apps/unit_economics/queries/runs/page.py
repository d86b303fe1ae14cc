"""Head of a page of runs: how many there are, and what their days cost by bucket."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import LiteralString

from psycopg import sql

from apps.accounts.queries.reading import once
from apps.economics.run_time import Bucket
from apps.economics.states import Flag
from apps.ledger.queries.core_time import gpu_time
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window
from apps.unit_economics.models import RunFigures
from apps.unit_economics.queries.runs.values import RunsWanted


@dataclass(frozen=True, slots=True)
class DayOfRuns:
    """A local day of runs in one bucket; micro-units are None where none has a price."""

    day: date
    bucket: Bucket
    status: str
    effective_micros: int | None
    unit_milliseconds: int
    unpriced_milliseconds: int


@dataclass(frozen=True, slots=True)
class RunsSummary:
    """How many runs lived in a window, how many of them failed, and what their days in it cost."""

    runs: int
    failed: int
    days: tuple[DayOfRuns, ...]


def summarize_runs(wanted: RunsWanted, window: Window) -> RunsSummary:
    """Of the wanted runs; what they cost on days outside the window is left out."""
    conditions = _run_conditions(wanted)
    parameters = _run_parameters(wanted, window)
    ((runs, failed),) = rows(COUNTED.format(conditions), parameters)
    days = rows(BY_DAY.format(chosen=conditions, gpu=sql.SQL(gpu_time("day"))), parameters)
    return RunsSummary(
        runs=runs,
        failed=failed,
        days=tuple(DayOfRuns(day, Bucket(bucket), *amounts) for day, bucket, *amounts in days),
    )


def are_any_runs(team_ids: frozenset[int] | None) -> bool:
    """Whether these teams (None: anybody) ever had a run that was summed up."""
    all_runs = RunFigures.objects.all()
    return (all_runs if team_ids is None else all_runs.filter(team_id__in=team_ids)).exists()


COUNTED = sql.SQL("""
SELECT count(*), count(*) FILTER (WHERE figures.status = 'failed')
FROM ledger_runfigures AS figures
WHERE figures.began_at < %(until)s AND coalesce(figures.ended_at, 'infinity') > %(since)s {}
""")

BY_DAY = sql.SQL("""
SELECT day.day, day.bucket::int, day.status, sum(day.effective_micros)::bigint,
       coalesce(sum(day.unit_milliseconds) FILTER (WHERE {gpu}), 0)::bigint,
       sum(day.unpriced_milliseconds)::bigint
FROM ledger_runday AS day JOIN ledger_runfigures AS figures ON figures.run_id = day.run_id
WHERE day.day >= %(first_day)s AND day.day < %(end_day)s AND day.flags & %(shared_idle)s = 0 {chosen}
GROUP BY day.day, day.bucket, day.status
ORDER BY day.day, day.bucket, day.status
""")


def _run_conditions(wanted: RunsWanted) -> sql.Composable:
    conditions = []
    if wanted.team_ids is not None:
        conditions.append(sql.SQL("AND figures.team_id = ANY(%(teams)s)"))
    if wanted.workload_ids is not None:
        conditions.append(sql.SQL("AND figures.workload_id = ANY(%(workloads)s)"))
    if wanted.status is not None:
        conditions.append(sql.SQL("AND figures.status = %(status)s"))
    return sql.SQL(" ").join(conditions)


def _run_parameters(wanted: RunsWanted, window: Window) -> Mapping[str, object]:
    return {
        "since": window.starts_at,
        "until": window.ends_at,
        "first_day": window.first_day,
        "end_day": window.end_day,
        "teams": sorted(wanted.team_ids or ()),
        "workloads": sorted(wanted.workload_ids or ()),
        "status": wanted.status,
        "shared_idle": int(Flag.SHARED_IDLE),
    }


@dataclass(frozen=True, slots=True)
class UsualNumbers:
    """The medians of a workload's other runs; None where fewer than two of them tell the number.

    `run_ids` are all its runs.
    """

    runs: int
    tokens_per_second: float | None
    mfu: float | None
    scaling: float | None
    first_good: float | None
    checkpoint_cost: float | None
    run_ids: list[int]


@once
def usual_numbers(workload_id: int, *, without: int) -> UsualNumbers:
    """Of all runs of the workload but this one; an impossible MFU is none."""
    ((runs, *medians),) = rows(USUAL, {"workload": workload_id, "run": without})
    return UsualNumbers(runs, *medians)


USUAL: LiteralString = """
SELECT count(*) FILTER (WHERE is_other), <medians>, coalesce(array_agg(run_id ORDER BY run_id), '{}')
FROM (
    SELECT *, run_id <> %(run)s AS is_other FROM ledger_runfigures WHERE workload_id = %(workload)s
) AS figures
""".replace(
    "<medians>",
    ", ".join(
        f"CASE WHEN count({number}) FILTER (WHERE {which}) > 1 THEN"
        f" percentile_cont(0.5) WITHIN GROUP (ORDER BY {number}) FILTER (WHERE {which}) END"
        for number, which in (
            ("tokens_per_second", "is_other"),
            ("mfu_ratio", "is_other AND mfu_ratio <= 1"),
            ("scaling_ratio", "is_other"),
            ("first_good_seconds", "is_other"),
            ("checkpoint_micros", "is_other"),
        )
    ),
)
