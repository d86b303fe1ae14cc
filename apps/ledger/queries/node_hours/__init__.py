"""Facts known of node-hours, which the split is called with, and their digest."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from apps.economics.node_hour import NodeHourFacts
from apps.ledger.queries.node_hours.digest import KINDS_OF_FACT, changed_kinds, digest_of
from apps.ledger.queries.node_hours.facts import facts_of
from apps.ledger.queries.node_hours.reading import NodeHourReading, Owner, read


@dataclass(frozen=True, slots=True)
class NodeHour:
    """A charged node-hour ready to be split.

    `owners` has every job that may appear on a line; `nobody` owns the rest. `digest` has eight
    bytes for each kind of fact. `shares_idle` says whether the pool shares out what is not held.
    `billed` is what bills ask for, by charge.
    """

    node_id: int
    pool_id: int
    through: datetime
    is_provisional: bool
    policy_version: int
    facts: NodeHourFacts
    owners: Mapping[int, Owner]
    nobody: Owner
    digest: bytes
    shares_idle: bool
    billed: Mapping[int, int]


def node_hours(
    marked: Mapping[datetime, Collection[int]],
) -> Iterator[tuple[datetime, dict[int, NodeHour]]]:
    """Each hour of these nodes, by node; one without a charge (any more) is left out.

    All that is known is read when the first is asked for, and made into facts hour by hour.
    """
    for hour, reading in read(marked).items():
        yield hour, {node_id: _node_hour(reading, node_id) for node_id in reading.charged}


def _node_hour(reading: NodeHourReading, node_id: int) -> NodeHour:
    charged = reading.charged[node_id]
    pool = reading.pools[charged.pool_id]
    policy = reading.policies.get(pool.id)
    version = policy.version if policy else 0
    facts = facts_of(reading, node_id)
    jobs = {claim.holder_id for claim in facts.claims}
    jobs.update(key.job_id for key in facts.keys)
    owners = {job_id: reading.owners[job_id] for job_id in sorted(jobs)}
    nobody = Owner(pool.owner_team_id or reading.platform_id, None)
    return NodeHour(
        node_id=node_id,
        pool_id=pool.id,
        through=charged.through,
        is_provisional=charged.is_provisional,
        policy_version=version,
        facts=facts,
        owners=owners,
        nobody=nobody,
        digest=digest_of(facts, version, [*owners.items(), (0, nobody)], charged.billed),
        shares_idle=pool.idle_sharing != "keep",
        billed=charged.billed,
    )
