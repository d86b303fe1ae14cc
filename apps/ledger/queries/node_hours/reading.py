"""Everything that is known of many nodes in one hour, read at once."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    """Whose a line is."""

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
    """What was read, by node, pool, usage key or job."""

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


def read(hour: datetime, node_ids: Collection[int]) -> NodeHourReading:
    """The facts of these nodes in `hour`, in a dozen queries for any number of nodes."""
    charged = _charged_nodes(hour, node_ids)
    ids, ends_at = list(charged), hour + HOUR
    devices = _group_by(lambda device: device.node_id, fleet.devices_lived(ids, hour, ends_at))
    node_of = {device.id: node_id for node_id, there in devices.items() for device in there}
    usage = telemetry.usage_of_hour(hour, list(node_of))
    keys = telemetry.holder_keys({row.holder_id for row in usage if row.holder_id})
    spans = workloads.jobs_of_keys(keys, hour, ends_at)
    pools = fleet.pools()
    policies = fleet.share_policies({each.pool_id for each in charged.values()}, hour)
    in_cores = [
        node_id for node_id, each in charged.items() if _carries_cores(each, pools, policies)
    ]
    held = workloads.allocations_held(ids, hour, ends_at, in_cores=in_cores)
    jobs = {fact.job_id for fact in held} | {s.job_id for of_key in spans.values() for s in of_key}
    special = accounts.special_teams()
    return NodeHourReading(
        hour=hour,
        charged=charged,
        nodes={node.id: node for node in fleet.nodes_lived(hour, ends_at, ids)},
        pools=pools,
        policies=policies,
        devices=devices,
        outages=_group_by(lambda outage: outage.node_id, fleet.outages(ids, hour, ends_at)),
        usage=_group_by(lambda row: node_of[row.device_id], usage),
        held=_group_by(lambda fact: fact.node_id, held),
        keys=_key_facts(hour, spans),
        owners=_owners_of_jobs(jobs, hour, special.unowned_id),
        platform_id=special.platform_id,
    )


def _charged_nodes(hour: datetime, node_ids: Collection[int]) -> dict[int, Charged]:
    found = rows(
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
    for node_id, charge_id, pool_id, through, status, asked, *piece in found:
        pieces.setdefault(node_id, {}).setdefault(charge_id, []).append(Piece(*piece))
        about[node_id] = (pool_id, through, status == "provisional")
        if asked is not None:
            billed.setdefault(node_id, {})[charge_id] = asked
    beside: dict[int, dict[int, Amounts]] = {}
    for node_id, charge_id, asked, *amounts in rows(BESIDE, {"hour": hour, "nodes": list(pieces)}):
        beside.setdefault(node_id, {})[charge_id] = Amounts(*amounts)
        if asked is not None:
            billed.setdefault(node_id, {})[charge_id] = asked
    return {
        node_id: Charged(
            *about[node_id], pieces[node_id], billed.get(node_id, {}), beside.get(node_id, {})
        )
        for node_id in pieces
    }


def _carries_cores(
    charged: Charged,
    pools: Mapping[int, fleet.PoolFact],
    policies: Mapping[int, fleet.PolicyFact],
) -> bool:
    """Whether a job without GPUs carries anything of the node."""
    policy = policies.get(charged.pool_id)
    return pools[charged.pool_id].counts_cores or bool(policy and policy.core_weight)


def _group_by(key: Callable[[Fact], int], facts: Iterable[Fact]) -> dict[int, list[Fact]]:
    by: dict[int, list[Fact]] = defaultdict(list)
    for fact in facts:
        by[key(fact)].append(fact)
    return by


def _key_facts(
    hour: datetime, spans: Mapping[int, Sequence[workloads.JobSpan]]
) -> dict[int, list[KeyFact]]:
    """What each usage key means in the hour."""
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


def _owners_of_jobs(job_ids: Collection[int], hour: datetime, unowned_id: int) -> dict[int, Owner]:
    """Whose each job is by the rules at the hour's start; no rule: Unowned."""
    found = workloads.owners(job_ids, hour)
    owners = {}
    for job_id in job_ids:
        owner = found.get(job_id)
        if owner is None or owner.team_id is None:
            owners[job_id] = Owner(unowned_id, None)
        else:
            owners[job_id] = Owner(owner.team_id, owner.workload_id)
    return owners
