"""Training runs on the scene's jobs, put straight into the tables."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from apps.economics.minutes import minutes_of, packed
from apps.economics.run_time import Bucket
from apps.fleet.queries import pools
from apps.marks.actions import Mark, mark
from apps.marks.queries import Pass
from apps.workloads.models import Run, RunHour, RunSpan, RunSummary
from tests.apps.ledger import scene

MINUTE_MS = 60_000


def make_run(
    key: str,
    *spans: tuple[int, datetime, datetime],
    workload_id: int | None = None,
    **told: Any,
) -> int:
    """A run that these jobs carried from when to when; with `told`, its summary says so."""
    run = Run.objects.create(key=key, workload_id=workload_id)
    for job_id, starts_at, ends_at in spans:
        RunSpan.objects.create(run=run, job_id=job_id, period=(starts_at, ends_at))
    if told:
        summarise(run.id, **told)
    return run.id


def summarise(run_id: int, **told: Any) -> None:
    """What the run folded to."""
    values = {"told_at": scene.LATER, "folded_at": scene.LATER} | told
    RunSummary.objects.update_or_create(run_id=run_id, defaults=values)


def tell(
    run_id: int, job_id: int, minutes: Mapping[Bucket, int], hour: datetime = scene.TEN, **sums: Any
) -> None:
    """How many minutes of an hour went where."""
    bucket_ms = [minutes.get(bucket, 0) * MINUTE_MS for bucket in Bucket]
    RunHour.objects.create(run_id=run_id, job_key=job_id, hour=hour, bucket_ms=bucket_ms, **sums)


def tell_when(
    run_id: int, job_id: int, *stretches: tuple[Bucket, int, int], hour: datetime = scene.TEN
) -> None:
    """From which minute of an hour to which it was in which bucket."""
    spans = {
        bucket: [
            (since * MINUTE_MS, until * MINUTE_MS) for of, since, until in stretches if of is bucket
        ]
        for bucket, _, _ in stretches
    }
    tell(
        run_id,
        job_id,
        {bucket: sum(e - s for s, e in of) // MINUTE_MS for bucket, of in spans.items()},
        hour,
    )
    kept = packed({int(bucket): minutes_of(of) for bucket, of in spans.items()})
    RunHour.objects.filter(run_id=run_id, job_key=job_id, hour=hour).update(minutes=kept)


def make_energy(uuids: Sequence[str], joules: float, hour: datetime = scene.TEN) -> None:
    """Each of these GPUs drew so much in the hour."""
    ids = scene.device_ids(uuids)
    for device_id in ids:
        scene.make_usage(device_id, [240] * 60, hour=hour)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE telemetry_usagehour SET energy_joules = %s"
            " WHERE hour = %s AND device_id = ANY(%s)",
            [joules, hour, ids],
        )


def make_tensor(
    uuids: Sequence[str], worked: float, watched: float, hour: datetime = scene.TEN
) -> None:
    """In the hour each of these GPUs' tensor cores worked so long while watched."""
    ids = scene.device_ids(uuids)
    for device_id in ids:
        scene.make_usage(device_id, [240] * 60, hour=hour)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE telemetry_usagehour SET tensor_seconds = %s, tensor_observed_seconds = %s"
            " WHERE hour = %s AND device_id = ANY(%s)",
            [worked, watched, hour, ids],
        )


def give_to(workload_id: int, *run_ids: int) -> None:
    """These runs were told to be this workload's."""
    Run.objects.filter(id__in=run_ids).update(workload_id=workload_id)


def mark_day(hour: datetime) -> None:
    """The day that begins with midnight before `hour` waits for the roll-up of every pool."""
    midnight = hour.replace(hour=0)
    with transaction.atomic():
        mark([Mark(Pass.ROLLUP, pool_id, midnight) for pool_id in pools()])
