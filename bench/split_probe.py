"""Time the split of one hour of 1,250 nodes and 10,000 GPUs: `python bench/split_probe.py`."""

import resource
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from apps.economics.hours import HOUR_MS
from apps.economics.node_hour import (
    CapacityFact,
    ClaimFact,
    DeviceOfHour,
    KeyFact,
    NodeHourFacts,
    UsageFact,
    split_node_hour,
)
from apps.economics.rates import Per, Piece, QuotedRate, RateInHour, pieces_of_hour

NODES = 1_250
SLICES = (Fraction(1, 2), Fraction(2, 7), Fraction(1, 7))
FULL = bytes([240]) * 60
LIST = QuotedRate(id=1, amount=Decimal("98.32"), quantity_seconds=3600, per=Per.NODE)
CONTRACT = QuotedRate(id=2, amount=Decimal("7.9123"), quantity_seconds=3600, per=Per.GPU)
WHOLE = Fraction(1)
CROWDS = (3_125, 6_250)

device_ids = count(1)
job_ids = count(1)


def busy(draw: np.random.Generator, start: int = 0, end: int = 60) -> bytes:
    """Quarter-seconds worked, busy between two minutes."""
    level = int(draw.choice((60, 150, 225, 240)))
    worked = draw.integers(level - 60, level, 60, endpoint=True)
    worked[:start] = worked[end:] = 0
    return bytes(worked.tolist())


def pieces() -> dict[int, list[Piece]]:
    """A contract below a list price, all hour."""
    return {
        1: pieces_of_hour(
            [(0, HOUR_MS, 8)], [RateInHour(0, HOUR_MS, LIST)], [RateInHour(0, HOUR_MS, CONTRACT)]
        )
    }


def facts(
    claims: list[ClaimFact],
    devices: list[DeviceOfHour],
    usage: list[UsageFact],
    keys: list[KeyFact],
) -> NodeHourFacts:
    """One node that lived all hour."""
    return NodeHourFacts((0, HOUR_MS), HOUR_MS, pieces(), devices, usage, claims, keys)


def whole_node(draw: np.random.Generator) -> NodeHourFacts:
    """One job on all eight GPUs, all hour, its processes seen."""
    job = next(job_ids)
    devices = [DeviceOfHour(next(device_ids), None, 0, HOUR_MS) for _ in range(8)]
    usage = [UsageFact(device.device_id, job, FULL, busy(draw)) for device in devices]
    claim = ClaimFact(job, job, 0, HOUR_MS, Fraction(8), tuple(d.device_id for d in devices))
    return facts([claim], devices, usage, [KeyFact(job, job)])


