"""The terms that a bill tells of how the nodes that it matched were bought."""

from datetime import datetime
from typing import LiteralString

from apps.economics.use_terms import platform_of, tenancy_of
from apps.fleet.actions import record_node_terms
from apps.fleet.queries import NodeTermsFact
from apps.ledger.models import Bill
from apps.ledger.queries.bills.parts import filled
from apps.ledger.queries.tables import rows

# Each fact where all rows of a node say one. Columns are kept by the names that their file gave them;
# reports of the second kind have most of a product in one map, as JSON or as pairs.
TOLD: LiteralString = filled("""
SELECT found.node_id, :account, :platform, :tenancy, :reservation
:matched AND found.node_id IS NOT NULL AND found.lives IS NULL
  AND found.kind = 'compute' AND row.category = 'Usage'
GROUP BY found.node_id ORDER BY found.node_id
""")
ONLY: LiteralString = "CASE WHEN min(:said) = max(:said) THEN max(:said) ELSE '' END"
SAID: tuple[tuple[LiteralString, LiteralString], ...] = (
    (":account", "row.sub_account"),
    (
        ":platform",
        "coalesce(row.more ->> 'product/operatingSystem', row.more ->> 'product_operating_system',"
        ' substring(row.more ->> \'product\' FROM \'"operating_system"\\s*[:,]\\s*"([^"]+)"\'),'
        " row.more ->> 'lineItem/Operation', row.more ->> 'line_item_operation',"
        " row.more ->> 'x_Operation', '')",
    ),
    (
        ":tenancy",
        "coalesce(row.more ->> 'product/tenancy', row.more ->> 'product_tenancy',"
        " substring(row.more ->> 'product' FROM '\"tenancy\"\\s*[:,]\\s*\"([^\"]+)\"'), '')",
    ),
    (":reservation", "coalesce(row.more ->> 'CapacityReservationId', '')"),
)


def record_bill_terms(bill: Bill, at: datetime) -> None:
    """Keep it; the hours of nodes of which it says something new are charged again."""
    terms_by_node = {
        node_id: NodeTermsFact(platform_of(platform), tenancy_of(tenancy), account, reservation)
        for node_id, account, platform, tenancy, reservation in rows(
            _statement(), {"bill": bill.id}
        )
    }
    known_terms = {
        node_id: terms for node_id, terms in terms_by_node.items() if terms != NodeTermsFact()
    }
    if known_terms:
        record_node_terms(reported_terms=known_terms, told_by="bill", at=at)


def _statement() -> LiteralString:
    statement = TOLD
    for name, expression in SAID:
        statement = statement.replace(name, ONLY.replace(":said", expression))
    return statement
