"""One node's facts in the form that the split takes."""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from fractions import Fraction

from apps.economics.hours import HOUR, HOUR_MS
from apps.economics.node_hour import (
    CapacityFact,
    ClaimFact,
    CoresFact,
    DeviceOfHour,
    NodeHourFacts,
    OutageOfHour,
)
from apps.fleet import queries as fleet
from apps.ledger.queries.calendar import milliseconds_into
from apps.ledger.queries.charges import unit_spans
from apps.ledger.queries.node_hours.reading import NodeHourReading
from apps.ledger.queries.node_hours.slices import slice_share
from apps.workloads import queries as workloads

WHOLE = Fraction(1)


def facts_of(reading: NodeHourReading, node_id: int) -> NodeHourFacts:
    """Return the facts that the split is told of a charged node."""
    hour, node, charged = reading.hour, reading.nodes[node_id], reading.charged[node_id]
    pool = reading.pools[charged.pool_id]
    declared = [
        CapacityFact(*span) for span in unit_spans(hour, node, charged.through, pool.gpus_per_node)
    ]
    lived_ms = (milliseconds_into(hour, node.lived_from), milliseconds_into(hour, node.lived_to))
    in_cores = pool.counts_cores
    cores = (
        CoresFact(declared) if in_cores else _weighed_cores(reading.policies.get(pool.id), lived_ms)
    )
    # Where cores carry the cost, a GPU of the node carries none, and what it did moves nothing.
    devices = () if in_cores else reading.devices.get(node_id, ())
    usage = () if in_cores else reading.usage.get(node_id, ())
    keys = {row.holder_id for row in usage}
    return NodeHourFacts(
        lived_ms=lived_ms,
        through_ms=milliseconds_into(hour, charged.through),
        charges=charged.pieces,
        beside=charged.beside,
        devices=_devices_of_hour(hour, devices, reading.policies.get(pool.id)),
        usage=usage,
        claims=_claim_facts(
            hour,
            reading.held.get(node_id, ()),
            devices,
            reading.policies.get(pool.id),
            with_cores=cores is not None,
        ),
        keys=[fact for key in sorted(keys) for fact in reading.keys.get(key, ())],
        outages=[
            OutageOfHour(
                outage.device_id,
                milliseconds_into(hour, outage.starts_at),
                milliseconds_into(hour, outage.ends_at),
            )
            for outage in reading.outages.get(node_id, ())
        ],
        capacity=() if in_cores else declared,
        cores=cores,
    )


def _weighed_cores(policy: fleet.PolicyFact | None, lived_ms: tuple[int, int]) -> CoresFact | None:
    """The cores that carry a part of a GPU node's cost; None where its GPUs carry all."""
    if policy is None or not policy.core_weight:
        return None
    return CoresFact([CapacityFact(*lived_ms, policy.cores_per_node)], policy.core_weight)


def _devices_of_hour(
    hour: datetime, device_facts: Sequence[fleet.DeviceFact], policy: fleet.PolicyFact | None
) -> list[DeviceOfHour]:
    ends_at = hour + HOUR
    devices = []
    for device in device_facts:
        if device.parent_id is None and device.lived_from == hour and device.lived_to == ends_at:
            # By far the most: a whole GPU for a whole hour.
            devices.append(DeviceOfHour(device.id, None, 0, HOUR_MS, WHOLE, device.uuid))
            continue
        devices.append(
            DeviceOfHour(
                device.id,
                device.parent_id,
                milliseconds_into(hour, device.lived_from),
                milliseconds_into(hour, device.lived_to),
                WHOLE if device.parent_id is None else slice_share(device, device_facts, policy),
                device.uuid,
            )
        )
    return devices


def _claim_facts(
    hour: datetime,
    allocations: Sequence[workloads.HeldFact],
    devices: Sequence[fleet.DeviceFact],
    policy: fleet.PolicyFact | None,
    *,
    with_cores: bool,
) -> list[ClaimFact]:
    if not allocations:
        return []
    by_uuid: dict[str, list[fleet.DeviceFact]] = {}
    for device in devices:
        by_uuid.setdefault(device.uuid, []).append(device)
    slices = _parts_of_cut_gpus(devices, policy)
    claims = [_claim_fact(hour, fact, by_uuid, devices, slices) for fact in allocations]
    if not with_cores:
        return claims
    return [
        claim._replace(cores=fact.cpus) for claim, fact in zip(claims, allocations, strict=True)
    ]


def _parts_of_cut_gpus(
    devices: Sequence[fleet.DeviceFact], policy: fleet.PolicyFact | None
) -> Set[Fraction]:
    """The parts into which all GPUs of a node are cut; none where a GPU is whole, for a part may be of it."""
    cut = {device.parent_id for device in devices if device.parent_id is not None}
    if not all(device.id in cut for device in devices if device.parent_id is None):
        return frozenset()
    return {
        slice_share(device, devices, policy) for device in devices if device.parent_id is not None
    }


def _claim_fact(
    hour: datetime,
    fact: workloads.HeldFact,
    by_uuid: Mapping[str, Sequence[fleet.DeviceFact]],
    devices: Sequence[fleet.DeviceFact],
    slices: Set[Fraction],
) -> ClaimFact:
    granted: Sequence[fleet.DeviceFact] = ()
    if fact.device_uuids:
        granted = [device for uuid in fact.device_uuids for device in by_uuid.get(uuid, ())]
    return ClaimFact(
        fact.job_id,
        fact.allocation_id,
        milliseconds_into(hour, fact.held_from),
        milliseconds_into(hour, fact.held_to),
        _claimed_devices(fact.gpus, granted, devices, slices) if devices else fact.gpus,
        tuple([device.id for device in granted]),
        fact.divided_evenly,
        is_uncounted=fact.gpus_unknown,
    )


def _claimed_devices(
    gpus: Fraction,
    granted: Sequence[fleet.DeviceFact],
    devices: Sequence[fleet.DeviceFact],
    slices: Set[Fraction],
) -> Fraction:
    """How many devices a claim takes.

    A scheduler that time-slices counts replicas: one of four is a quarter, held even when alone. A
    granted MIG slice is one device whatever part of a GPU it was declared to be, and so is a slice's part
    of a GPU that an accounting counts on a node cut into such `slices`, by their parts.
    """
    if not granted and gpus.denominator != 1:
        slice_counts = [gpus / share for share in slices if (gpus / share).denominator == 1]
        return min(slice_counts, default=gpus)
    if granted and all(device.parent_id is not None for device in granted):
        gpus = max(gpus, Fraction(len({device.uuid for device in granted})))
    replicas = {device.replicas for device in granted or devices}
    if len(replicas) == 1 and gpus.denominator == 1:
        return gpus / replicas.pop()
    return gpus
