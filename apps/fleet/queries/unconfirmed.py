"""Devices that agents named and that wait for a person's yes."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

from apps.fleet.models import Device, NodeCapacity


@dataclass(frozen=True, slots=True)
class UnconfirmedDevice:
    """A device that an agent named and nobody has confirmed, on a node of so many units."""

    id: int
    uuid: str
    model: str
    kind: str
    node_id: int
    node_name: str
    pool_id: int
    node_units: int
    seen_from: datetime


def unconfirmed_devices(at: datetime) -> list[UnconfirmedDevice]:
    """Devices that live at `at` on a node that does, and wait for a person's yes."""
    devices = Device.objects.filter(
        confirmed_at=None, period__contains=at, node__period__contains=at
    )
    units = NodeCapacity.objects.filter(node_id=OuterRef("node_id"), period__contains=at)
    rows = devices.annotate(node_units=Coalesce(Subquery(units.values("units")[:1]), 0))
    columns = ("id", "uuid", "model", "kind", "node_id", "node__name", "node__pool_id")
    return [
        UnconfirmedDevice(*row)
        for row in rows.order_by("node__name", "index", "id").values_list(
            *columns, "node_units", "period__startswith"
        )
    ]
