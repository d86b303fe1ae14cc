"""Incidents as people read them: with their node, its end, and when its agents were last heard."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Max, Q

from apps.telemetry.models import Incident
from apps.telemetry.queries.incidents import IncidentsWanted, chosen_by


@dataclass(frozen=True, slots=True)
class IncidentFact:
    """An incident; `ended_at` is None while it lasts, as far as anybody was heard.

    `heard_at` is when an agent of the node last spoke, `node_ended_at` when the node ended.
    """

    id: int
    node_id: int
    node_name: str
    device_id: int | None
    uuid: str
    kind: str
    code: int | None
    detail: str
    started_at: datetime
    last_at: datetime
    ended_at: datetime | None
    count: int
    node_ended_at: datetime | None
    heard_at: datetime | None


def incident_facts(wanted: IncidentsWanted, most: int) -> list[IncidentFact]:
    """The `most` that began last, the latest first."""
    rows = Incident.objects.filter(chosen_by(wanted)).annotate(
        node_name=F("node__name"),
        node_ended_at=F("node__period__endswith"),
        heard_at=Max("node__agents__last_seen_at"),
    )
    names = IncidentFact.__dataclass_fields__
    newest_rows = rows.order_by("-started_at", "-id").values_list(*names)[:most]
    return [IncidentFact(*row) for row in newest_rows]


def incident_kinds() -> list[str]:
    """Every kind that was ever told, by name."""
    return sorted(Incident.objects.order_by().values_list("kind", flat=True).distinct())


def incident_nodes(most: int) -> dict[str, int]:
    """Nodes that anything ever happened to, by name; of one name the latest."""
    nodes = Incident.objects.order_by("node__name", "node_id").values_list("node__name", "node_id")
    return dict(nodes.distinct()[:most])


def open_incidents(kinds: Collection[str] | None = None) -> int:
    """How many (of these kinds) last."""
    chosen = Q(ended_at=None)
    if kinds is not None:
        chosen &= Q(kind__in=kinds)
    return Incident.objects.filter(chosen).count()
