"""The facts that are needed to say where a bill's rows go."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from itertools import pairwise

from apps.accounts import queries as accounts
from apps.economics.billing import BillRowRule, Places, Traits
from apps.economics.focus.kinds import OTHER, ServiceDescription, may_be_time
from apps.economics.focus.names import provider_word
from apps.economics.machine_ids import SPELLINGS, cloud_of_id, machine_keys
from apps.fleet import queries as fleet
from apps.ledger.models import Bill, BillRule
from apps.ledger.queries.bills.parts import filled
from apps.ledger.queries.tables import rows

TRAITS = filled("""
SELECT DISTINCT ON (row.bill_id, row.traits) row.bill_id, row.traits, row.kind, row.category,
       row.commitment_status, row.service, row.usage_type, row.resource_id, row.sub_account, row.tags,
       row.description, coalesce(row.more ->> 'ServiceCategory', ''),
       CASE WHEN row.pricing_unit = '' THEN row.consumed_unit ELSE row.pricing_unit END
:in_force
""")
TOLD = (
    *("kind", "category", "commitment_status", "service", "usage_type", "resource_id"),
    *("sub_account", "tags"),
)
"""What of a row says where it goes, in the order of the statement."""


def traits_of(bills: Sequence[Bill]) -> dict[int, dict[bytes, Traits]]:
    """Every kind of row that each bill has, by the bill's id, then by digest."""
    issuers = {bill.id: bill.issuer for bill in bills}
    traits_by_bill: dict[int, dict[bytes, Traits]] = {bill_id: {} for bill_id in issuers}
    for bill_id, digest, *trait_values, description, of_service, unit in rows(
        TRAITS, {"bills": list(issuers)}
    ):
        traits = dict(zip(TOLD, trait_values, strict=True))
        service = ServiceDescription(
            of_service, traits["usage_type"], description, traits["service"]
        )
        may_be = traits["kind"] == OTHER and may_be_time(traits["category"], service, unit)
        traits_by_bill[bill_id][bytes(digest)] = Traits(
            issuer=issuers[bill_id], **traits, may_be_time=may_be
        )
    return traits_by_bill


def rules() -> list[BillRowRule]:
    """The rules in force, in order."""
    active_rules = BillRule.objects.filter(ended_at=None).order_by("priority")
    return [BillRowRule(*row) for row in active_rules.values_list(*BillRowRule.__slots__)]


def places(starts_at: datetime, ends_at: datetime, of_rules: Collection[int] = ()) -> Places:
    """The nodes that lived in a bill's period and their pools, and all teams.

    `of_rules` are the nodes that rules name: each stands for all that bore its name in its cluster.
    """
    nodes = fleet.billable_nodes(starts_at, ends_at)
    named: dict[str, list[fleet.BillableNode]] = {}
    homes: dict[tuple[int | None, str], list[fleet.BillableNode]] = {}
    for node in nodes:
        for key in {*machine_keys(node.provider_id), node.name.lower()}:
            named.setdefault(key, []).append(node)
        homes.setdefault((node.cluster_id, node.name), []).append(node)
    bearers = {
        node_id: _in_turn(homes[home])
        for node_id, home in fleet.namesakes(of_rules).items()
        if home in homes
    }
    clouds = {
        node.id: cloud_of_id(node.provider_id) or provider_word(node.provider) for node in nodes
    }

    def lives_named(others: Collection[str]) -> dict[str, tuple[int, ...]]:
        nodes_by_key = {
            key: [node for node in of_key if clouds[node.id] not in others]
            for key, of_key in named.items()
        }
        return {
            key: node_ids for key, of_key in nodes_by_key.items() if (node_ids := _in_turn(of_key))
        }

    typed = {(node.instance_type, node.pool_id) for node in nodes if node.instance_type}
    teams = [(team.name, team.id) for team in accounts.teams()]
    return Places(
        nodes=lives_named(()),
        pools=_unique_by(typed),
        teams=_unique_by(teams),
        lives={node_id: bearer for node_id, bearer in bearers.items() if bearer},
        of_clouds={cloud: lives_named(SPELLINGS.keys() - {cloud}) for cloud in SPELLINGS},
    )


def nodes_of_rules(of: Iterable[BillRowRule]) -> set[int]:
    """The nodes that rules name."""
    return {rule.node_id for rule in of if rule.node_id is not None}


def _in_turn(nodes: Sequence[fleet.BillableNode]) -> tuple[int, ...]:
    """Lives of one name, one after the other; none where two live at once: it means neither then."""
    ordered = sorted(nodes, key=lambda node: (node.starts_at, node.id))
    for one, later in pairwise(ordered):
        if one.ends_at is None or one.ends_at > later.starts_at:
            return ()
    return tuple(node.id for node in ordered)


def _unique_by(named: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the id that each name means; a name of several means none of them."""
    pairs = {(name.lower(), target_id) for name, target_id in named}
    counts = Counter(name for name, _ in pairs)
    return {name: target_id for name, target_id in pairs if counts[name] == 1}
