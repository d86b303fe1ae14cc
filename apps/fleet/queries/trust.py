"""Matters that wait for a person: machines beyond their join token's number, growth of nodes, contradictions."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import F, Q

from apps.accounts.queries.paging import Page, PageRequest, equality_conditions, page_of
from apps.fleet.models import NodeCeiling, TrustIncident, WaitingNode

WAITING = (
    *("id", "name", "machine", "version", "join_token_id", "join_token_name", "cluster_id"),
    *("cluster_name", "pool_id", "pool_name", "first_at", "last_at", "tries", "decision"),
    "decided_at",
)
INCIDENT = (
    *("id", "kind", "node_id", "node_name", "join_token_id", "join_token_name", "detail"),
    *("ceiling", "reported", "count", "first_at", "last_at", "decision", "decided_at"),
    "decided_by",
)


def waiting_node_page(
    page_request: PageRequest, *, is_open: bool | None = None
) -> Page[dict[str, Any]]:
    """Machines that came beyond their token's number, the latest first."""
    return page_of(_waiting_rows(is_open=is_open), page_request, "-id")


def waiting_nodes() -> list[dict[str, Any]]:
    """Those that nobody decided on yet, the longest first."""
    return list(_waiting_rows(is_open=True).order_by("id"))


def waiting_node_row(waiting_node_id: int) -> dict[str, Any]:
    """One of them; refuses WaitingNode.DoesNotExist."""
    row: dict[str, Any] = _waiting_rows(is_open=None).get(id=waiting_node_id)
    return row


def trust_incident_page(
    page_request: PageRequest, *, node_id: int | None = None, is_open: bool | None = None
) -> Page[dict[str, Any]]:
    """Matters of trust (of a node), the latest first."""
    return page_of(_incident_rows(node_id, is_open=is_open), page_request, "-id")


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
        name: row[name] for name in INCIDENT if name not in {"id", "first_at", "decided_at"}
    }
    return incident | {
        "id": -row["id"],
        "trust_incident_id": row["id"],
        "started_at": row["first_at"],
        "ended_at": row["decided_at"],
    }


def trust_incidents(
    node_id: int | None = None, *, is_open: bool | None = None
) -> list[dict[str, Any]]:
    """Return all matters of trust (of a node), the latest first: there is one a node and kind at a time."""
    return list(_incident_rows(node_id, is_open=is_open).order_by("-id")[:1_000])


def trust_incident_row(trust_incident_id: int) -> dict[str, Any]:
    """One of them; refuses TrustIncident.DoesNotExist."""
    row: dict[str, Any] = _incident_rows().get(id=trust_incident_id)
    return row


def waiting_node_if_any(waiting_node_id: int) -> dict[str, Any] | None:
    """One of them; None where there is none."""
    row: dict[str, Any] | None = _waiting_rows(is_open=None).filter(id=waiting_node_id).first()
    return row


def trust_incident_if_any(trust_incident_id: int) -> dict[str, Any] | None:
    """One of them; None where there is none."""
    row: dict[str, Any] | None = _incident_rows().filter(id=trust_incident_id).first()
    return row


def approved_ceilings(node_id: int) -> dict[str, int]:
    """How many of each kind a person allows this node."""
    return dict(NodeCeiling.objects.filter(node_id=node_id).values_list("kind", "most"))


def _waiting_rows(*, is_open: bool | None) -> Any:
    rows = WaitingNode.objects.annotate(
        join_token_name=F("join_token__name"),
        cluster_id=F("join_token__cluster_id"),
        cluster_name=F("join_token__cluster__name"),
        pool_id=F("join_token__pool_id"),
        pool_name=F("join_token__pool__name"),
    )
    chosen = rows if is_open is None else rows.filter(decided_at__isnull=is_open)
    return chosen.values(*WAITING)


def _incident_rows(node_id: int | None = None, *, is_open: bool | None = None) -> Any:
    rows = TrustIncident.objects.annotate(
        node_name=F("node__name"), join_token_name=F("join_token__name")
    )
    if node_id is not None:
        rows = rows.filter(node_id=node_id)
    if is_open is not None:
        rows = rows.filter(decided_at__isnull=is_open)
    return rows.values(*INCIDENT)
