"""Matters that wait for a person: machines beyond their join token's number, growth of nodes, contradictions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Q

from apps.accounts.queries.facts import field_names
from apps.accounts.queries.paging import Page, PageRequest, equality_conditions, page_of
from apps.fleet.models import NodeCeiling, TrustIncident, WaitingNode


@dataclass(frozen=True, slots=True)
class WaitingNodeFact:
    """A machine beyond its join token's number, by the name it came with; `decision` is empty while it waits."""

    id: int
    name: str
    machine: str
    version: str
    join_token_id: int
    join_token: str
    cluster_id: int
    cluster: str
    pool_id: int | None
    pool: str | None
    first_at: datetime
    last_at: datetime
    tries: int
    decision: str
    decided_at: datetime | None


@dataclass(frozen=True, slots=True)
class TrustIncidentFact:
    """A matter of a node, or of the machines that come with a join token; `decision` is empty while it waits.

    Of a growth `ceiling` is how many are taken, and `reported` the most that were reported.
    """

    id: int
    kind: str
    node_id: int | None
    node: str | None
    join_token_id: int | None
    join_token: str | None
    detail: str
    ceiling: int | None
    reported: int | None
    count: int
    first_at: datetime
    last_at: datetime
    decision: str
    decided_at: datetime | None
    decided_by: str


NAMED = ("join_token", "cluster", "pool", "node")
"""Fields of the facts that rows have as `<name>_name`."""


def waiting_node_page(
    page_request: PageRequest, *, is_open: bool | None = None
) -> Page[WaitingNodeFact]:
    """Machines that came beyond their token's number, the latest first."""
    page = page_of(_waiting_rows(is_open=is_open), page_request, "-id")
    return Page(list(map(_waiting_node, page.rows)), page.after, page.before)


def waiting_nodes() -> list[WaitingNodeFact]:
    """Those that nobody decided on yet, the longest first."""
    return list(map(_waiting_node, _waiting_rows(is_open=True).order_by("id")))


def waiting_node(waiting_node_id: int) -> WaitingNodeFact:
    """One of them; refuses WaitingNode.DoesNotExist."""
    return _waiting_node(_waiting_rows(is_open=None).get(id=waiting_node_id))


def trust_incident_page(
    page_request: PageRequest, *, node_id: int | None = None, is_open: bool | None = None
) -> Page[TrustIncidentFact]:
    """Matters of trust (of a node), the latest first."""
    page = page_of(_incident_rows(node_id, is_open=is_open), page_request, "-id")
    return Page(list(map(_trust_incident, page.rows)), page.after, page.before)


def trust_incidents_begun(
    page_request: PageRequest, chosen: Mapping[str, Any], since: datetime | None
) -> Page[dict[str, Any]]:
    """Return matters of trust that fit `chosen` (by lookup) as incidents, the one begun last first.

    `id` is the matter's below zero, so that it is no other incident's; a key of `page_request` is of
    (started_at, id). `ended_at` is when a person decided. Of `since`: none decided before.
    """
    rows = _incident_rows().filter(equality_conditions(chosen))
    if since is not None:
        rows = rows.filter(Q(decided_at=None) | Q(decided_at__gte=since))
    incident_request = PageRequest(
        page_request.limit, _negated_key(page_request.after), _negated_key(page_request.before)
    )
    page = page_of(rows, incident_request, "-first_at", "id")
    return Page([_as_incident(row) for row in page.rows], page.after, page.before)


def _negated_key(key: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    return None if key is None else (*key[:-1], -key[-1])


def _as_incident(row: dict[str, Any]) -> dict[str, Any]:
    incident = {
        name: row[name]
        for name in _columns(TrustIncidentFact)
        if name not in {"id", "first_at", "decided_at"}
    }
    return incident | {
        "id": -row["id"],
        "trust_incident_id": row["id"],
        "started_at": row["first_at"],
        "ended_at": row["decided_at"],
    }


def trust_incidents(
    node_id: int | None = None, *, is_open: bool | None = None
) -> list[TrustIncidentFact]:
    """Return all matters of trust (of a node), the latest first: there is one a node and kind at a time."""
    rows = _incident_rows(node_id, is_open=is_open).order_by("-id")[:1_000]
    return list(map(_trust_incident, rows))


def trust_incident(trust_incident_id: int) -> TrustIncidentFact:
    """One of them; refuses TrustIncident.DoesNotExist."""
    return _trust_incident(_incident_rows().get(id=trust_incident_id))


def waiting_node_if_any(waiting_node_id: int) -> WaitingNodeFact | None:
    """One of them; None where there is none."""
    row = _waiting_rows(is_open=None).filter(id=waiting_node_id).first()
    return None if row is None else _waiting_node(row)


def trust_incident_if_any(trust_incident_id: int) -> TrustIncidentFact | None:
    """One of them; None where there is none."""
    row = _incident_rows().filter(id=trust_incident_id).first()
    return None if row is None else _trust_incident(row)


def approved_ceilings(node_id: int) -> dict[str, int]:
    """How many of each kind a person allows this node."""
    return dict(NodeCeiling.objects.filter(node_id=node_id).values_list("kind", "most"))


def _columns(fact: type[Any]) -> list[str]:
    """Return the columns that a fact is made of."""
    return [f"{name}_name" if name in NAMED else name for name in field_names(fact)]


def _waiting_node(row: dict[str, Any]) -> WaitingNodeFact:
    return WaitingNodeFact(**{name.removesuffix("_name"): value for name, value in row.items()})


def _trust_incident(row: dict[str, Any]) -> TrustIncidentFact:
    return TrustIncidentFact(**{name.removesuffix("_name"): value for name, value in row.items()})


def _waiting_rows(*, is_open: bool | None) -> Any:
    rows = WaitingNode.objects.annotate(
        join_token_name=F("join_token__name"),
        cluster_id=F("join_token__cluster_id"),
        cluster_name=F("join_token__cluster__name"),
        pool_id=F("join_token__pool_id"),
        pool_name=F("join_token__pool__name"),
    )
    chosen = rows if is_open is None else rows.filter(decided_at__isnull=is_open)
    return chosen.values(*_columns(WaitingNodeFact))


def _incident_rows(node_id: int | None = None, *, is_open: bool | None = None) -> Any:
    rows = TrustIncident.objects.annotate(
        node_name=F("node__name"), join_token_name=F("join_token__name")
    )
    if node_id is not None:
        rows = rows.filter(node_id=node_id)
    if is_open is not None:
        rows = rows.filter(decided_at__isnull=is_open)
    return rows.values(*_columns(TrustIncidentFact))
