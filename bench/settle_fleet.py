"""A populated hour in the database of RUNRATE_DATABASE_URL: `python -m bench.settle_fleet NODES`.

Of ten nodes five run one job on all eight GPUs, two run two jobs whose GPUs nobody named, one is
cut into MIG slices, one is time-sliced and one is idle: 1,250 nodes have 2,000 jobs.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import django
import numpy as np

HOUR = datetime(2026, 3, 2, 10, tzinfo=UTC)
ENDED = HOUR + timedelta(hours=1)
AT = HOUR + timedelta(days=1)
MODEL = "NVIDIA H100 80GB HBM3"
GPUS = 8
SLICES = (("3g.40gb", 3, 4), ("2g.20gb", 2, 2), ("1g.10gb", 1, 1))
SLICED, TIME_SLICED, IDLE, TWO_JOBS = 0, 1, 2, (3, 4)
REPLICAS = 4
OBSERVED = "\\x" + "f0" * 60
Row = tuple[object, ...]
Slice = tuple[str, int, int]


@dataclass(slots=True)
class Fleet:
    """Rows for each table, as they grow."""

    draw: np.random.Generator
    nodes: list[Row] = field(default_factory=list)
    devices: list[Row] = field(default_factory=list)
    jobs: list[tuple[int, str, datetime, datetime]] = field(default_factory=list)
    keys: list[Row] = field(default_factory=list)
    allocations: list[Row] = field(default_factory=list)
    usage: list[Row] = field(default_factory=list)

    def add_device(
        self,
        node_id: int,
        parent: int | None = None,
        cut: Slice | None = None,
        replicas: int = 1,
    ) -> tuple[int, str]:
        """A device of the node; its id and UUID."""
        device_id = len(self.devices) + 1
        uuid = f"GPU-{device_id:08}"
        profile, compute, memory = cut or ("", None, None)
        kind = "mig" if parent else "gpu"
        self.devices.append(
            (device_id, uuid, kind, MODEL, profile, compute, memory, replicas, PERIOD,
             parent, node_id)
        )  # fmt: skip
        return device_id, uuid

    def add_job(self, node_id: int, gpus: int, uuids: Sequence[str] | None) -> int:
        """A job that holds GPUs of the node; one in three begins or ends within the hour."""
        job_id = len(self.jobs) + 1
        minute = timedelta(minutes=int(self.draw.integers(1, 59)))
        begins, ends = HOUR - timedelta(hours=3), ENDED + timedelta(hours=3)
        if job_id % 6 == 0:
            begins = HOUR + minute
        elif job_id % 6 == 1:
            ends = HOUR + minute
        self.jobs.append((job_id, str(job_id), begins, ends))
        self.keys.append((job_id, f"slurm/bench/{job_id}"))
        pinned = None if uuids is None else "{" + ",".join(uuids) + "}"
        self.allocations.append((job_id, node_id, gpus, pinned, f"[{begins},{ends})"))
        return job_id

    def add_usage(self, device_id: int, *holder_ids: int) -> None:
        """A row for each holder; each worked some quarter-seconds of each minute."""
        top = 240 // max(1, len(holder_ids) - 1)
        for holder_id in holder_ids:
            worked = bytes(self.draw.integers(top // 2, top, 60, endpoint=True).tolist())
            self.usage.append((HOUR, device_id, holder_id, 1, OBSERVED, "\\x" + worked.hex()))


PERIOD = f"[{HOUR - timedelta(days=2)},)"


def main(nodes: int) -> None:
    """Migrate, bootstrap and fill the tables."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from controlplane.readiness import make_ready

    make_ready()
    fleet = Fleet(np.random.default_rng(1))
    pool_id = _pool()
    for node_id in range(1, nodes + 1):
        fleet.nodes.append((node_id, f"n{node_id}", PERIOD, AT, pool_id))
        _fill(fleet, node_id, node_id % 10)
    _store(fleet)


