"""Use of nodes as commitments are offered it: by pool, units, and how it was bought."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import LiteralString

from apps.economics import commitments as economics
from apps.economics.eligibility import ON_DEMAND, Capacity, UseTerms
from apps.economics.eligibility import taken_for_granted as granted
from apps.economics.hours import HOUR_MS, MILLISECOND
from apps.economics.use_terms import reservation_of
from apps.fleet import queries as fleet
from apps.ledger.queries.commitments_of_hour import bought_as
from apps.pricing.queries.commitments import CommitmentFact

# Every node-hour as it was charged first: corrections of closed months have no pieces. What does
# not ride on the GPUs is the same time once more; owned hardware is offered to no commitment.
OFFERED: LiteralString = """
FROM ledger_charge AS charge
JOIN ledger_chargepiece AS piece ON piece.charge_id = charge.id
LEFT JOIN pricing_commitment_fact AS covering ON covering.id = piece.commitment_id
JOIN fleet_node_fact AS node ON node.id = charge.node_id
LEFT JOIN fleet_nodecapacity_fact AS capacity ON capacity.node_id = node.id
    AND capacity.period @> (least(charge.through, upper(node.period)) - interval '1 microsecond')
LEFT JOIN unnest(%(told_nodes)s::int8[], %(told_terms)s::int8[]) AS told (node_id, terms)
    ON told.node_id = charge.node_id
WHERE charge.kind = 'node_hour' AND charge.corrects_id IS NULL AND charge.owned_plan_id IS NULL
  AND charge.hour >= %(starts_at)s AND charge.hour < %(ends_at)s
"""


@dataclass(frozen=True, slots=True)
class UseTermsIndex:
    """Terms that nodes were told to be bought on: numbered from 1, for statements; 0 is nothing known."""

    nodes: tuple[int, ...]
    numbers: tuple[int, ...]
    terms: tuple[UseTerms, ...]

    @property
    def params(self) -> dict[str, object]:
        """The parameters that `OFFERED` asks for."""
        return {"told_nodes": list(self.nodes), "told_terms": list(self.numbers)}

    def of(self, number: int) -> UseTerms:
        """Those of a number."""
        return self.terms[number - 1] if number else ON_DEMAND

    @property
    def by_node(self) -> dict[int, UseTerms]:
        """Those of each node of which anything is known."""
        return {
            node_id: self.of(number)
            for node_id, number in zip(self.nodes, self.numbers, strict=True)
        }


def use_terms_index(
    blocks: Collection[str], node_ids: Collection[int] | None = None
) -> UseTermsIndex:
    """Return the known terms of nodes (None: of all); `blocks` are the capacity blocks among reservations."""
    node_terms = fleet.node_terms(node_ids)
    terms_by_node = {
        node_id: _use_terms(terms, blocks) for node_id, terms in sorted(node_terms.items())
    }
    numbers = {
        terms: number for number, terms in enumerate(dict.fromkeys(terms_by_node.values()), 1)
    }
    return UseTermsIndex(
        tuple(terms_by_node),
        tuple(numbers[terms] for terms in terms_by_node.values()),
        tuple(numbers),
    )


def bought_blocks(commitments: Iterable[CommitmentFact]) -> frozenset[str]:
    """The capacity blocks among them, by the ids of their reservations."""
    block = economics.CommitmentKind.CAPACITY_BLOCK.name.lower()
    reservations = (
        reservation_of(commitment_fact.external_id)
        for commitment_fact in commitments
        if commitment_fact.kind == block
    )
    return frozenset(reservation for reservation in reservations if reservation)


def _use_terms(terms: fleet.NodeTermsFact, blocks: Collection[str]) -> UseTerms:
    capacity = Capacity.NONE
    if terms.reservation:
        capacity = Capacity.BLOCK if terms.reservation in blocks else Capacity.RESERVATION
    return UseTerms(
        capacity=capacity,
        platform=terms.platform,
        tenancy=terms.tenancy,
        account=terms.account,
        reservation=terms.reservation,
    )


def use_of(
    pool: fleet.PoolFact,
    kind: str,
    units: int,
    contracted: int | None,
    terms: UseTerms = ON_DEMAND,
) -> economics.CommitmentUse:
    """Nodes of one pool that have as many units, as the charge pass offers them to commitments.

    `terms` are what is known of them beside what their pool says.
    """
    gpus = units or pool.gpus_per_node
    # A pool counted as a whole is as many nodes as its GPUs make.
    counted = kind == "pool" and pool.gpus_per_node
    return economics.CommitmentUse(
        node_id=0,
        start_ms=0,
        end_ms=HOUR_MS,
        provider=pool.provider,
        region=pool.region,
        instance_type=pool.instance_type,
        gpu_model=pool.gpu_model,
        pool_id=pool.id,
        gpus=gpus,
        list_micros=None,
        contracted_micros=contracted,
        nodes=max(1, gpus // pool.gpus_per_node) if counted else 1,
        terms=replace(terms, purchase_option=pool.purchase_option),
    )


def taken_for_granted(fact: CommitmentFact, at: datetime) -> dict[str, int]:
    """Of how many nodes that live at `at`, and that it may cover, each deciding fact was never told."""
    bought, pools = bought_as(fact), fleet.pools()
    nodes = fleet.nodes_alive_between(at, at + MILLISECOND)
    terms = use_terms_index(bought_blocks([fact]), [node.id for node in nodes]).by_node
    counts: Counter[str] = Counter()
    for node in nodes:
        node_terms = terms.get(node.id, ON_DEMAND)
        use = use_of(pools[node.pool_id], node.kind, node.units, None, node_terms)
        if economics.capacity_per_ms(bought, use):
            counts.update(granted(bought.terms, use.terms))
    return dict(counts)
