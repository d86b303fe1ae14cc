"""Four settled weeks of pools, machine by machine and hour by hour, put straight into the ledger."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Max

from apps.accounts.queries import special_teams
from apps.economics.hours import HOUR_MS
from apps.economics.states import State
from apps.fleet.models import Node
from apps.ledger.actions.partitions import ensure_month
from apps.ledger.models import Charge, ChargePart, LedgerDay, Line
from apps.workloads.models import Allocation, Job, Workload
from tests import make
from tests.copied_rows import copy_rows, next_ids

HOUR = timedelta(hours=1)
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
AT = MONDAY + 12 * HOUR
WEEKS = 4
BEGUN = MONDAY - timedelta(weeks=WEEKS)
HOURS = WEEKS * 168
GPUS = 8
PRICE = 6_880_000
"""Micro-units of a GPU-hour."""


@dataclass(frozen=True)
class Part:
    """So many GPUs of a machine in an hour, in a state, held by a job of a workload or by nobody."""

    gpus: float
    state: State
    workload: Workload | None = None
    job_id: int | None = None


What = Callable[[int, int], Sequence[Part] | None]
"""By hour and machine: what is on it, the rest being unallocated; None: it is not in service."""


def held(workload: Workload, gpus: float = GPUS, job_id: int | None = None) -> Part:
    """Active GPUs of a workload."""
    return Part(gpus, State.ACTIVE, workload, job_id)


def idle(workload: Workload, gpus: float = GPUS, job_id: int | None = None) -> Part:
    """Held, and idle."""
    return Part(gpus, State.HELD_IDLE, workload, job_id)


def make_workload(
    name: str = "llm", kind: str = "training", team_id: int | None = None
) -> Workload:
    """A workload of a team of its own where none is given."""
    return Workload.objects.create(
        name=name, team_id=team_id or make.make_team(f"Team {name}"), kind=kind
    )


def plant_pool(
    name: str,
    machines: int,
    what: What,
    *,
    price: int | None = PRICE,
    committed: Callable[[int, int], bool] = lambda hour, machine: False,
    gpus: int = GPUS,
    hours: range = range(HOURS),
    **pool: Any,
) -> int:
    """A pool of so many machines with what is on them in each hour; its id. `price` is of a GPU-hour, None: unknown."""
    pool_id = make.make_pool(
        name, **{"gpus_per_node": gpus, "cluster_id": make.make_cluster()} | pool
    )
    for month in {(BEGUN + place * HOUR).date().replace(day=1) for place in range(HOURS)}:
        ensure_month(month=month)
    nodes = [
        make.make_node(f"{name}-{place}", pool_id=pool_id, at=BEGUN, units=gpus)
        for place in range(machines)
    ]
    lived = [
        (hour, machine, parts)
        for hour in hours
        for machine in range(machines)
        if (parts := what(hour, machine)) is not None
    ]
    ids = next_ids(Charge, len(lived))
    whens = [
        (BEGUN + hour * HOUR, (BEGUN + hour * HOUR).date().replace(day=1)) for hour, _, _ in lived
    ]
    copy_rows(
        Charge,
        [
            {
                "id": charge_id, "kind": "node_hour", "node_id": nodes[machine], "pool_id": pool_id,
                "part": int(ChargePart.COMMITTED if committed(hour, machine) else ChargePart.PRICED),
                "hour": starts_at, "through": starts_at + HOUR, "posting_month": month,
                "status": "estimated", "currency": "USD", "digest": b"", **_amounts(price, gpus),
            }
            for charge_id, (hour, machine, _), (starts_at, month) in zip(ids, lived, whens, strict=True)
        ],
    )  # fmt: skip
    place = 1 + (Line.objects.aggregate(last=Max("id"))["last"] or 0)
    platform_id, lines = special_teams().platform_id, []
    for charge_id, (_, _, parts), (starts_at, month) in zip(ids, lived, whens, strict=True):
        left = gpus - sum(part.gpus for part in parts)
        whole = [*parts, *([Part(left, State.UNALLOCATED)] if left > 1e-9 else [])]
        for part in whole:
            lines.append(
                {
                    "id": place, "posting_month": month, "charge_id": charge_id, "hour": starts_at,
                    "pool_id": pool_id,
                    "team_id": part.workload.team_id if part.workload else platform_id,
                    "workload_id": part.workload.id if part.workload else None,
                    "job_id": part.job_id, "state": int(part.state), "flags": 0, "evidence": 0,
                    "unit_milliseconds": round(part.gpus * HOUR_MS), **_amounts(price, part.gpus),
                }
            )  # fmt: skip
            place += 1
    copy_rows(Line, lines)
    return pool_id


def make_job(
    workload: Workload, pool_node: str, *, submitted: int, started: int, gpus: int = GPUS
) -> int:
    """A job of a workload that waited from one hour of the weeks to another, and then held GPUs of a machine."""
    job = Job.objects.create(
        cluster_id=make.make_cluster(),
        raw_id=f"{workload.name} {submitted} {pool_node}",
        opened_at=BEGUN + submitted * HOUR,
        submitted_at=BEGUN + submitted * HOUR,
        started_at=BEGUN + started * HOUR,
    )
    Allocation.objects.create(
        job=job,
        node=Node.objects.get(name=pool_node),
        node_name=pool_node,
        gpus_numerator=gpus,
        gpus_denominator=1,
        period=(BEGUN + started * HOUR, BEGUN + (started + 1) * HOUR),
    )
    return job.pk


def make_replica(workload: Workload, place: int) -> int:
    """A job of a service that runs all the time."""
    return Job.objects.create(
        cluster_id=make.make_cluster(),
        raw_id=f"{workload.name} {place}",
        opened_at=BEGUN,
        started_at=BEGUN,
    ).pk


def roll_up() -> None:
    """The days that all lines sum to, as pages and questions read them."""
    LedgerDay.objects.filter(kind="node_hour").delete()
    with connection.cursor() as cursor:
        cursor.execute(ROLL_UP)


def _amounts(price: int | None, gpus: float) -> dict[str, Any]:
    names = ("list_micros", "contracted_micros", "effective_micros", "billed_micros")
    return dict.fromkeys(names, None if price is None else round(price * gpus))


ROLL_UP = """
INSERT INTO ledger_ledgerday (day, posting_month, status, kind, team_id, workload_id, pool_id, unit, gpu_model,
    purchase_option, state, flags, tags, is_of_job, list_micros, contracted_micros, effective_micros, billed_micros,
    unit_milliseconds, held_milliseconds, observed_milliseconds, unpriced_milliseconds)
SELECT (line.hour AT TIME ZONE 'UTC')::date, line.posting_month, charge.status, charge.kind, line.team_id,
       line.workload_id, line.pool_id, 'gpu', pool.gpu_model, pool.purchase_option, line.state, line.flags, '{}',
       line.workload_id IS NOT NULL, sum(line.list_micros), sum(line.contracted_micros), sum(line.effective_micros),
       sum(line.billed_micros), sum(line.unit_milliseconds),
       sum(CASE WHEN line.state < 4 THEN line.unit_milliseconds ELSE 0 END),
       sum(CASE WHEN line.state < 3 THEN line.unit_milliseconds ELSE 0 END),
       sum(CASE WHEN line.effective_micros IS NULL THEN line.unit_milliseconds ELSE 0 END)
FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
JOIN fleet_pool AS pool ON pool.id = line.pool_id
GROUP BY 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 14, line.effective_micros IS NULL
"""
