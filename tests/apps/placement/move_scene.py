"""Two settled weeks of a training on an H100 machine on demand, with what could be had instead."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from django.db.models import Max

from apps.accounts import queries as accounts
from apps.economics.hours import HOUR_MS
from apps.economics.moves.disruption import DisruptionClass, MoveDisruption
from apps.economics.moves.saving import SavingRange
from apps.economics.run_time import Bucket
from apps.economics.spot.trace import SpotTrace
from apps.economics.states import State
from apps.fleet.models import Node
from apps.ledger.actions.partitions import ensure_month
from apps.ledger.models import Charge, ChargePart, LedgerDay, Line
from apps.placement.actions import SpotPlace, keep_spot_series, make_offer_book
from apps.placement.actions.moves import store_fleet_detection
from apps.placement.models import FleetMove
from apps.placement.queries.moves.proposal import (
    MoveKind,
    MoveKindDetection,
    MoveProposal,
    OneTimeCost,
    ProposalEvidence,
)
from apps.placement.queries.moves.weekly_search import FleetDetection
from apps.placement.queries.moves.work import FleetWork, MoveSpan, move_week
from apps.telemetry.actions.partitions import ensure_days
from apps.telemetry.models import TelemetryWindow
from apps.workloads.models import Allocation, Job, Workload
from apps.workloads.queries import workloads
from tests import make
from tests.apps.unit_economics.planted_runs import (
    plant_attempt,
    plant_hour,
    plant_run,
    plant_save,
)

HOUR = timedelta(hours=1)
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
AT = MONDAY + 12 * HOUR
BEGUN = MONDAY - timedelta(days=14)
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
HOURS = 14 * 24
SPENT = 55_040_000 * HOURS * 730 // HOURS
"""Micro-units of a month: 55.04 an hour."""


def make_work(
    name: str = "llm",
    *,
    team: str = "Research",
    kind: str = "training",
    hourly: int | None = 55_040_000,
    gpus: int = 8,
    is_committed: bool = False,
    **pool: Any,
) -> tuple[int, int]:
    """A workload of a team that held a machine of its own for two weeks; its id and its pool's.

    `hourly` micro-units for all its GPUs; None: it has no price. Charges, lines and days are put straight into the ledger.
    """
    named = {each.name: each.id for each in accounts.teams()}
    team_id = named.get(team) or make.make_team(team)
    workload = Workload.objects.create(name=name, team_id=team_id, kind=kind)
    pool_id = make.make_pool(f"pool of {name}", cluster_id=make.make_cluster(), **pool)
    node_id = make.make_node(f"gpu of {name}", pool_id=pool_id, at=BEGUN, units=gpus)
    plant_hours(workload, pool_id, node_id, hourly, gpus * HOUR_MS, is_committed=is_committed)
    return workload.pk, pool_id


def plant_hours(
    workload: Workload,
    pool_id: int,
    node_id: int,
    hourly: int | None,
    unit_ms: int,
    *,
    is_committed: bool = False,
) -> None:
    """Every hour of the two weeks: a charge, its line, and the days that they sum to."""
    amounts = dict.fromkeys(
        ("list_micros", "contracted_micros", "effective_micros", "billed_micros"), hourly
    )
    hours = [BEGUN + place * HOUR for place in range(HOURS)]
    for month in {hour.date().replace(day=1) for hour in hours}:
        ensure_month(month=month)
    part = ChargePart.COMMITTED if is_committed else ChargePart.PRICED
    charges = Charge.objects.bulk_create(
        Charge(
            kind="node_hour", node_id=node_id, pool_id=pool_id, part=part, hour=hour, through=hour + HOUR,
            posting_month=hour.date().replace(day=1), status="estimated", currency="USD", digest=b"", **amounts,
        )
        for hour in hours
    )  # fmt: skip
    owner: dict[str, Any] = {
        "workload": workload,
        "team_id": workload.team_id,
        "pool_id": pool_id,
        "state": int(State.ACTIVE),
        "flags": 0,
    }
    first = 1 + (Line.objects.aggregate(last=Max("id"))["last"] or 0)
    Line.objects.bulk_create(
        Line(
            id=first + place, posting_month=charge.posting_month, charge=charge, hour=charge.hour,
            unit_milliseconds=unit_ms, evidence=0, **owner, **amounts,
        )
        for place, charge in enumerate(charges)
    )  # fmt: skip
    days = {name: None if amount is None else amount * 24 for name, amount in amounts.items()}
    LedgerDay.objects.bulk_create(
        LedgerDay(
            day=day, posting_month=day.replace(day=1), status="estimated", kind="node_hour", unit="gpu",
            is_of_job=True, unit_milliseconds=24 * unit_ms, held_milliseconds=24 * unit_ms, observed_milliseconds=0,
            unpriced_milliseconds=0 if hourly else 24 * unit_ms, **owner, **days,
        )
        for day in (BEGUN.date() + timedelta(days=place) for place in range(14))
    )  # fmt: skip


def plant_training(workload_id: int, *, saves: int = 20, gpus: int = 8) -> int:
    """A run of ten hours that began the day before and waited a minute for each checkpoint."""
    began_at = MONDAY - 24 * HOUR
    run_id = plant_run(
        f"run of {workload_id}",
        workload_id,
        gpus=gpus,
        began_at=began_at,
        ended_at=began_at + 10 * HOUR,
        attempts=1,
    )
    attempt = plant_attempt(run_id, began_at=began_at, ended_at=began_at + 10 * HOUR)
    plant_hour(run_id, 1, {Bucket.STARTUP: 12, Bucket.PRODUCTIVE: 48}, began_at)
    for count in range(1, 10):
        plant_hour(run_id, 1, {Bucket.PRODUCTIVE: 60}, began_at + count * HOUR)
    for count in range(saves):
        plant_save(attempt, began_at + (count + 1) * timedelta(minutes=25), 60)
    return run_id


def offer_spot(amount: str = "16.00", *, with_evidence: bool = True) -> None:
    """Spot of the same machine for so much an hour, and how often it was seen taken away: ten times in 200 hours."""
    make.make_rate(amount, purchase_option="spot", starts_at=AT - timedelta(days=3))
    if with_evidence:
        trace = SpotTrace(
            "zone-b", 1.0, np.array([1.0] * 20 + [0.0] * 2), (AT - timedelta(days=9)).timestamp()
        )
        trace = SpotTrace("zone-b", 1.0, np.tile(trace.counts, 10), trace.starts)
        place = SpotPlace(provider="aws", region="us-east-1", gpu_model="H100")
        keep_spot_series(name="zone-b", trace=trace, place=place, source="looks", at=AT)


def keep_one_move(workload_id: int, pool_id: int, run_id: int, at: datetime) -> int:
    """A look that proposes spot for a workload, kept without looking; the move's id."""
    team_id = workloads()[workload_id].team_id
    proposal = MoveProposal(
        key=f"to_spot:{workload_id}:{pool_id}",
        kind=MoveKind.TO_SPOT,
        subject=workloads()[workload_id].name,
        source="on demand",
        target="spot, aws:us-east-1, p5.48xlarge",
        team_id=team_id,
        workload_id=workload_id,
        pool_id=pool_id,
        spend_micros=4_700_000_000,
        saving=SavingRange(2_100_000_000, 2_600_000_000, 2_800_000_000),
        one_time=OneTimeCost(restart_micros=12_000_000, effort_hours=8, effort_micros=800_000_000),
        disruption=MoveDisruption(DisruptionClass.MEDIUM, "about 5.1 interruptions", 5.1, 1.4),
        evidence=(
            ProposalEvidence("run", str(run_id), "checkpoints and starts of its newest run"),
            ProposalEvidence("offer", "market:7", "spot: 2.0000 a GPU-hour", is_price=True),
        ),
        doubts=("fewer than 5 interruptions were seen there",),
        why="Its runs save a checkpoint every 30 minutes and start in 8.",
        cells=frozenset([f"{workload_id}:{pool_id}"]),
    )
    kind = MoveKindDetection(MoveKind.TO_SPOT, 2, Counter({"on spot already": 1}), {}, [proposal])
    week = move_week(at)
    look = FleetDetection(
        work=FleetWork(MoveSpan(week, ()), ()),
        book=None,
        kinds=(kind,),
        proposals=(proposal,),
        groups={proposal.key: 1},
        counted=frozenset([proposal.key]),
    )
    store_fleet_detection(fleet_look=look, week=week, at=at)
    return FleetMove.objects.get(key=proposal.key).pk


