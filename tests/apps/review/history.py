"""Weeks of a service's and of a training programme's days, put straight into the roll-ups."""

import random
from collections.abc import Callable
from datetime import date, timedelta

from apps.economics.run_time import Bucket
from apps.unit_economics.models import RunDay, ServiceDay, ServicePart, ServiceTotal
from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import Job, Run
from tests import make

FIRST = date(2026, 1, 5)
"""A Monday."""
DAYS = 60
STEP = 50
HOUR_MS = 3_600_000
CHANGED_ON = FIRST + timedelta(days=STEP)


def noise(day: int, size: float = 0.02) -> float:
    """A little of either sign, the same for a day each time."""
    return 1 + random.Random(day).gauss(0, size)  # noqa: S311 - a simulation, not a secret


def make_service_days(
    service_id: int, team_id: int, pool_id: int, *, price: Callable[[int], float], days: int = DAYS
) -> None:
    """Days of 100 GPU-hours and about 50,000 requests; `price` gives dollars a GPU-hour by day."""
    for day in range(days):
        on = FIRST + timedelta(days=day)
        micros, unit_ms = round(100 * price(day) * 1_000_000), 100 * HOUR_MS
        requests = round(50_000 * noise(day))
        values = {"answered_micros": micros, "stated_micros": micros, "active_micros": micros}
        ServiceTotal.objects.create(
            day=on,
            posting_month=on.replace(day=1),
            workload_id=service_id,
            measure="effective",
            **values,
            unit_milliseconds=unit_ms,
            unpriced_milliseconds=0,
            held_milliseconds=unit_ms,
            observed_milliseconds=unit_ms,
            statuses=2,
            requests=requests,
            succeeded=requests,
            prompt_tokens=requests * 800,
            cached_tokens=0,
            output_tokens=requests * 200,
        )
        ServiceDay.objects.create(
            day=on,
            posting_month=on.replace(day=1),
            status="estimated",
            kind="node_hour",
            pool_id=pool_id,
            team_id=team_id,
            workload_id=service_id,
            part=ServicePart.ANSWERED,
            state=1,
            flags=0,
            effective_micros=micros,
            unit_milliseconds=unit_ms,
            unpriced_milliseconds=0,
        )


def make_run_days(team_id: int, pool_id: int, *, waited: Callable[[int], float]) -> int:
    """A programme that runs day and night; `waited` gives the share of data wait by day."""
    workload_id = add_workload(name="llm-7b", team_id=team_id, kind="training")
    run = Run.objects.create(key="llm-7b-v1", workload_id=workload_id)
    job = Job.objects.create(
        cluster_id=make.make_cluster(), raw_id="77", opened_at=make.NOON, started_at=make.NOON
    )
    for day in range(DAYS):
        on = FIRST + timedelta(days=day)
        wait_ms = round(192 * HOUR_MS * waited(day))
        for bucket, unit_ms in (
            (Bucket.DATA_WAIT, wait_ms),
            (Bucket.PRODUCTIVE, 192 * HOUR_MS - wait_ms),
        ):
            RunDay.objects.create(
                day=on,
                posting_month=on.replace(day=1),
                status="estimated",
                kind="node_hour",
                pool_id=pool_id,
                run=run,
                job=job,
                team_id=team_id,
                workload_id=workload_id,
                bucket=bucket,
                state=1,
                flags=0,
                effective_micros=round(unit_ms / HOUR_MS * 2_000_000),
                unit_milliseconds=unit_ms,
                unpriced_milliseconds=0,
            )
    return workload_id