def two_jobs(draw: np.random.Generator) -> NodeHourFacts:
    """A job on four GPUs, pinned by its processes, ends mid-minute; another goes on."""
    ending, staying = next(job_ids), next(job_ids)
    devices = [DeviceOfHour(next(device_ids), None, 0, HOUR_MS) for _ in range(8)]
    end = int(draw.integers(60_000, HOUR_MS - 60_000))
    usage = []
    for device in devices[:4]:
        worked = busy(draw, 0, end // 60_000)
        usage.append(UsageFact(device.device_id, 0, FULL, worked))
        seen = bytes(240 if minute <= end // 60_000 else 0 for minute in range(60))
        usage.append(UsageFact(device.device_id, ending, seen, worked))
    usage += [UsageFact(device.device_id, staying, FULL, busy(draw)) for device in devices[4:]]
    claims = [
        ClaimFact(ending, ending, 0, end, Fraction(4)),
        ClaimFact(staying, staying, 0, HOUR_MS, Fraction(4)),
    ]
    return facts(
        claims, devices, usage, [KeyFact(ending, ending, 0, end), KeyFact(staying, staying)]
    )


def empty_node(draw: np.random.Generator) -> NodeHourFacts:
    """Observed, and nobody's."""
    devices = [DeviceOfHour(next(device_ids), None, 0, HOUR_MS) for _ in range(8)]
    return facts([], devices, [UsageFact(d.device_id, 0, FULL, bytes(60)) for d in devices], [])


def time_sliced(draw: np.random.Generator) -> NodeHourFacts:
    """Each GPU in four replicas, three of them held."""
    devices = [DeviceOfHour(next(device_ids), None, 0, HOUR_MS) for _ in range(8)]
    claims, usage, keys = [], [], []
    for device in devices:
        usage.append(UsageFact(device.device_id, 0, FULL, busy(draw)))
        for _ in range(3):
            job = next(job_ids)
            claims.append(ClaimFact(job, job, 0, HOUR_MS, Fraction(1, 4), (device.device_id,)))
            usage.append(UsageFact(device.device_id, job, FULL, bytes([70]) * 60))
            keys.append(KeyFact(job, job))
    return facts(claims, devices, usage, keys)


def sliced(draw: np.random.Generator) -> NodeHourFacts:
    """Each GPU in 3g + 2g + 1g, two slices held."""
    devices, claims, usage, keys = [], [], [], []
    for _ in range(8):
        gpu = DeviceOfHour(next(device_ids), None, 0, HOUR_MS)
        devices.append(gpu)
        for index, share in enumerate(SLICES):
            part = DeviceOfHour(next(device_ids), gpu.device_id, 0, HOUR_MS, share)
            devices.append(part)
            if index < 2:
                job = next(job_ids)
                claims.append(ClaimFact(job, job, 0, HOUR_MS, WHOLE, (part.device_id,)))
                usage.append(UsageFact(part.device_id, job, FULL, busy(draw)))
                keys.append(KeyFact(job, job))
    return facts(claims, devices, usage, keys)


def unpinned(draw: np.random.Generator) -> NodeHourFacts:
    """Two counts without devices, nobody's processes seen."""
    devices = [DeviceOfHour(next(device_ids), None, 0, HOUR_MS) for _ in range(8)]
    claims = [
        ClaimFact(job, job, 0, HOUR_MS, Fraction(2)) for job in (next(job_ids), next(job_ids))
    ]
    usage = [UsageFact(device.device_id, 0, FULL, busy(draw)) for device in devices]
    return facts(claims, devices, usage, [])


MIX: list[tuple[Callable[[np.random.Generator], NodeHourFacts], int]] = [
    (whole_node, 60),
    (two_jobs, 20),
    (empty_node, 8),
    (time_sliced, 3),
    (sliced, 3),
    (unpinned, 6),
]


def crowded_pool(jobs: int) -> NodeHourFacts:
    """A pool counted as a whole: most jobs hold a GPU all hour, one in a hundred comes and goes."""
    claims = []
    for number in range(jobs):
        start, end = 0, HOUR_MS
        if number % 100 == 0:
            start = number * (HOUR_MS // 2) // jobs
            end = start + HOUR_MS // 4
        claims.append(ClaimFact(number + 1, number + 1, start, end, Fraction(1)))
    lone = [RateInHour(0, HOUR_MS, CONTRACT)]
    charges = {1: pieces_of_hour([(0, HOUR_MS, 2 * jobs)], [], lone)}
    counts = [CapacityFact(0, HOUR_MS, 2 * jobs)]
    return NodeHourFacts((0, HOUR_MS), HOUR_MS, charges, claims=claims, capacity=counts)


def main() -> None:
    """Print seconds by kind of node, for the mixed fleet, and for one node of very many jobs."""
    draw = np.random.default_rng(1)
    whole = 0.0
    for make, percent in MIX:
        nodes = [make(draw) for _ in range(NODES * percent // 100)]
        began = time.process_time()
        lines = sum(len(split_node_hour(node).lines) for node in nodes)
        seconds = time.process_time() - began
        whole += seconds
        each = seconds / len(nodes) * 1e6
        print(
            f"{make.__name__:12} {len(nodes):5} nodes {lines:6} lines {seconds:.3f} s {each:5.0f} µs"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{'all':12} {NODES:5} nodes {whole:.3f} s, peak {peak:.0f} MiB; {next(job_ids) - 1} jobs"
    )
    took = []
    for jobs in CROWDS:
        crowd = crowded_pool(jobs)
        began = time.process_time()
        lines = len(split_node_hour(crowd).lines)
        took.append(time.process_time() - began)
        print(f"crowded_pool {1:5} node  {lines:6} lines {took[-1]:.3f} s")
    print(f"crowded_pool, twice the jobs: {took[1] / took[0]:.2f} times the time")


if __name__ == "__main__":
    main()