def _pool() -> int:
    from apps.fleet import actions as fleet
    from apps.pricing import actions as pricing
    from apps.telemetry.actions.partitions import ensure_months

    fleet.add_cluster(name="bench", kind="slurm", at=AT)
    pool_id = fleet.add_pool(
        pool=fleet.EnteredPool(
            name="bench", provider="aws", region="us-east-1", instance_type="p5.48xlarge",
            gpu_model=MODEL, gpus_per_node=GPUS, purchase_option="on_demand",
        ),
        at=AT,
    )  # fmt: skip
    for kind, amount in (("list", "98.32"), ("contract", "63.2985")):
        pricing.add_rate(
            rate=pricing.EnteredRate(
                kind=kind, amount=Decimal(amount), currency="USD", starts_at=None,
                purchase_option="on_demand", provider="aws", region="us-east-1",
                instance_type="p5.48xlarge",
            ),
            at=AT,
        )  # fmt: skip
    ensure_months([HOUR.date()])
    return pool_id


def _fill(fleet: Fleet, node_id: int, kind: int) -> None:
    replicas = REPLICAS if kind == TIME_SLICED else 1
    gpus = [fleet.add_device(node_id, replicas=replicas) for _ in range(GPUS)]
    ids, uuids = [device_id for device_id, _ in gpus], [uuid for _, uuid in gpus]
    if kind == SLICED:
        _fill_sliced(fleet, node_id, ids)
        return
    holders: list[tuple[int, ...]] = [(0,)] * GPUS
    if kind == TIME_SLICED:
        jobs = [fleet.add_job(node_id, 4, uuids[:4]) for _ in range(3)]
        holders[:4] = [(0, *jobs)] * 4
    elif kind in TWO_JOBS:
        holders = [(fleet.add_job(node_id, 4, None),)] * 4
        holders += [(fleet.add_job(node_id, 4, None),)] * 4
    elif kind != IDLE:
        holders = [(fleet.add_job(node_id, GPUS, uuids),)] * GPUS
    for device_id, of_device in zip(ids, holders, strict=True):
        fleet.add_usage(device_id, *of_device)


def _fill_sliced(fleet: Fleet, node_id: int, parents: Sequence[int]) -> None:
    """Three slices of each GPU; four jobs hold the two larger ones of a pair of GPUs each."""
    slices = [
        [fleet.add_device(node_id, parent=parent, cut=shape) for shape in SLICES]
        for parent in parents
    ]
    for first, second in zip(slices[::2], slices[1::2], strict=True):
        held = [*first[:2], *second[:2]]
        job_id = fleet.add_job(node_id, len(held), [uuid for _, uuid in held])
        for device_id, _ in held:
            fleet.add_usage(device_id, job_id)
        for device_id, _ in (first[2], second[2]):
            fleet.add_usage(device_id, 0)


def _store(fleet: Fleet) -> None:
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        for table, rows in _tables(fleet):
            with cursor.copy(f"COPY {table} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _tables(fleet: Fleet) -> Iterator[tuple[str, Sequence[Row]]]:
    yield (
        "fleet_node (id, name, period, created_at, pool_id, kind, provider_id, end_reason,"
        " cluster_id)",
        [(*row, "machine", "", "", 1) for row in fleet.nodes],
    )
    yield (
        "fleet_nodecapacity (node_id, units, period)",
        [(row[0], GPUS, PERIOD) for row in fleet.nodes],
    )
    yield (
        "fleet_device (id, uuid, kind, model, profile, compute_slices, memory_slices, replicas,"
        " period, parent_id, node_id)",
        fleet.devices,
    )
    yield (
        "workloads_job (id, raw_id, started_at, ended_at, opened_at, restart_count, array_id,"
        ' het_id, name, "user", account, partition, qos, namespace, labels, state, exit_code,'
        " suspended_seconds, cpus_denominator, source_rank, cluster_id)",
        [
            (*row, row[2], 0, "", "", "", "ada", f"account-{row[0] % 20}", "", "", "", "{}",
             "RUNNING", "", 0, 1, 1, 1)
            for row in fleet.jobs
        ],
    )  # fmt: skip
    yield (
        "workloads_allocation (job_id, node_id, gpus_numerator, device_uuids, period, node_name,"
        " part, gpus_denominator, cpus_denominator, divided_evenly)",
        [(*row, f"n{row[1]}", 0, 1, 1, False) for row in fleet.allocations],
    )
    yield "telemetry_holderkey (id, key)", fleet.keys
    yield (
        "telemetry_usagehour (hour, device_id, holder_id, source, observed, worked)",
        fleet.usage,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
