"""Capacity requests over the wire: who asks, what is known of their use, and what was decided."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.accounts.queries import Viewer
from apps.accounts.queries.reading import reading_once
from apps.fleet import queries as fleet
from apps.planning.actions import requests as actions
from apps.planning.api.request_shapes import (
    CapacityRequestOneOut,
    CapacityRequestOut,
    serialize_one_request,
)
from apps.planning.queries.requests import (
    LONGEST_REASON,
    STATES,
    CapacityRequestFact,
    EnteredCapacityRequest,
    capacity_request,
    capacity_requests,
)
from apps.web.rest.idempotency import once
from apps.web.rest.schema import REPEAT_KEY
from apps.web.rest.shapes import BodyFields
from apps.web.rest.strict import (
    OptionalText,
    Parameters,
    StrictSerializer,
    Text,
    parsed,
    refuse_others,
    split_words,
)
from apps.web.rest.table_lists import SORT, answer_table, table_schema
from apps.web.rest.views import RestView
from apps.workloads import queries as workloads

DECISIONS: Mapping[str, Callable[..., None]] = {
    "approved": actions.approve_capacity_request,
    "declined": actions.decline_capacity_request,
    "delivered": actions.deliver_capacity_request,
    "withdrawn": actions.withdraw_capacity_request,
}


class CanRequestCapacity(BasePermission):
    """People, for their teams; the organisation's token of scope manage, for any."""

    message = "capacity is asked for by people, and with the organisation's 'manage' token"

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether this caller may ask for capacity at all."""
        viewer: Viewer = view.viewer()
        return viewer.may_manage or (viewer.person_id is not None and bool(viewer.team_ids))


class DecidesInPerson(BasePermission):
    """People: a decision has a name."""

    message = "requests are decided on by people who signed in"

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether somebody's name stands for it; the action knows whose may."""
        return view.viewer().person_id is not None


class CapacityRequestsQuery(Parameters):
    """Filters of a list of capacity requests."""

    state = OptionalText(help_text=f"{', '.join(STATES)}; several by comma")


class CapacityRequestIn(BodyFields[EnteredCapacityRequest]):
    """GPUs for a team (and one of its workloads) in a pool or of a GPU model, one of them.

    Without `ends_at` it is open-ended.
    """

    without = ("team_id", "workload_id", "pool_id")
    team = Text()
    workload = OptionalText()
    pool = OptionalText()
    gpu_model = OptionalText(help_text="as pools have it, or any that the catalogue knows")


class RequestDecisionIn(StrictSerializer):
    """The decision on a request, and why: needed where it is approved or declined."""

    decision = serializers.ChoiceField(choices=list(DECISIONS))
    reason = OptionalText(max_length=LONGEST_REASON)


class CapacityRequests(RestView):
    """Requests of the organisation for who sees all, of one's teams for others."""

    row = CapacityRequestOut
    changes = (CanRequestCapacity,)

    @table_schema("list_capacity_requests", CapacityRequestOut, CapacityRequestsQuery)
    def get(self, request: Request) -> Response:
        """The newest first, each with what it costs and how long each step took."""
        states = split_words(CapacityRequestsQuery.of(request, SORT)["state"])
        refuse_others("state", states, STATES)
        with reading_once():
            facts = capacity_requests(self.viewer().seen_teams)
            wanted = [fact for fact in facts if not states or fact.state in states]
            return answer_table(request, CapacityRequestOut, wanted)

    @extend_schema(
        operation_id="raise_capacity_request",
        parameters=[REPEAT_KEY],
        request=CapacityRequestIn,
        responses={201: CapacityRequestOneOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Raise a request: what is known of the team's use is attached, and kept as it is now."""
        body, viewer = parsed(CapacityRequestIn, request), self.viewer()
        request_id = actions.raise_capacity_request(
            request=_parse_request(body, viewer),
            by=viewer.person_id,
            at=timezone.now(),
        )
        return Response(
            serialize_one_request(_get_request_or_404(request_id, viewer), viewer), status=201
        )


class OneCapacityRequest(RestView):
    """A request with its profile."""

    @extend_schema(operation_id="get_capacity_request", responses=CapacityRequestOneOut)
    def get(self, request: Request, capacity_request_id: int) -> Response:
        """Return what was known of the use as the request was raised, what that says, and every step since."""
        Parameters.of(request)
        viewer = self.viewer()
        with reading_once():
            fact = _get_request_or_404(capacity_request_id, viewer)
            return Response(serialize_one_request(fact, viewer))


class CapacityRequestDecision(RestView):
    """Decisions of people about a request."""

    changes = (DecidesInPerson,)

    @extend_schema(
        operation_id="decide_capacity_request",
        parameters=[REPEAT_KEY],
        request=RequestDecisionIn,
        responses={200: CapacityRequestOneOut},
    )
    @once()
    def post(self, request: Request, capacity_request_id: int) -> Response:
        """Approve, decline, say that it is delivered, or withdraw; for people.

        Finance and platform approve and decline, but not what they raised themselves; whoever raised it may withdraw it.
        """
        viewer = self.viewer()
        fact, body = (
            _get_request_or_404(capacity_request_id, viewer),
            parsed(RequestDecisionIn, request),
        )
        DECISIONS[body["decision"]](
            capacity_request_id=fact.id,
            by=viewer.person_id,
            reason=body["reason"],
            at=timezone.now(),
        )
        return Response(serialize_one_request(_get_request_or_404(fact.id, viewer), viewer))


def _get_request_or_404(capacity_request_id: int, viewer: Viewer) -> CapacityRequestFact:
    fact = capacity_request(capacity_request_id, viewer.seen_teams)
    if fact is None:
        raise Http404
    return fact


def _parse_request(body: dict[str, Any], viewer: Viewer) -> EnteredCapacityRequest:
    """Return the request of a body: whose, and where, by the names in it; a team of others is as one that nobody has."""
    team, workload, pool = (body.pop(name) for name in ("team", "workload", "pool"))
    teams = {team.name: team.id for team in accounts.teams() if team.id in viewer.team_ids}
    team_id = _id_named("team", team, teams)
    of_team = {
        fact.name: fact.id for fact in workloads.workloads().values() if fact.team_id == team_id
    }
    pools = {pool.name: pool.id for pool in fleet.pools().values()}
    return EnteredCapacityRequest(
        **body,
        team_id=team_id,
        workload_id=_id_named("workload", workload, of_team) if workload else None,
        pool_id=_id_named("pool", pool, pools) if pool else None,
    )


def _id_named(field: str, name: str, ids: Mapping[str, int]) -> int:
    if name not in ids:
        raise ValidationError({field: [f"there is no {field} named {name!r}"]})
    return ids[name]
