"""Everything that is known of many nodes in one hour, read at once."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import LiteralString, TypeVar

from apps.accounts import queries as accounts
from apps.economics.bases import Amounts
from apps.economics.hours import HOUR
from apps.economics.node_hour import KeyFact, UsageFact
from apps.economics.rates import Piece
from apps.fleet import queries as fleet
from apps.ledger.models import ChargePart
from apps.ledger.queries.calendar import milliseconds_into
from apps.ledger.queries.tables import rows
from apps.telemetry import queries as telemetry
from apps.workloads import queries as workloads

Fact = TypeVar("Fact")


BESIDE: LiteralString = """
SELECT node_id, id, billed_micros, list_micros, contracted_micros, effective_micros
FROM ledger_charge
WHERE hour = %(hour)s AND node_id = ANY(%(nodes)s) AND kind <> 'node_hour' AND corrects_id IS NULL
  AND digest <> ''
ORDER BY node_id, id
"""


@dataclass(frozen=True, slots=True)
class Owner:
    """The team and the workload that a line belongs to."""

    team_id: int
    workload_id: int | None


@dataclass(frozen=True, slots=True)
class Charged:
    """The charges of one node-hour, and how far they go; `billed` is what bills ask, by charge.

    `beside` is what is billed with the node and has no time of its own, by charge.
    """

    pool_id: int
    through: datetime
    is_provisional: bool
    pieces: Mapping[int, Sequence[Piece]]
    billed: Mapping[int, int]
    beside: Mapping[int, Amounts]


@dataclass(frozen=True, slots=True)
class NodeHourReading:
    """Facts that were read, by node, pool, usage key or job."""

    hour: datetime
    charged: Mapping[int, Charged]
    nodes: Mapping[int, fleet.NodeFact]
    pools: Mapping[int, fleet.PoolFact]
    policies: Mapping[int, fleet.PolicyFact]
    devices: Mapping[int, Sequence[fleet.DeviceFact]]
    outages: Mapping[int, Sequence[fleet.OutageFact]]
    usage: Mapping[int, Sequence[UsageFact]]
    held: Mapping[int, Sequence[workloads.HeldFact]]
    keys: Mapping[int, Sequence[KeyFact]]
    owners: Mapping[int, Owner]
    platform_id: int


def read(marked: Mapping[datetime, Collection[int]]) -> dict[datetime, NodeHourReading]:
    """The facts of these nodes in each hour: a dozen queries an hour, for any number of nodes.

    What jobs held and whose they are is read once for all of these hours.
    """
    readings = [_read_hour(hour, node_ids) for hour, node_ids in marked.items()]
    allocations_by_hour = _held_by_hour(readings)
    owners = _owners_by_hour(readings, allocations_by_hour)
    return {
        reading.hour: replace(
            reading, held=allocations_by_hour[reading.hour], owners=owners[reading.hour]
        )
        for reading in readings
    }


def _read_hour(hour: datetime, node_ids: Collection[int]) -> NodeHourReading:
    """All but what jobs held and whose they are."""
    charged = _charged_nodes(hour, node_ids)
    ids, ends_at = list(charged), hour + HOUR
    devices = _group_by(
        lambda device: device.node_id, fleet.devices_alive_between(ids, hour, ends_at)
    )
    node_of = {device.id: node_id for node_id, there in devices.items() for device in there}
    usage = telemetry.usage_of_hour(hour, list(node_of))
    keys = telemetry.holder_keys({row.holder_id for row in usage if row.holder_id})
    return NodeHourReading(
        hour=hour,
        charged=charged,
        nodes={node.id: node for node in fleet.nodes_alive_between(hour, ends_at, ids)},
        pools=fleet.pools(),
        policies=fleet.share_policies(
            {charged_node.pool_id for charged_node in charged.values()}, hour
        ),
        devices=devices,
        outages=_group_by(lambda outage: outage.node_id, fleet.outages(ids, hour, ends_at)),
        usage=_group_by(lambda row: node_of[row.device_id], usage),
        held={},
        keys=_key_facts(hour, workloads.jobs_of_keys(keys, hour, ends_at)),
        owners={},
        platform_id=accounts.special_teams().platform_id,
    )


def _held_by_hour(
    readings: Collection[NodeHourReading],
) -> dict[datetime, dict[int, list[workloads.HeldFact]]]:
    """Return what jobs held of the nodes of each hour; it may go on beyond the hour."""
    in_cores = {hour_reading.hour: _nodes_in_cores(hour_reading) for hour_reading in readings}
    hours = sorted(in_cores)
    facts = workloads.allocations_held(
        {node_id for hour_reading in readings for node_id in hour_reading.charged},
        hours[0],
        hours[-1] + HOUR,
        in_cores=set().union(*in_cores.values()),
    )
    allocations_by_hour: dict[datetime, dict[int, list[workloads.HeldFact]]] = {}
    for reading in readings:
        hour, ends_at, with_cores = reading.hour, reading.hour + HOUR, in_cores[reading.hour]
        allocations_by_hour[hour] = _group_by(
            lambda fact: fact.node_id,
            (
                fact
                for fact in facts
                if fact.held_from < ends_at
                and fact.held_to > hour
                and (fact.may_hold_gpus or fact.node_id in with_cores)
            ),
        )
    return allocations_by_hour


def _nodes_in_cores(reading: NodeHourReading) -> set[int]:
    """The nodes of which a job without GPUs carries anything."""
    weighed = {pool_id for pool_id, policy in reading.policies.items() if policy.core_weight}
    return {
        node_id
        for node_id, charged in reading.charged.items()
        if charged.pool_id in weighed or reading.pools[charged.pool_id].counts_cores
    }


def _owners_by_hour(
    readings: Collection[NodeHourReading],
    allocations_by_hour: Mapping[datetime, Mapping[int, Sequence[workloads.HeldFact]]],
) -> dict[datetime, dict[int, Owner]]:
    """Return the owner of each job by the rules at the hour's start; no rule: Unowned."""
    jobs = {
        fact.job_id
        for of in allocations_by_hour.values()
        for facts in of.values()
        for fact in facts
    }
    jobs.update(
        key.job_id for reading in readings for of_key in reading.keys.values() for key in of_key
    )
    if not jobs:
        return {reading.hour: {} for reading in readings}
    unowned = Owner(accounts.special_teams().unowned_id, None)
    owners: dict[datetime, dict[int, Owner]] = {}
    for hours, owners_by_job in workloads.owners_at(jobs, [reading.hour for reading in readings]):
        by_job = {
            job_id: unowned if owner.team_id is None else Owner(owner.team_id, owner.workload_id)
            for job_id, owner in owners_by_job.items()
        }
        owners |= dict.fromkeys(hours, by_job)
    return owners


