"""How the nodes of an hour were settled, and whether the hour has shared charges."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from apps.ledger.models import Charge, ChargeKind
from apps.ledger.queries.tables import rows


@dataclass(frozen=True, slots=True)
class CurrentSettlement:
    """The settlement in force for a node-hour; version 0 is provisional."""

    id: int
    node_id: int
    version: int
    through: datetime
    digest: bytes


def settlements_of_hour(hour: datetime, node_ids: Collection[int]) -> dict[int, CurrentSettlement]:
    """Settlements in force, by node."""
    settlement_rows = rows(
        "SELECT id, node_id, version, through, digest FROM ledger_settlement"
        " WHERE hour = %(hour)s AND node_id = ANY(%(nodes)s) AND superseded_at IS NULL",
        {"hour": hour, "nodes": list(node_ids)},
    )
    return {row[1]: CurrentSettlement(*row) for row in settlement_rows}


def latest_versions(hour: datetime, node_ids: Collection[int]) -> dict[int, int]:
    """The highest version that each node-hour was ever settled at."""
    version_rows = rows(
        "SELECT node_id, max(version) FROM ledger_settlement"
        " WHERE hour = %(hour)s AND node_id = ANY(%(nodes)s) GROUP BY node_id",
        {"hour": hour, "nodes": list(node_ids)},
    )
    return dict(version_rows)


def has_shared_charges(hour: datetime) -> bool:
    """Whether anything is to be spread over the lines of `hour`."""
    return Charge.objects.filter(hour=hour, kind=ChargeKind.SHARED).exists()
