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

BY_BUCKET: LiteralString = """
SELECT bucket, sum(effective_micros)::int8,
       coalesce(sum(unit_milliseconds) FILTER (WHERE <gpu>), 0)::int8,
       sum(unpriced_milliseconds)::int8,
       sum(energy_joules)
FROM ledger_runday
WHERE run_id = ANY(%(runs)s) AND flags & %(shared_idle)s = 0
  AND (%(from)s::date IS NULL OR day >= %(from)s) AND (%(to)s::date IS NULL OR day < %(to)s)
GROUP BY bucket ORDER BY bucket
""".replace("<gpu>", gpu_time())


@dataclass(frozen=True, slots=True)
class BucketSpent:
    """A bucket's effective cost (None: nothing of it has a price), GPU time and energy."""

    bucket: Bucket
    micros: int | None
    unit_milliseconds: int
    unpriced_milliseconds: int
    energy_joules: float | None


@once
def spent_by_bucket(run_ids: list[int], window: Window | None) -> list[BucketSpent]:
    """What these runs spent on the window's days (all days without one), idle shared out aside."""
    found = rows(
        BY_BUCKET,
        {
            "runs": run_ids,
            "shared_idle": int(Flag.SHARED_IDLE),
            "from": window and window.first_day,
            "to": window and window.end_day,
        },
    )
    return [BucketSpent(Bucket(bucket), *sums) for bucket, *sums in found]


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
