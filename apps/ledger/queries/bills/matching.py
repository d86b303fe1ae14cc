"""What is needed to say where a bill's rows go."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from apps.accounts import queries as accounts
from apps.economics.billing import BillRowRule, Places, Traits
from apps.fleet import queries as fleet
from apps.ledger.models import Bill, BillRule
from apps.ledger.queries.bills.parts import filled
from apps.ledger.queries.tables import rows

TRAITS = filled("""
SELECT DISTINCT ON (row.bill_id, row.traits) row.bill_id, row.traits, row.kind, row.category,
       row.commitment_status, row.service, row.usage_type, row.resource_id, row.sub_account, row.tags
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
    found: dict[int, dict[bytes, Traits]] = {bill_id: {} for bill_id in issuers}
    for bill_id, digest, *told in rows(TRAITS, {"bills": list(issuers)}):
        traits = dict(zip(TOLD, told, strict=True))
        found[bill_id][bytes(digest)] = Traits(issuer=issuers[bill_id], **traits)
    return found


def rules() -> list[BillRowRule]:
    """The rules in force, in order."""
    found = BillRule.objects.filter(ended_at=None).order_by("priority")
    return [BillRowRule(*row) for row in found.values_list(*BillRowRule.__slots__)]


def places(starts_at: datetime, ends_at: datetime) -> Places:
    """The nodes that lived in a bill's period and their pools, and all teams."""
    nodes = fleet.billable_nodes(starts_at, ends_at)
    named = [(name, node.id) for node in nodes for name in {node.provider_id, node.name} if name]
    typed = {(node.instance_type, node.pool_id) for node in nodes if node.instance_type}
    teams = [(team.name, team.id) for team in accounts.teams()]
    return Places(nodes=_unique_by(named), pools=_unique_by(typed), teams=_unique_by(teams))


def _unique_by(named: Iterable[tuple[str, int]]) -> dict[str, int]:
    """What one name means; a name of several means none of them."""
    pairs = {(name.lower(), each) for name, each in named}
    counts = Counter(name for name, _ in pairs)
    return {name: each for name, each in pairs if counts[name] == 1}
