"""Matters of trust, of what machines report beyond what is theirs: raised once, counted, decided by a person."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from apps.fleet.models import NodeCeiling, TrustDecision, TrustIncident, TrustKind
from apps.logs.changes import logged_change

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
    """A matter of trust that a node, or a machine with a join token, reported; of a growth also its numbers."""

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
    params = {
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
        if matter.reported is not None and matter.node_id is not None:
            cursor.execute(GO_ON.format(key=key), params)
            if cursor.rowcount:
                return
        cursor.execute(RAISE.format(key=key), params)


class TrustIncidentDecided(Exception):
    """A person has decided on it before, or it is decided elsewhere."""


def close_trust_incident(
    *, join_token_id: int, kind: TrustKind, decision: TrustDecision, by: str, at: datetime
) -> None:
    """The matter of a join token is decided, as its last waiting node was."""
    TrustIncident.objects.filter(join_token_id=join_token_id, kind=kind, decided_at=None).update(
        decision=decision, decided_at=at, decided_by=by
    )


@logged_change()
@transaction.atomic
def decide_trust_incident(
    *, trust_incident_id: int, decision: TrustDecision, by: str, at: datetime
) -> None:
    """Decide a matter of a node; of a growth that is approved its number counts from then on.

    Refuses TrustIncidentDecided; nodes that wait are decided one by one.
    """
    row = TrustIncident.objects.select_for_update(of=("self",)).get(pk=trust_incident_id)
    if row.decided_at is not None:
        raise TrustIncidentDecided(f"it was {row.decision} at {row.decided_at:%Y-%m-%d %H:%M}Z")
    if row.node_id is None:
        raise TrustIncidentDecided("nodes that wait are approved or refused one by one")
    row.decision, row.decided_at, row.decided_by = decision, at, by
    row.save(update_fields=["decision", "decided_at", "decided_by"])
    if decision == TrustDecision.APPROVED and row.reported is not None:
        NodeCeiling.objects.update_or_create(
            node_id=row.node_id,
            kind=row.kind,
            defaults={"most": row.reported, "approved_at": at},
        )
