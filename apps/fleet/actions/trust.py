"""What machines report beyond what is theirs: raised once, counted, decided by a person."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection

RAISE = """
INSERT INTO fleet_trustincident AS kept
    (kind, node_id, join_token_id, detail, ceiling, reported, count, first_at, last_at, decision,
     decided_by)
VALUES (%(kind)s, %(node_id)s, %(join_token_id)s, %(detail)s, %(ceiling)s, %(reported)s, %(count)s,
        %(at)s, %(at)s, '', '')
ON CONFLICT ({key}, kind) WHERE decided_at IS NULL AND {key} IS NOT NULL DO UPDATE SET
    count = kept.count + excluded.count,
    detail = excluded.detail,
    ceiling = excluded.ceiling,
    reported = greatest(kept.reported, excluded.reported),
    last_at = greatest(kept.last_at, excluded.last_at)
"""
GO_ON = """
UPDATE fleet_trustincident SET count = count + %(count)s, last_at = greatest(last_at, %(at)s)
WHERE id = (
    SELECT id FROM fleet_trustincident
    WHERE {key} = %({key})s AND kind = %(kind)s AND decision = 'refused' AND reported >= %(reported)s
    ORDER BY id DESC LIMIT 1
)
"""
MOST_DETAIL = 500


@dataclass(frozen=True, slots=True)
class TrustMatter:
    """What a node, or a machine with a join token, reported; of a growth also its numbers."""

    kind: str
    detail: str
    node_id: int | None = None
    join_token_id: int | None = None
    ceiling: int | None = None
    reported: int | None = None
    count: int = 1


def raise_trust_incident(*, matter: TrustMatter, at: datetime) -> None:
    """Count the matter on its open incident, or open one; a growth that was refused stays refused."""
    key = "join_token_id" if matter.node_id is None else "node_id"
    given = {
        "kind": str(matter.kind),
        "node_id": matter.node_id,
        "join_token_id": matter.join_token_id,
        "detail": matter.detail[:MOST_DETAIL],
        "ceiling": matter.ceiling,
        "reported": matter.reported,
        "count": matter.count,
        "at": at,
    }
    with connection.cursor() as cursor:
        if matter.reported is not None:
            cursor.execute(GO_ON.format(key=key), given)
            if cursor.rowcount:
                return
        cursor.execute(RAISE.format(key=key), given)
