"""Incidents of nodes and devices, and those that still last."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from django.db.models import F, Q

from apps.accounts.queries.paging import (
    Page,
    PageRequest,
    equality_conditions,
    merged_page,
    page_of,
)
from apps.fleet.queries import trust_incidents_begun
from apps.show.entries import Entry
from apps.telemetry.models import Incident


@dataclass(frozen=True, slots=True)
class IncidentsWanted:
    """A filter of incidents; None: any. Those that touch `[since, until)`."""

    node_id: int | None = None
    device_id: int | None = None
    kind: Annotated[str | None, Entry(help="such as xid, gpu_lost or driver_unresponsive")] = None
    is_open: bool | None = None
    since: Annotated[datetime | None, Entry(help="only those that had not ended before")] = None
    until: Annotated[datetime | None, Entry(help="only those that began before")] = None


def incidents(wanted: IncidentsWanted, page_request: PageRequest) -> Page[dict[str, Any]]:
    """The one that began last first. `ended_at` is None while it lasts."""
    rows = Incident.objects.filter(chosen_by(wanted)).annotate(node_name=F("node__name"))
    columns = (
        *("id", "node_id", "node_name", "device_id", "uuid", "kind", "code", "detail"),
        *("started_at", "last_at", "ended_at", "count"),
    )
    return page_of(rows.values(*columns), page_request, "-started_at", "-id")


def incidents_and_trust(wanted: IncidentsWanted, page_request: PageRequest) -> Page[dict[str, Any]]:
    """Return incidents and matters of trust as one list, the one that began last first.

    A matter of trust is of a node, or of the machines that come with a join token; of no device.
    """
    reported = incidents(wanted, page_request)
    if wanted.device_id is not None:
        return reported
    chosen = {
        "node_id": wanted.node_id,
        "kind": wanted.kind,
        "decided_at__isnull": wanted.is_open,
        "first_at__lt": wanted.until,
    }
    matters = trust_incidents_begun(page_request, chosen, wanted.since)
    return merged_page([reported, matters], page_request, "-started_at", "-id")


def chosen_by(wanted: IncidentsWanted) -> Q:
    """Return the filter of incidents as a condition."""
    chosen = equality_conditions(
        {
            "node_id": wanted.node_id,
            "device_id": wanted.device_id,
            "kind": wanted.kind,
            "ended_at__isnull": wanted.is_open,
            "started_at__lt": wanted.until,
        }
    )
    if wanted.since is not None:
        chosen &= Q(ended_at=None) | Q(ended_at__gte=wanted.since)
    return chosen
