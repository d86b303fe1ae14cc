"""Pieces of the made-up company of known savings: what runs report, what services answer, slices and covered charges."""

import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal

from apps.economics.run_time import Bucket
from apps.fleet.models import Device, Node
from apps.ledger.models import Charge, ChargePiece
from apps.unit_economics.models import ServiceTotal
from apps.workloads.models import Allocation, Job, Workload
from apps.workloads.models.business_value import WorkloadValue
from tests import make
from tests.apps.review.pool_scene import AT, BEGUN, HOUR, Part, held, idle
from tests.apps.unit_economics.planted_runs import (
    plant_attempt,
    plant_hour,
    plant_job,
    plant_run,
    plant_save,
)

DAYS, SECOND = 28, timedelta(seconds=1)


What = Callable[[int, int], Sequence[Part] | None]
"""What is on a machine in an hour; None: it is not in service."""


def always(*parts: Part) -> What:
    """The same on every machine in every hour."""
    return lambda hour, machine: parts


def by_night(part: Part, else_part: Part, hours: int) -> What:
    """One part in so many first hours of a day, else the other."""
    return lambda hour, machine: [part if hour % 24 < hours else else_part]


def replicas(service: Workload, jobs: Sequence[int], part: float) -> list[Part]:
    """Four replicas of two GPUs, each active for a part of the hour."""
    return [
        piece
        for job_id in jobs
        for piece in (held(service, 2 * part, job_id), idle(service, 2 * (1 - part), job_id))
    ]


def paid(write: float, mtbf: float) -> Callable[[float], float]:
    """Time paid for a second of training at a cadence, up to a factor: M ÷ τ × (e^((τ + δ) ÷ M) − 1)."""
    return lambda cadence: mtbf / cadence * math.expm1((cadence + write) / mtbf)


def failing_run(workload: Workload, *, saves: int, failed: int) -> None:
    """A run of 100 hours on a machine that saved so often, at its end too, each a minute, in starts of which so many ended badly."""
    began_at = AT - 113 * HOUR
    run_id = plant_run(
        f"run-{workload.pk}", workload.pk, gpus=8, began_at=began_at, ended_at=began_at + 100 * HOUR,
        attempts=failed + 1,
    )  # fmt: skip
    part, attempt = 100 * HOUR / (failed + 1), 0
    for place in range(failed + 1):
        begins = began_at + place * part
        attempt = plant_attempt(
            run_id, job_id=plant_job(f"{workload.pk} {place}", begins), began_at=begins, ended_at=begins + part,
            status="interrupted" if place < failed else "finished",
        )  # fmt: skip
    for count in range(100):
        plant_hour(run_id, 1, {Bucket.PRODUCTIVE: 60}, began_at + count * HOUR)
    for count in range(saves):
        plant_save(attempt, began_at + (count + 1) * timedelta(hours=100 / saves) - SECOND, 60)


def count_requests(service: Workload, requests: int) -> None:
    ServiceTotal.objects.bulk_create(
        ServiceTotal(
            day=day, posting_month=day.replace(day=1), workload_id=service.pk, measure="effective",
            unit_milliseconds=1, unpriced_milliseconds=0, held_milliseconds=1, observed_milliseconds=1, statuses=2,
            idle_micros=0 if requests else 1_000, answered_micros=1_000 if requests else None,
            requests=requests, succeeded=requests,
        )
        for day in ((BEGUN + timedelta(days=place)).date() for place in range(DAYS))
    )  # fmt: skip


def state_value(workload: Workload, of_week: float) -> None:
    amount = round(Decimal(of_week), 2)
    WorkloadValue.objects.create(
        workload=workload, unit="week", low=amount, high=amount, valid_from=BEGUN.date(), stated_name="bench",
        stated_at=AT,
    )  # fmt: skip


def cut(node: Node, taken: int) -> None:
    """Its first GPU into seven slices, of which one job holds so many."""
    parent = make.make_device(f"GPU-{node.pk}", node_id=node.pk, at=BEGUN)
    uuids = [f"MIG-{node.pk}-{place}" for place in range(7)]
    Device.objects.bulk_create(
        Device(
            node=node, uuid=uuid, kind="mig", parent_id=parent, compute_slices=1, memory_slices=1,
            profile="1g.10gb", period=(BEGUN, None),
        )
        for uuid in uuids
    )  # fmt: skip
    if taken:
        job = Job.objects.create(
            cluster_id=make.make_cluster(), raw_id=f"slices-{node.pk}", opened_at=BEGUN
        )
        Allocation.objects.create(
            job=job, node=node, node_name=node.name, gpus_numerator=taken, gpus_denominator=7,
            device_uuids=uuids[:taken], period=(BEGUN, None),
        )  # fmt: skip


def cover(commitment_id: int, pool_id: int, *, on_demand: int) -> None:
    """Its charges are covered, at what they would cost by the hour; half of the commitment is used by nobody."""
    charges = list(Charge.objects.filter(pool_id=pool_id))
    ChargePiece.objects.bulk_create(
        ChargePiece(
            charge=charge, start_ms=0, end_ms=3_600_000, list_micros=on_demand, contracted_micros=on_demand,
            effective_micros=24_000_000, commitment_id=commitment_id,
        )
        for charge in charges
    )  # fmt: skip
    Charge.objects.bulk_create(
        Charge(
            kind="commitment_unused", commitment_id=commitment_id, hour=charge.hour, through=charge.through,
            posting_month=charge.posting_month, status="estimated", currency="USD", digest=b"",
            effective_micros=24_000_000,
        )
        for charge in charges
    )  # fmt: skip
