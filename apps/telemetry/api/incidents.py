"""Incidents over the wire."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.telemetry.queries import IncidentsWanted, incidents, incidents_and_trust
from apps.telemetry.queries.incident_facts import IncidentFact
from apps.web.rest.money import NamedOut, named_parts
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer, Filters
from apps.web.rest.views import RestView


class IncidentsAsked(Filters[IncidentsWanted]):
    """Parameters of the list of incidents."""

    without = ("is_open",)
    open = serializers.BooleanField(
        source="is_open", required=False, help_text="only those that last, or do not"
    )


class IncidentOut(Answer[IncidentFact]):
    """An incident of a node or of a device of it; `ended_at` is null while it lasts.

    `uuid` is the device as the agent named it; `device_id` is null where none is on record. A matter
    of trust lasts until a person decides on it, and is listed for those who see everything: its `id`
    is below zero, `node` is null where it is of the machines that come with `join_token`.
    """

    without = ("node_id", "node_name", "node_ended_at", "heard_at")
    node = NamedOut(allow_null=True)
    code = serializers.IntegerField(allow_null=True, help_text="the XID, where it is one")
    count = serializers.IntegerField(help_text="how often it was reported")
    trust_incident_id = serializers.IntegerField(
        allow_null=True, help_text="where /trust-incidents/{id}/approve and /refuse decide on it"
    )
    join_token = NamedOut(allow_null=True)


class Incidents(RestView):
    """The list of incidents of nodes and devices."""

    row = IncidentOut

    @extend_schema(
        operation_id="list_incidents",
        parameters=[IncidentsAsked, *PAGES],
        responses=list_of(IncidentOut),
    )
    def get(self, request: Request) -> Response:
        """Incidents, the one that began last first."""
        wanted = IncidentsAsked.wanted(request)
        # Matters of trust name jobs, services and tokens of anybody.
        listed_of = incidents_and_trust if self.viewer().sees_prices else incidents
        return paged(request, listed_of(wanted, parse_page_request(request)), _serialize_incident)


def _serialize_incident(row: Mapping[str, Any]) -> dict[str, Any]:
    nothing = {"trust_incident_id": None, "join_token_id": None, "join_token_name": None}
    of_device = {"device_id": None, "uuid": "", "code": None}
    fields = {**nothing, **of_device, **row}
    return serialize_as(IncidentOut, fields | named_parts(fields, "node", "join_token"))
