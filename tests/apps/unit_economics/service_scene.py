"""Services with lines and counted requests, put straight into the tables."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from apps.ledger.actions import roll_up_day
from apps.ledger.actions.partitions import ensure_month
from apps.ledger.models import Charge
from apps.marks.actions import Mark, mark
from apps.marks.queries import Pass
from apps.unit_economics.actions.divide import divide_day
from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import RequestHour, ServiceObjective, WorkloadChange
from tests.apps.ledger import scene

HOUR = scene.HOUR
MIDNIGHT = scene.TEN.replace(hour=0)
GPU_HOUR_MS = 3_600_000
DOLLAR = 1_000_000


def make_service(team_id: int, name: str = "chat-api", kind: str = "serving") -> int:
    """A workload that answers requests."""
    return add_workload(name=name, team_id=team_id, kind=kind)


def make_line(pool_id: int | None, team_id: int, workload_id: int | None, **given: Any) -> None:
    """An active GPU-hour for a dollar on every basis but the bill's, from 10:00; its own charge."""
    values: dict[str, Any] = {
        "kind": "node_hour" if given.get("node_id") else "shared",
        "hour": scene.TEN,
        "status": "estimated",
        "state": 1,
        "flags": 0,
        "ms": GPU_HOUR_MS,
        "micros": DOLLAR,
        "marginal": None,
        "node_id": None,
    } | given
    listed, contracted, effective, billed = (
        values.get(name, values["micros"] if name != "billed" else None)
        for name in ("listed", "contracted", "effective", "billed")
    )
    month = values["hour"].date().replace(day=1)
    charge = Charge.objects.create(
        kind=values["kind"],
        node_id=values["node_id"],
        pool_id=pool_id,
        hour=values["hour"],
        through=values["hour"] + HOUR,
        posting_month=month,
        list_micros=listed,
        contracted_micros=contracted,
        effective_micros=effective,
        billed_micros=billed,
        marginal_micros=values["marginal"],
        currency="USD",
        status=values["status"],
        part=values.get("part", 0),
        digest=b"",
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ledger_line (charge_id, hour, posting_month, pool_id, team_id,"
            " workload_id, state, flags, evidence, unit_milliseconds, list_micros,"
            " contracted_micros, effective_micros, billed_micros)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, 0, %s, %s, %s, %s, %s)",
            [charge.id, values["hour"], month, pool_id, team_id, workload_id, values["state"],
             values["flags"], values["ms"], listed, contracted, effective, billed],
        )  # fmt: skip


def count(workload_id: int, hour: datetime = scene.TEN, **told: Any) -> None:
    """What the gateway told of a feature in an hour, or who else is named as `source`."""
    values = {"source": "gateway", "feature": "", "revision": 1} | told
    values.setdefault("source_key", values["source"])
    values.setdefault("succeeded", values.get("requests"))
    RequestHour.objects.create(
        workload_id=workload_id, service_named="a service", hour=hour, **values
    )


def roll_up(*pools: int | None, day: datetime = MIDNIGHT) -> None:
    """Roll these pools' day up, and divide it."""
    ensure_month(month=day.date().replace(day=1))
    with transaction.atomic():
        mark([Mark(Pass.ROLLUP, pool or 0, day) for pool in pools])
    roll_up_day(first_hour=day)
    divide_day(first_hour=day, at=scene.LATER)


def promise(workload_id: int, **given: Any) -> int:
    """95 % of the service's answers within two seconds, since 2026 began."""
    values: Mapping[str, Any] = {
        "measure": "latency",
        "within_seconds": 2.0,
        "target_ratio": 0.95,
        "period": (scene.TEN - timedelta(days=61), None),
    } | given
    return ServiceObjective.objects.create(workload_id=workload_id, **values).id


def change(workload_id: int, name: str, at: datetime, kind: str = "deploy") -> None:
    """Something changed."""
    WorkloadChange.objects.create(workload_id=workload_id, name=name, kind=kind, at=at)