def make_spot_world() -> tuple[int, int]:
    """A training that could run on spot, and the book that says so; the workload's and its pool's id."""
    make.make_organisation()
    make.make_rate("55.04", starts_at=SINCE)
    ids = make_work()
    plant_training(ids[0])
    offer_spot()
    make_offer_book(at=AT)
    return ids


def make_service(
    gpus: int = 1, *, kind: str = "serving", share: int = 1, is_pinned: bool = True
) -> tuple[int, int, list[int]]:
    """A service on a machine of its own of so many H100, all of which its one job holds, or a `share`-th of one.

    At 6.88 a GPU-hour. The workload's, the pool's and its GPUs' ids.
    """
    hourly = 6_880_000 * gpus
    workload_id, pool_id = make_work(
        "chat", kind=kind, gpus=gpus, hourly=hourly, gpus_per_node=gpus
    )
    node_id = Node.objects.get(pool_id=pool_id).pk
    uuids = [f"GPU-{place}" for place in range(gpus)]
    devices = [make.make_device(uuid, node_id=node_id, at=BEGUN) for uuid in uuids]
    job = Job.objects.create(
        cluster_id=make.make_cluster(), raw_id="chat", opened_at=BEGUN, started_at=BEGUN
    )
    Allocation.objects.create(
        job=job, node_id=node_id, node_name="gpu of chat", gpus_numerator=gpus, gpus_denominator=share,
        device_uuids=uuids if is_pinned else None, period=(BEGUN, None),
    )  # fmt: skip
    Line.objects.filter(workload_id=workload_id).update(job_id=job.pk)
    return workload_id, pool_id, devices


def plant_windows(
    devices: Sequence[int],
    gib: float | None,
    worked: float = 0.2,
    *,
    part: float = 1.0,
    holder_id: int = 0,
) -> None:
    """A window of each hour of the first `part` of the two weeks: memory used and part of the time worked."""
    hours = [BEGUN + place * HOUR for place in range(round(HOURS * part))]
    ensure_days({hour.date() for hour in hours})
    TelemetryWindow.objects.bulk_create(
        TelemetryWindow(
            starts_at=hour, device_id=device_id, holder_id=holder_id, agent_id=1, boot=1, length_ms=HOUR_MS,
            source=1, flags=0, observed_seconds=3600.0, worked_seconds=3600.0 * worked,
            memory_used_bytes=None if gib is None else round(gib * (1 << 30)),
        )
        for device_id in devices
        for hour in hours
    )  # fmt: skip