def _charged_nodes(hour: datetime, node_ids: Collection[int]) -> dict[int, Charged]:
    charge_rows = rows(
        """
        SELECT charge.node_id, charge.id, charge.pool_id, charge.through, charge.status,
               charge.billed_micros, piece.start_ms, piece.end_ms, piece.list_micros, piece.contracted_micros,
               piece.effective_micros, piece.list_rate_id, piece.contract_rate_id
        FROM ledger_charge AS charge JOIN ledger_chargepiece AS piece ON piece.charge_id = charge.id
        WHERE charge.hour = %(hour)s AND charge.kind = 'node_hour' AND charge.corrects_id IS NULL
          AND charge.node_id = ANY(%(nodes)s) AND charge.part <> %(host)s
        ORDER BY charge.node_id, charge.id, piece.start_ms
        """,
        {"hour": hour, "nodes": list(node_ids), "host": int(ChargePart.HOST)},
    )
    pieces: dict[int, dict[int, list[Piece]]] = {}
    billed: dict[int, dict[int, int]] = {}
    about: dict[int, tuple[int, datetime, bool]] = {}
    for node_id, charge_id, pool_id, through, status, billed_micros, *piece in charge_rows:
        pieces.setdefault(node_id, {}).setdefault(charge_id, []).append(Piece(*piece))
        about[node_id] = (pool_id, through, status == "provisional")
        if billed_micros is not None:
            billed.setdefault(node_id, {})[charge_id] = billed_micros
    amounts_beside: dict[int, dict[int, Amounts]] = {}
    for node_id, charge_id, billed_micros, *amounts in rows(
        BESIDE, {"hour": hour, "nodes": list(pieces)}
    ):
        amounts_beside.setdefault(node_id, {})[charge_id] = Amounts(*amounts)
        if billed_micros is not None:
            billed.setdefault(node_id, {})[charge_id] = billed_micros
    return {
        node_id: Charged(
            *about[node_id],
            pieces[node_id],
            billed.get(node_id, {}),
            amounts_beside.get(node_id, {}),
        )
        for node_id in pieces
    }


def _group_by(key: Callable[[Fact], int], facts: Iterable[Fact]) -> dict[int, list[Fact]]:
    by: dict[int, list[Fact]] = defaultdict(list)
    for fact in facts:
        by[key(fact)].append(fact)
    return by


def _key_facts(
    hour: datetime, spans: Mapping[int, Sequence[workloads.JobSpan]]
) -> dict[int, list[KeyFact]]:
    """Return what each usage key means in the hour."""
    return {
        holder_id: [
            KeyFact(
                holder_id,
                span.job_id,
                milliseconds_into(hour, span.starts_at),
                milliseconds_into(hour, span.ends_at),
            )
            for span in of_key
        ]
        for holder_id, of_key in spans.items()
    }
