"""Matters of trust, of what machines report beyond what is theirs, over the wire: listed, approved and refused."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.files.limits import BodyKind
from apps.fleet import actions
from apps.fleet.queries import TrustDecision, TrustKind, trust_incident_row, waiting_node_row
from apps.fleet.queries.trust import trust_incident_page, waiting_node_page
from apps.web.rest.money import NamedOut, named_parts
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import Id, Parameters, StrictSerializer, parsed
from apps.web.rest.views import Manages, RestView

OPEN = "only those that nobody decided on yet, or that somebody did"


class WaitingNodesAsked(Parameters):
    """Parameters that choose waiting nodes."""

    open = serializers.BooleanField(required=False, help_text=OPEN)


class TrustIncidentsAsked(Parameters):
    """Parameters that choose matters of trust."""

    node_id = Id(required=False)
    open = serializers.BooleanField(required=False, help_text=OPEN)


class WaitingNodeOut(serializers.Serializer[Any]):
    """A machine beyond its join token's number; `decision` is empty while it waits."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    cluster = NamedOut()
    join_token = NamedOut()
    pool = NamedOut(allow_null=True)
    version = serializers.CharField()
    first_at = serializers.DateTimeField()
    last_at = serializers.DateTimeField()
    tries = serializers.IntegerField(help_text="how often it came")
    decision = serializers.CharField()
    decided_at = serializers.DateTimeField(allow_null=True)


class TrustIncidentOut(serializers.Serializer[Any]):
    """A matter of a node, or of the machines that come with a join token; `decision` may be empty.

    Of a growth `ceiling` is how many are taken, and `reported` the most that were reported.
    """

    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=TrustKind.choices)
    node = NamedOut(allow_null=True)
    join_token = NamedOut(allow_null=True)
    detail = serializers.CharField()
    ceiling = serializers.IntegerField(allow_null=True)
    reported = serializers.IntegerField(allow_null=True)
    count = serializers.IntegerField(help_text="how often it was reported")
    first_at = serializers.DateTimeField()
    last_at = serializers.DateTimeField()
    decision = serializers.CharField()
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField()


class WaitingNodes(RestView):
    """Machines that wait for a person."""

    row = WaitingNodeOut
    reads = changes = (Manages,)

    @extend_schema(
        operation_id="list_waiting_nodes",
        parameters=[WaitingNodesAsked, *PAGES],
        responses=list_of(WaitingNodeOut),
    )
    def get(self, request: Request) -> Response:
        """Machines that came beyond the number of their join token, the latest first."""
        is_open = WaitingNodesAsked.of(request).get("open")
        page = waiting_node_page(parse_page_request(request), is_open=is_open)
        return paged(request, page, serialize_waiting_node)


class TrustDecisionView(RestView):
    """A person's decision on what waits."""

    reads = changes = (Manages,)
    body = BodyKind.EMPTY
    decision = TrustDecision.APPROVED

    def decided(
        self,
        request: Request,
        row_of: Callable[[], dict[str, Any]],
        decide: Callable[..., None],
    ) -> dict[str, Any]:
        """Decide, and return the row as it stands then; the same again changes nothing."""
        parsed(StrictSerializer, request)
        if row_of()["decision"] != self.decision:
            decide(decision=self.decision, by=self.viewer().name, at=timezone.now())
        return row_of()


class WaitingNodeView(TrustDecisionView):
    """A person's decision on a waiting machine."""

    def decide(self, request: Request, waiting_node_id: int) -> Response:
        """Answer the machine as it stands then."""
        row_of = partial(waiting_node_row, waiting_node_id)
        decide = partial(actions.decide_waiting_node, waiting_node_id=waiting_node_id)
        return Response(serialize_waiting_node(self.decided(request, row_of, decide)))


class WaitingNodeApproval(WaitingNodeView):
    """A waiting machine may join."""

    @extend_schema(operation_id="approve_waiting_node", request=None, responses=WaitingNodeOut)
    def post(self, request: Request, waiting_node_id: int) -> Response:
        """It joins when it next comes, within ten minutes, and costs from then on."""
        return self.decide(request, waiting_node_id)


class WaitingNodeRefusal(WaitingNodeView):
    """A waiting machine is refused."""

    decision = TrustDecision.REFUSED

    @extend_schema(operation_id="refuse_waiting_node", request=None, responses=WaitingNodeOut)
    def post(self, request: Request, waiting_node_id: int) -> Response:
        """No machine of this name joins with its token."""
        return self.decide(request, waiting_node_id)


class TrustIncidents(RestView):
    """Matters of trust in nodes."""

    row = TrustIncidentOut
    reads = changes = (Manages,)

    @extend_schema(
        operation_id="list_trust_incidents",
        parameters=[TrustIncidentsAsked, *PAGES],
        responses=list_of(TrustIncidentOut),
    )
    def get(self, request: Request) -> Response:
        """List what nodes reported beyond what is theirs, or more than they may, the latest first."""
        query = TrustIncidentsAsked.of(request)
        page = trust_incident_page(
            parse_page_request(request), node_id=query.get("node_id"), is_open=query.get("open")
        )
        return paged(request, page, serialize_trust_incident)


class TrustIncidentView(TrustDecisionView):
    """A person's decision on a matter of trust."""

    def decide(self, request: Request, trust_incident_id: int) -> Response:
        """Answer the matter as it stands then."""
        row_of = partial(trust_incident_row, trust_incident_id)
        decide = partial(actions.decide_trust_incident, trust_incident_id=trust_incident_id)
        return Response(serialize_trust_incident(self.decided(request, row_of, decide)))


class TrustIncidentApproval(TrustIncidentView):
    """A growth is right."""

    @extend_schema(operation_id="approve_trust_incident", request=None, responses=TrustIncidentOut)
    def post(self, request: Request, trust_incident_id: int) -> Response:
        """The node may have as many as it reported: they count from then on, within a minute."""
        return self.decide(request, trust_incident_id)


class TrustIncidentRefusal(TrustIncidentView):
    """A growth is wrong, or a contradiction is seen."""

    decision = TrustDecision.REFUSED

    @extend_schema(operation_id="refuse_trust_incident", request=None, responses=TrustIncidentOut)
    def post(self, request: Request, trust_incident_id: int) -> Response:
        """Nothing changes for the node; as much again is counted here and raises nothing."""
        return self.decide(request, trust_incident_id)


def serialize_waiting_node(row: dict[str, Any]) -> dict[str, Any]:
    """A waiting machine as it is answered."""
    return serialize_as(WaitingNodeOut, row | named_parts(row, "cluster", "join_token", "pool"))


def serialize_trust_incident(row: dict[str, Any]) -> dict[str, Any]:
    """A matter of trust as it is answered."""
    return serialize_as(TrustIncidentOut, row | named_parts(row, "node", "join_token"))
