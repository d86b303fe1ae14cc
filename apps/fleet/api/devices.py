"""Devices and the agents that report them, over the wire."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.files.limits import BodyKind
from apps.fleet import actions
from apps.fleet.api.wire import AgentOut, AgentsAsked, DeviceOut, DevicesAsked, with_named
from apps.fleet.queries import listing
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import Parameters, StrictSerializer, parsed
from apps.web.rest.views import RestView

STATUS = (
    *("at", "state", "spool_batches", "spool_bytes", "spool_oldest_at", "dropped_windows"),
    "problems",
)


class Devices(RestView):
    """GPUs and MIG slices."""

    row = DeviceOut

    @extend_schema(
        operation_id="list_devices", parameters=[DevicesAsked, *PAGES], responses=list_of(DeviceOut)
    )
    def get(self, request: Request) -> Response:
        """Devices by id; a slice made again is a new device even under its old UUID."""
        wanted = DevicesAsked.wanted(request)
        return paged(
            request, listing.device_page(wanted, parse_page_request(request)), serialize_device
        )


class DeviceView(RestView):
    """One device."""

    @extend_schema(operation_id="device", responses=DeviceOut)
    def get(self, request: Request, device_id: int) -> Response:
        """A device by its id."""
        Parameters.of(request)
        return Response(serialize_device(listing.device_row(device_id)))


class DeviceConfirmation(RestView):
    """Somebody's word that a device is ours."""

    body = BodyKind.EMPTY

    @extend_schema(operation_id="confirm_device", request=None, responses=DeviceOut)
    def post(self, request: Request, device_id: int) -> Response:
        """Say that a device is ours; saying it twice keeps the first time."""
        parsed(StrictSerializer, request)
        actions.confirm_device(device_id=device_id, at=timezone.now())
        return Response(serialize_device(listing.device_row(device_id)))


class Agents(RestView):
    """The agents that report for nodes."""

    row = AgentOut

    @extend_schema(
        operation_id="list_agents", parameters=[AgentsAsked, *PAGES], responses=list_of(AgentOut)
    )
    def get(self, request: Request) -> Response:
        """Agents by id."""
        query = AgentsAsked.of(request)
        page = listing.agent_page(query.get("node_id"), parse_page_request(request))
        return paged(request, page, serialize_agent)


class AgentView(RestView):
    """One agent."""

    @extend_schema(operation_id="agent", responses=AgentOut)
    def get(self, request: Request, agent_id: int) -> Response:
        """An agent by its id."""
        Parameters.of(request)
        return Response(serialize_agent(listing.agent_row(agent_id)))


def serialize_device(row: dict[str, Any]) -> dict[str, Any]:
    """A device as it is answered."""
    return serialize_as(DeviceOut, with_named(row, "node"))


def serialize_agent(row: dict[str, Any]) -> dict[str, Any]:
    """An agent as it is answered."""
    serialized = with_named(row, "node")
    status = {name: serialized.pop(f"status__{name}") for name in STATUS}
    spool = {name: status.pop(f"spool_{name}") for name in ("batches", "bytes", "oldest_at")}
    serialized |= status | {"reported_at": status["at"]}
    return serialize_as(AgentOut, serialized | {"spool": None if status["at"] is None else spool})
