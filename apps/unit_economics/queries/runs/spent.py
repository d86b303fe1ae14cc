"""What runs spent in a span of days, by bucket: the sums that curves, verdicts and advice stand on."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import LiteralString

from django.db.models import F, Q

from apps.accounts.queries.reading import once
from apps.economics.money import sum_of_known
from apps.economics.run_time import Bucket
from apps.economics.states import Flag
from apps.ledger.queries.core_time import gpu_time
from apps.ledger.queries.tables import rows
from apps.ledger.queries.windows import Window
from apps.unit_economics.models import RunFigures

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


@dataclass(frozen=True, slots=True)
class BucketSpent:
    """A bucket's effective cost (None: nothing of it has a price), GPU time and energy."""

    bucket: Bucket
    micros: int | None
    unit_milliseconds: int
    unpriced_milliseconds: int
    energy_joules: float | None


def spent_by_bucket(run_ids: list[int], window: Window | None) -> list[BucketSpent]:
    """What these runs spent on the window's days (all days without one), idle shared out aside."""
    return spent_apart(run_ids, [], window)[1]


@once
def spent_apart(
    run_ids: list[int], apart: list[int], window: Window | None
) -> tuple[list[BucketSpent], list[BucketSpent]]:
    """The same of those of these runs that are in `apart`, and of all others."""
    found = rows(
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
    for is_apart, bucket, *sums in found:
        (of_apart if is_apart else of_others).append(BucketSpent(Bucket(bucket), *sums))
    return of_apart, of_others


def spent_of_workload(
    workload_id: int, window: Window
) -> tuple[list[BucketSpent], list[BucketSpent]]:
    """What a workload's runs that failed spent on the window's days, and what its others did."""
    found = runs_of_window(workload_id, window)
    failed = [run.run_id for run in found if run.status == FAILED]
    return spent_apart([run.run_id for run in found], failed, window)


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


@once
def figures_of_run(run_id: int) -> RunFigures | None:
    """What a run came to as a whole; None where nothing of it was summed up yet."""
    return RunFigures.objects.filter(run_id=run_id).first()


@once
def runs_of_window(workload_id: int, window: Window) -> list[RunFigures]:
    """The runs of a workload that lived in the window, the one begun last first."""
    lived = Q(ended_at__isnull=True) | Q(ended_at__gt=window.starts_at)
    found = RunFigures.objects.filter(lived, workload_id=workload_id, began_at__lt=window.ends_at)
    latest_first = found.order_by(F("began_at").desc(), "run_id")
    return list(latest_first.defer("bucket_micros", "bucket_unit_ms"))


def micros_of(parts: Iterable[BucketSpent]) -> int | None:
    """The sum of what has a price; None where nothing has."""
    return sum_of_known(part.micros for part in parts)
