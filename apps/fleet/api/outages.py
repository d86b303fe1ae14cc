"""Outages over the wire."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.fleet import actions
from apps.fleet.api.wire import OutageEndIn, OutageIn, OutageOut, OutagesAsked, with_named
from apps.fleet.queries import listing
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import parse_as
from apps.web.rest.strict import Parameters, parsed
from apps.web.rest.views import RestView


class Outages(RestView):
    """When nodes and devices could not be used."""

    row = OutageOut

    @extend_schema(
        operation_id="list_outages", parameters=[OutagesAsked, *PAGES], responses=list_of(OutageOut)
    )
    def get(self, request: Request) -> Response:
        """Outages, those entered last first."""
        wanted = OutagesAsked.wanted(request)
        return paged(
            request, listing.outage_page(wanted, parse_page_request(request)), serialize_outage
        )

    @extend_schema(
        operation_id="record_outage",
        request=OutageIn,
        parameters=[REPEAT_KEY],
        responses={201: OutageOut, 200: OutageOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Note that a node or device could not be used; the same outage again is answered 200."""
        outage = parse_as(OutageIn, request)
        listing.node_row(outage.node_id)
        recorded_id = listing.outage_recorded(
            outage.node_id, outage.device_id, outage.kind, outage.starts_at, outage.ends_at
        )
        if recorded_id is not None:
            return Response(serialize_outage(listing.outage_row(recorded_id)))
        outage_id = actions.record_outage(outage=outage, at=timezone.now())
        return Response(serialize_outage(listing.outage_row(outage_id)), status=201)


class OutageView(RestView):
    """One outage."""

    @extend_schema(operation_id="outage", responses=OutageOut)
    def get(self, request: Request, outage_id: int) -> Response:
        """An outage by its id."""
        Parameters.of(request)
        return Response(serialize_outage(listing.outage_row(outage_id)))


class OutageEnd(RestView):
    """The end of an outage."""

    @extend_schema(
        operation_id="end_outage", request=OutageEndIn, parameters=[REPEAT_KEY], responses=OutageOut
    )
    @once()
    def post(self, request: Request, outage_id: int) -> Response:
        """The node or device works again since `ended_at`; saying it again changes nothing."""
        data = parsed(OutageEndIn, request)
        if listing.outage_row(outage_id)["ends_at"] != data["ended_at"]:
            actions.end_outage(outage_id=outage_id, **data, at=timezone.now())
        return Response(serialize_outage(listing.outage_row(outage_id)))


def serialize_outage(row: dict[str, Any]) -> dict[str, Any]:
    """An outage as it is answered."""
    return serialize_as(OutageOut, with_named(row, "node"))
