"""How training saves: what a checkpoint holds it up, the training between two, and what a start takes."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from apps.economics.run_time import Bucket
from apps.ledger.queries.windows import Window as DayWindow
from apps.unit_economics.models import RunFigures
from apps.workloads.queries.run_facts import ClockHour, clock_hours
from apps.workloads.queries.run_reports import CheckpointSave, checkpoint_saves

TRAINING = (
    *(Bucket.PRODUCTIVE, Bucket.COMMUNICATION, Bucket.DATA_WAIT, Bucket.LOST, Bucket.DIVERGED),
)
"""Time that an interruption may undo."""
STARTING = (Bucket.STARTUP, Bucket.RECOVERY)
MS_PER_SECOND = 1000
NEWEST_RUNS = 3


@dataclass(frozen=True, slots=True)
class MeasuredSaves:
    """Of a run: how many checkpoints, what each held it up, and the training between two, in seconds."""

    saves: int
    write_seconds: float | None
    cadence_seconds: float | None


@dataclass(frozen=True, slots=True)
class TrainingHabit:
    """A workload's newest run that saved checkpoints, else its newest run. `start_seconds` is of one start, None where
    no start was reported; `gpus` what it held at most."""

    run_id: int
    run_key: str
    gpus: int | None
    saved: MeasuredSaves
    start_seconds: float | None


def measured_saves(saves: Sequence[CheckpointSave], hours: Iterable[ClockHour]) -> MeasuredSaves:
    """Of one run's saves and its hours by the clock."""
    if not saves:
        return MeasuredSaves(0, None, None)
    training = _clock_ms(hours, TRAINING)
    return MeasuredSaves(
        saves=len(saves),
        write_seconds=sum(save.milliseconds for save in saves) / MS_PER_SECOND / len(saves),
        cadence_seconds=training / MS_PER_SECOND / len(saves) or None,
    )


def training_habits(workload_ids: Collection[int], window: DayWindow) -> dict[int, TrainingHabit]:
    """By workload, of its newest runs that lived in the window; none of a workload that had none. Three statements."""
    newest = Window(
        RowNumber(), partition_by="workload_id", order_by=[F("began_at").desc(nulls_last=True)]
    )
    newest_runs = (
        RunFigures.objects.filter(workload_id__in=workload_ids, began_at__lt=window.ends_at)
        .exclude(ended_at__lte=window.starts_at)
        .annotate(place=newest)
        .filter(place__lte=NEWEST_RUNS)
        .order_by("workload_id", "place")
        .values_list("workload_id", "run_id", "key", "gpus", "attempts")
    )
    runs = list(newest_runs)
    run_ids = [row[1] for row in runs]
    saves = checkpoint_saves(run_ids) if run_ids else {}
    clock = clock_hours(run_ids) if run_ids else []
    hours = {run_id: list(group) for run_id, group in groupby(clock, lambda hour: hour.run_id)}
    habits: dict[int, TrainingHabit] = {}
    for workload_id, run_id, key, gpus, attempts in runs:
        is_better = workload_id in habits and not habits[workload_id].saved.saves
        if workload_id not in habits or (is_better and saves.get(run_id)):
            of_run = hours.get(run_id, [])
            starting = _clock_ms(of_run, STARTING) / MS_PER_SECOND
            habits[workload_id] = TrainingHabit(
                run_id,
                key,
                gpus,
                measured_saves(saves.get(run_id, []), of_run),
                starting / attempts if attempts and starting else None,
            )
    return habits


def _clock_ms(hours: Iterable[ClockHour], buckets: Collection[Bucket]) -> int:
    return sum(hour.bucket_ms[bucket] for hour in hours for bucket in buckets)
