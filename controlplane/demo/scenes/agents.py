"""What agents reported beside their windows: incidents, what nodes were busy with, how they are."""

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import Any

from apps.fleet import queries as fleet
from controlplane.demo.company import Company

Json = dict[str, Any]
MS = 1000
SEED = 20261120
EVERY, LONG_SECONDS = timedelta(minutes=5), 300
BUSY_FOR = timedelta(days=3)
"""So much of the end of the last week is told of nodes: enough to say what a run waits for."""
STARVED = "atlas-h100-04"
FELL_OFF = timedelta(hours=142)
"""So long before the last week a GPU of a machine fell off the bus."""


@dataclass(frozen=True, slots=True)
class DemoIncident:
    """An incident of a node, so long before the end of the demo; `gpu` None: of all of it."""

    node: str
    kind: str
    before: timedelta
    hours: float = 0
    gpu: int | None = None
    code: int | None = None
    detail: str = ""


HAPPENINGS = (
    DemoIncident("atlas-h100-02", "xid", timedelta(days=7) + FELL_OFF, 0, 5, 79),
    DemoIncident("atlas-h100-02", "gpu_lost", timedelta(days=7) + FELL_OFF, 9, 5),
    DemoIncident("atlas-h100-03", "ecc_uncorrected", timedelta(days=4, hours=3), 0, 2),
    DemoIncident("atlas-h100-03", "xid", timedelta(days=4, hours=3), 0, 2, 48),
    DemoIncident("atlas-h100-04", "xid", timedelta(days=2, hours=5), 0, 6, 31, "in process 88121"),
    DemoIncident("harbor-mig-01", "clock_stepped", timedelta(days=11), 0, None, None, "by 2.4 s"),
    DemoIncident("harbor-a10g-02", "driver_reloaded", timedelta(days=20)),
    DemoIncident("harbor-l4-02", "gpu_missing", timedelta(hours=5), 0, 3),
)
"""The last of them lasts: nobody has put the GPU back yet."""


@dataclass(frozen=True, slots=True)
class Unwell:
    """How an agent says that it is."""

    state: str = "ok"
    seen: int | None = None
    problems: tuple[tuple[str, str], ...] = ()
    spool_minutes: int = 0
    dropped: int = 0


STATES = {
    "harbor-l4-02": Unwell(state="gpus_missing", seen=3),
    "harbor-mig-01": Unwell(problems=(("no_pod_resources", "the socket is not mounted"),)),
    "harbor-a10g-01": Unwell(spool_minutes=95, dropped=12),
}
WELL = Unwell()


def agents_report(company: Company) -> None:
    """Agents report: a GPU fell off the bus, one is missing still, a node waits for its disks."""
    week = company.week
    nodes = fleet.nodes_alive_between(week.ends_at - timedelta(hours=1), week.ends_at)
    devices = fleet.devices_alive_between([node.id for node in nodes], week.starts_at, week.ends_at)
    for node in nodes:
        gpus = [each.uuid for each in devices if each.node_id == node.id and each.kind == "gpu"]
        report = _report_of(node.name, gpus, company)
        company.doors.post(
            "telemetry/reports", company.doors.tokens["nodes"][node.name], report, is_packed=True
        )


def _report_of(node: str, gpus: list[str], company: Company) -> Json:
    at = company.week.at
    dice = random.Random(f"{SEED} {node}")  # noqa: S311 - a story, not a secret
    return {
        "format": 1,
        "boot": _ms(company.week.starts_at),
        "sequence": 0,
        "sent_at_ms": time.time_ns() // 1_000_000,
        "agent": {"version": version("runrate-agent"), "source": "simulated"},
        "status": _status_of(STATES.get(node, WELL), gpus, at),
        "devices": gpus,
        "readings": _readings(gpus, company, dice),
        "node_readings": _node_readings(node, company, dice),
        "events": list(_events(node, company)),
    }


def _status_of(how: Unwell, gpus: list[str], at: datetime) -> Json:
    seen = len(gpus) if how.seen is None else how.seen
    oldest = at - timedelta(minutes=how.spool_minutes)
    return {
        "state": how.state,
        "expected_gpus": len(gpus),
        "seen_gpus": seen,
        "missing": gpus[seen:],
        "spool": {
            "batches": how.spool_minutes,
            "bytes": how.spool_minutes * 2_048,
            "oldest_at_ms": _ms(oldest) if how.spool_minutes else None,
        },
        "dropped_windows": how.dropped,
        "cpu_seconds": 412.5,
        "pss_bytes": 33_000_000,
        "nvml_calls_per_second": 61.5,
        "driver": "580.95.05",
        "problems": [{"code": code, "detail": detail} for code, detail in how.problems],
    }


def _readings(gpus: list[str], company: Company, dice: random.Random) -> Json:
    """A reading of each GPU in each hour: how warm it was, what held it back, what went through it."""
    moments = [
        (gpu, at) for at in _moments(company, timedelta(hours=1)) for gpu in range(len(gpus))
    ]
    return {
        "device": [gpu for gpu, _ in moments],
        "starts_at_ms": [_ms(at) for _, at in moments],
        "seconds": [LONG_SECONDS] * len(moments),
        "temperature_celsius": [round(dice.uniform(46, 71), 1) for _ in moments],
        "sm_clock_mhz": [round(dice.uniform(1_500, 1_980)) for _ in moments],
        "power_capped_seconds": [round(dice.uniform(0, 40), 1) for _ in moments],
        "thermal_seconds": [0.0 for _ in moments],
        "pcie_bytes": [round(dice.uniform(1e10, 9e11)) for _ in moments],
    }


def _node_readings(node: str, company: Company, dice: random.Random) -> Json:
    """What the node was busy with, without a gap: one of them waits for its disks."""
    moments = list(_moments(company, EVERY))
    stalled = (0.42, 0.61) if node == STARVED else (0.0, 0.03)
    return {
        "starts_at_ms": [_ms(at) for at in moments],
        "seconds": [LONG_SECONDS] * len(moments),
        "io_stalled_seconds": [round(LONG_SECONDS * dice.uniform(*stalled), 1) for _ in moments],
        "cpu_stalled_seconds": [round(dice.uniform(0, 9), 1) for _ in moments],
        "memory_stalled_seconds": [0.0 for _ in moments],
        "disk_read_bytes": [round(dice.uniform(2e9, 4e10)) for _ in moments],
        "network_bytes": [round(dice.uniform(1e9, 3e10)) for _ in moments],
    }


def _events(node: str, company: Company) -> Iterator[Json]:
    for each in HAPPENINGS:
        if each.node != node:
            continue
        began_at = company.week.ends_at - each.before
        told = {
            "kind": each.kind, "device": each.gpu, "code": each.code, "detail": each.detail,
            "ends_at_ms": None,
        }  # fmt: skip
        lasts = each.hours or each.kind == "gpu_missing"
        yield told | {"at_ms": _ms(began_at), "phase": "began" if lasts else "point"}
        if each.hours:
            ended_at = began_at + timedelta(hours=each.hours)
            yield told | {"at_ms": _ms(ended_at), "phase": "ended"}


def _moments(company: Company, apart: timedelta) -> Iterator[datetime]:
    at = company.week.ends_at - BUSY_FOR
    while at < company.week.ends_at:
        yield at
        at += apart


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * MS)
