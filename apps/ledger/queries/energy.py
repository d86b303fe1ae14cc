"""Energy that the GPUs of an hour drew, and for which holders."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.economics.hours import HOUR, MILLISECOND
from apps.economics.sharing import DrawnShare
from apps.economics.usage import UsageRow
from apps.fleet import queries as fleet
from apps.ledger.queries.spreading import CostOwnerTotals
from apps.ledger.queries.tables import rows
from apps.telemetry import queries as telemetry
from apps.workloads import queries as workloads

QUARTERS_PER_SECOND = 4

# What identifies a bearer in a pool: the job, or else the process's key; neither: nobody.
Holder = tuple[int | None, int | None]
Places = Mapping[tuple[int | None, *Holder], int]


@dataclass(frozen=True, slots=True)
class _Node:
    """A node that counts GPUs: how far its hour has come, and its milliseconds by bearer."""

    pool_id: int
    through: datetime
    times: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class _Holding:
    """Of each device: its readings, who ran on it and who was granted it, weighted by time."""

    own: Mapping[int, UsageRow]
    ran: Mapping[int, Mapping[Holder, int]]
    granted: Mapping[int, Mapping[Holder, int]]


def drawn_by(hour: datetime, bearers: Sequence[CostOwnerTotals]) -> list[DrawnShare]:
    """Return what each GPU of the hour drew, for bearers by their place.

    A GPU's energy goes to the processes seen on it by the time they worked, else to whom it was
    granted by the time they held it, else to everybody on its node by time. Nodes measured in
    cores have no such meter and are left out.
    """
    places = {
        (bearer.pool_id, bearer.job_id, bearer.holder_key_id): n for n, bearer in enumerate(bearers)
    }
    nodes = _nodes_alive_in_hour(hour, places)
    devices = fleet.devices_alive_between(list(nodes), hour, hour + HOUR)
    holding, slices = _holding_of(hour, devices), _slices_by_gpu(devices)
    shares: list[DrawnShare] = []
    left = {node_id: sum(node.times.values()) for node_id, node in nodes.items()}
    for device in devices:
        if device.parent_id is not None:
            continue
        node = nodes[device.node_id]
        family = [device.id, *slices.get(device.id, ())]
        weights = _holder_weights(family, holding, places, node.pool_id) or node.times
        lived_ms = (min(device.lived_to, node.through) - device.lived_from) // MILLISECOND
        left[device.node_id] -= lived_ms
        shares += _drawn_shares(lived_ms, holding.own.get(device.id), weights)
    # GPUs that are known by number alone have no meter either.
    shares += [DrawnShare(ms, None, nodes[node_id].times) for node_id, ms in left.items() if ms > 0]
    return shares


def _nodes_alive_in_hour(hour: datetime, places: Places) -> dict[int, _Node]:
    times: dict[int, dict[int, int]] = {}
    about: dict[int, tuple[int, datetime]] = {}
    for node_id, pool_id, job_id, key_id, through, unit_ms in rows(TIMES, {"hour": hour}):
        about[node_id] = (pool_id, max(through, about.get(node_id, (0, through))[1]))
        of_node, place = times.setdefault(node_id, {}), places[pool_id, job_id, key_id]
        of_node[place] = of_node.get(place, 0) + unit_ms
    return {
        node_id: _Node(*about[node_id], of) for node_id, of in times.items() if any(of.values())
    }


def _holding_of(hour: datetime, devices: Sequence[fleet.DeviceFact]) -> _Holding:
    usage = telemetry.usage_rows(hour, [device.id for device in devices])
    keys = telemetry.holder_keys({row.holder_id for row in usage if row.holder_id})
    spans = workloads.jobs_of_keys(keys, hour, hour + HOUR)
    usage_by_device: dict[int, UsageRow] = {}
    ran: dict[int, dict[Holder, int]] = defaultdict(dict)
    for row in usage:
        if row.energy_joules is not None or row.device_id not in usage_by_device:
            usage_by_device[row.device_id] = row
        if row.holder_id:
            for holder, weight in _by_job(row, spans.get(row.holder_id, ())):
                ran[row.device_id][holder] = ran[row.device_id].get(holder, 0) + weight
    return _Holding(usage_by_device, ran, _granted_devices(hour, devices))


def _by_job(row: UsageRow, spans: Sequence[workloads.JobSpan]) -> Iterator[tuple[Holder, int]]:
    worked = sum(row.worked)
    if not spans:
        yield (None, row.holder_id), worked * (HOUR // MILLISECOND)
    for span in spans:
        yield (span.job_id, None), worked * ((span.ends_at - span.starts_at) // MILLISECOND)


def _granted_devices(
    hour: datetime, devices: Sequence[fleet.DeviceFact]
) -> dict[int, dict[Holder, int]]:
    ids = {(device.node_id, device.uuid): device.id for device in devices}
    holders_by_device: dict[int, dict[Holder, int]] = defaultdict(dict)
    nodes = {device.node_id for device in devices}
    for allocation in workloads.allocations_held(nodes, hour, hour + HOUR):
        for uuid in allocation.device_uuids or ():
            device_id = ids.get((allocation.node_id, uuid))
            if device_id is not None:
                of = holders_by_device[device_id]
                key = (allocation.job_id, None)
                of[key] = (
                    of.get(key, 0) + (allocation.held_to - allocation.held_from) // MILLISECOND
                )
    return holders_by_device


def _slices_by_gpu(devices: Sequence[fleet.DeviceFact]) -> dict[int, list[int]]:
    slices: dict[int, list[int]] = defaultdict(list)
    for device in devices:
        if device.parent_id is not None:
            slices[device.parent_id].append(device.id)
    return slices


def _holder_weights(
    family: Collection[int], holding: _Holding, places: Places, pool_id: int
) -> dict[int, int]:
    """By whoever ran on the GPU or its slices, else by who was granted them; empty: nobody."""
    for of in (holding.ran, holding.granted):
        weights: dict[int, int] = {}
        for device_id in family:
            for (job_id, key_id), weight in of.get(device_id, {}).items():
                place = places.get((pool_id, job_id, key_id))
                if place is not None and weight:
                    weights[place] = weights.get(place, 0) + weight
        if weights:
            return weights
    return {}


def _drawn_shares(
    lived_ms: int, usage: UsageRow | None, weights: Mapping[int, int]
) -> Iterator[DrawnShare]:
    """The time in which its meter told something, and the rest."""
    metered_ms = 0
    if usage is not None and usage.energy_joules is not None:
        metered_ms = min(lived_ms, sum(usage.observed) * 1_000 // QUARTERS_PER_SECOND)
        if metered_ms > 0:
            yield DrawnShare(metered_ms, round(usage.energy_joules * 1_000), weights)
    if lived_ms > metered_ms:
        yield DrawnShare(lived_ms - metered_ms, None, weights)


TIMES = """
SELECT charge.node_id, line.pool_id, line.job_id, line.holder_key_id,
       max(charge.through), sum(line.unit_milliseconds)::int8
FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
JOIN fleet_pool_fact AS pool ON pool.id = line.pool_id AND pool.unit <> 'core'
WHERE line.hour = %(hour)s AND line.settlement_id IS NOT NULL
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3 NULLS FIRST, 4 NULLS FIRST
"""
