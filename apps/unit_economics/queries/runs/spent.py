"""Spend of runs in a span of days, by bucket: the sums that curves, verdicts and advice stand on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import LiteralString

from django.db.models import F, Q, Subquery

from apps.accounts.queries.reading import once
from apps.economics.money import sum_of_known
from apps.economics.run_time import Bucket
from apps.economics.states import Flag
from apps.ledger.queries.core_time import gpu_time
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window
from apps.unit_economics.models import RunFigures
from apps.unit_economics.queries.runs.values import RunAmounts

FAILED = "failed"
"""How a run that ended with an error ended."""
BY_BUCKET: LiteralString = """
SELECT run_id = ANY(%(apart)s), bucket, sum(effective_micros)::int8,
       coalesce(sum(unit_milliseconds) FILTER (WHERE <gpu>), 0)::int8,
       sum(unpriced_milliseconds)::int8,
       sum(energy_joules)
FROM ledger_runday
WHERE run_id = ANY(%(runs)s) AND flags & %(shared_idle)s = 0
  AND (%(from)s::date IS NULL OR day >= %(from)s) AND (%(to)s::date IS NULL OR day < %(to)s)
GROUP BY 1, bucket ORDER BY 1, bucket
""".replace("<gpu>", gpu_time())


# Idle that is shared out is in `loaded_micros` alone.
PARTS: LiteralString = """
SELECT run_id, day, job_id, bucket, status, array_agg(DISTINCT coalesce(pool_id, 0)),
       sum(list_micros) FILTER (WHERE is_charged)::int8,
       sum(contracted_micros) FILTER (WHERE is_charged)::int8,
       sum(effective_micros) FILTER (WHERE is_charged)::int8,
       sum(billed_micros) FILTER (WHERE is_charged)::int8,
       sum(marginal_micros) FILTER (WHERE is_charged)::int8,
       sum(effective_micros)::int8,
       coalesce(sum(unit_milliseconds) FILTER (WHERE is_charged AND is_gpu), 0)::int8,
       coalesce(sum(unpriced_milliseconds) FILTER (WHERE is_charged), 0)::int8,
       sum(energy_joules) FILTER (WHERE is_charged)
FROM (
    SELECT *, flags & %(shared_idle)s = 0 AS is_charged, <gpu> AS is_gpu
    FROM ledger_runday WHERE run_id = ANY(%(runs)s)
) AS part
GROUP BY run_id, day, job_id, bucket, status
ORDER BY run_id, day, job_id, bucket, status
""".replace("<gpu>", gpu_time())


@dataclass(frozen=True, slots=True)
class RunCostPart:
    """The cost of a run on a day, by a job, in a bucket, with one status."""

    day: date
    job_id: int
    bucket: Bucket
    status: str
    pool_ids: tuple[int, ...]
    amounts: RunAmounts


@dataclass(frozen=True, slots=True)
class BucketCost:
    """A bucket's effective cost (None: nothing of it has a price) and GPU time."""

    bucket: Bucket
    micros: int | None
    unit_milliseconds: int
    unpriced_milliseconds: int


@dataclass(frozen=True, slots=True)
class BucketSpent(BucketCost):
    """A bucket's cost and energy."""

    energy_joules: float | None


def spent_of_run(run_id: int, window: Window | None) -> list[BucketSpent]:
    """Return the spend of a run on the window's days (all days without one), idle shared out aside."""
    if window is not None:
        return spent_apart([run_id], [], window)[1]
    return spent_together(
        BucketSpent(
            part.bucket,
            part.amounts.effective_micros,
            part.amounts.unit_milliseconds,
            part.amounts.unpriced_milliseconds,
            part.amounts.energy_joules,
        )
        for part in parts_of_runs([run_id])[run_id]
    )


@once
def parts_of_runs(run_ids: list[int]) -> dict[int, list[RunCostPart]]:
    """The parts of each of these runs on all days, also of one that has none."""
    parts_by_run: dict[int, list[RunCostPart]] = {run_id: [] for run_id in run_ids}
    for run_id, day, job_id, bucket, status, pool_ids, *amounts in rows(
        PARTS, {"runs": run_ids, "shared_idle": int(Flag.SHARED_IDLE)}
    ):
        part = RunCostPart(
            day, job_id, Bucket(bucket), status, tuple(pool_ids), RunAmounts(*amounts)
        )
        parts_by_run[run_id].append(part)
    return parts_by_run


@once
def spent_apart(
    run_ids: list[int], apart: list[int], window: Window | None
) -> tuple[list[BucketSpent], list[BucketSpent]]:
    """Return the spend of those of these runs that are in `apart`, and of all others."""
    spent_rows = rows(
        BY_BUCKET,
        {
            "runs": run_ids,
            "apart": apart,
            "shared_idle": int(Flag.SHARED_IDLE),
            "from": window and window.first_day,
            "to": window and window.end_day,
        },
    )
    of_apart: list[BucketSpent] = []
    of_others: list[BucketSpent] = []
    for is_apart, bucket, *sums in spent_rows:
        (of_apart if is_apart else of_others).append(BucketSpent(Bucket(bucket), *sums))
    return of_apart, of_others


def spent_of_workload(
    workload_id: int, window: Window
) -> tuple[list[BucketSpent], list[BucketSpent]]:
    """Return the spend of a workload's failed runs on the window's days, and that of its others."""
    runs = runs_of_window(workload_id, window)
    failed = [run.run_id for run in runs if run.status == FAILED]
    return spent_apart([run.run_id for run in runs], failed, window)


def spent_together(parts: Iterable[BucketSpent]) -> list[BucketSpent]:
    """One for each bucket, in their order; what has no price adds nothing to what has."""
    of_bucket: dict[Bucket, list[BucketSpent]] = {}
    for part in parts:
        of_bucket.setdefault(part.bucket, []).append(part)
    return [
        BucketSpent(
            bucket,
            micros_of(of),
            sum(part.unit_milliseconds for part in of),
            sum(part.unpriced_milliseconds for part in of),
            sum_of_known(part.energy_joules for part in of),
        )
        for bucket, of in sorted(of_bucket.items())
    ]


_BEGUN = RunFigures.objects.filter(began_at__isnull=False).order_by("began_at", "run_id")


@once
def runs_of_window(workload_id: int, window: Window) -> list[RunFigures]:
    """The runs of a workload that lived in the window, the one begun last first; see also `first_began_at`."""
    overlaps = Q(ended_at__isnull=True) | Q(ended_at__gt=window.starts_at)
    runs = RunFigures.objects.filter(overlaps, workload_id=workload_id, began_at__lt=window.ends_at)
    latest_first = runs.order_by(F("began_at").desc(), "run_id")
    annotated = latest_first.annotate(first_of_all=Subquery(_BEGUN.values("began_at")[:1]))
    return list(annotated.defer("bucket_micros", "bucket_unit_ms"))


def first_began_at(runs: Sequence[RunFigures]) -> datetime | None:
    """When the first run of all began, whose ever it was, as read along with these; None where none is known."""
    if runs:
        first: datetime | None = vars(runs[0])["first_of_all"]
        return first
    return _BEGUN.values_list("began_at", flat=True).first()


def micros_of(parts: Iterable[BucketSpent]) -> int | None:
    """The sum of what has a price; None where nothing has."""
    return sum_of_known(part.micros for part in parts)
