"""Matters of trust, of what machines report beyond what is theirs, over the wire: listed, approved and refused."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.files.limits import BodyKind
from apps.fleet import actions
from apps.fleet.queries import TrustDecision, TrustKind, trust_incident, waiting_node
from apps.fleet.queries.trust import (
    TrustIncidentFact,
    WaitingNodeFact,
    trust_incident_page,
    waiting_node_page,
)
from apps.fleet.tables.trust import TRUST_INCIDENTS, WAITING_NODES
from apps.web.rest.money import NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import Id, Parameters, StrictSerializer, parsed
from apps.web.rest.table_lists import RowAnswer
from apps.web.rest.views import Manages, RestView

OPEN = "only those that nobody decided on yet, or that somebody did"


class WaitingNodesAsked(Parameters):
    """Parameters that choose waiting nodes."""

    open = serializers.BooleanField(required=False, help_text=OPEN)


class TrustIncidentsAsked(Parameters):
    """Parameters that choose matters of trust."""

    node_id = Id(required=False)
    open = serializers.BooleanField(required=False, help_text=OPEN)


class WaitingNodeOut(RowAnswer):
    """A machine beyond its join token's number; `decision` is empty while it waits."""

    table = WAITING_NODES
    cluster = NamedOut(source="*")
    join_token = NamedOut(source="*")
    pool = NamedOut(source="*", allow_null=True)


class TrustIncidentOut(RowAnswer):
    """A matter of a node, or of the machines that come with a join token; `decision` may be empty.

    Of a growth `ceiling` is how many are taken, and `reported` the most that were reported.
    """

    table = TRUST_INCIDENTS
    without = ("of", "what_to_do")
    kind = serializers.ChoiceField(choices=TrustKind.choices)
    node = NamedOut(source="*", allow_null=True)
    join_token = NamedOut(source="*", allow_null=True)


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
        return paged(request, page, partial(serialize_as, WaitingNodeOut))


class TrustDecisionView(RestView):
    """A person's decision on what waits."""

    reads = changes = (Manages,)
    body = BodyKind.EMPTY
    decision = TrustDecision.APPROVED
    answer: ClassVar[type[RowAnswer]]

    def decided(
        self,
        request: Request,
        fact_of: Callable[[], WaitingNodeFact | TrustIncidentFact],
        decide: Callable[..., None],
    ) -> Response:
        """Decide, and answer what stands then; the same again changes nothing."""
        parsed(StrictSerializer, request)
        if fact_of().decision != self.decision:
            decide(decision=self.decision, by=self.viewer().name, at=timezone.now())
        return Response(serialize_as(self.answer, fact_of()))


class WaitingNodeView(TrustDecisionView):
    """A person's decision on a waiting machine."""

    answer = WaitingNodeOut

    def decide(self, request: Request, waiting_node_id: int) -> Response:
        """Answer the machine as it stands then."""
        fact_of = partial(waiting_node, waiting_node_id)
        decide = partial(actions.decide_waiting_node, waiting_node_id=waiting_node_id)
        return self.decided(request, fact_of, decide)


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
        return paged(request, page, partial(serialize_as, TrustIncidentOut))


class TrustIncidentView(TrustDecisionView):
    """A person's decision on a matter of trust."""

    answer = TrustIncidentOut

    def decide(self, request: Request, trust_incident_id: int) -> Response:
        """Answer the matter as it stands then."""
        fact_of = partial(trust_incident, trust_incident_id)
        decide = partial(actions.decide_trust_incident, trust_incident_id=trust_incident_id)
        return self.decided(request, fact_of, decide)


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
