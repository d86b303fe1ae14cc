"""The tree of teams over the wire: each caller's own part of it."""

from typing import Any

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.actions import teams as actions
from apps.accounts.queries import TeamFact, Viewer, listing
from apps.web.rest.idempotency import once
from apps.web.rest.money import NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import OptionalText, Parameters, StrictSerializer, Text, parsed
from apps.web.rest.views import RestView, repeats, serialize_team_reference

KINDS = ("team", "platform", "unowned")


class TeamsAsked(Parameters):
    """Parameters of the list of teams."""

    # DRF's metaclass takes declared fields off the class, so nothing is overridden.
    parent = Text(  # type: ignore[assignment]
        required=False, help_text="the name of the team above"
    )


class TeamIn(StrictSerializer):
    """A team, below another or at the top."""

    name = Text()
    parent = Text(  # type: ignore[assignment]  # see TeamsAsked
        required=False, allow_null=True, default=None
    )
    cost_centre = OptionalText()


class TeamChangeIn(StrictSerializer):
    """A change of a team; what is left out stays."""

    parent = Text(  # type: ignore[assignment]  # see TeamsAsked
        required=False, allow_null=True
    )
    cost_centre = Text(required=False, allow_blank=True)


class TeamOut(Answer[TeamFact]):
    """A team; `kind` tells apart the two that stand for nobody, Platform and Unowned."""

    without = ("parent_id",)
    kind = serializers.ChoiceField(choices=KINDS)
    parent = NamedOut(allow_null=True)


class TeamsView(RestView):
    """The caller's teams and those below."""

    row = TeamOut

    @extend_schema(
        operation_id="list_teams", parameters=[TeamsAsked, *PAGES], responses=list_of(TeamOut)
    )
    def get(self, request: Request) -> Response:
        """Teams by name; a team of others is as if there were none."""
        query, viewer = TeamsAsked.of(request), self.viewer()
        page = listing.team_page(viewer, parse_page_request(request), query.get("parent"))
        return paged(request, page, lambda row: serialize_team(row, viewer))

    @extend_schema(
        operation_id="add_team",
        request=TeamIn,
        parameters=[REPEAT_KEY],
        responses={201: TeamOut, 200: TeamOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Add a team; the same one again is answered with the one there is (200)."""
        body, viewer = parsed(TeamIn, request), self.viewer()
        name, cost_centre = body["name"], body["cost_centre"]
        try:
            team_id = actions.add_team(
                name=name, parent_id=team_id_of(body["parent"], "parent"), cost_centre=cost_centre
            )
        except actions.TeamNameTaken:
            existing = serialize_team(
                listing.team_row(viewer, listing.team_named(name) or 0), viewer
            )
            if not repeats(existing, body):
                raise
            return Response(existing)
        return Response(serialize_team(listing.team_row(viewer, team_id), viewer), status=201)


class TeamView(RestView):
    """One team."""

    @extend_schema(operation_id="team", responses=TeamOut)
    def get(self, request: Request, team_id: int) -> Response:
        """A team by its id."""
        Parameters.of(request)
        viewer = self.viewer()
        return Response(serialize_team(listing.team_row(viewer, team_id), viewer))

    @extend_schema(operation_id="change_team", request=TeamChangeIn, responses=TeamOut)
    def patch(self, request: Request, team_id: int) -> Response:
        """Hang a team below another, or book it elsewhere."""
        body, viewer = parsed(TeamChangeIn, request), self.viewer()
        listing.team_row(viewer, team_id)
        with transaction.atomic():
            if "parent" in body:
                above = team_id_of(body["parent"], "parent")
                actions.move_team(team_id=team_id, parent_id=above)
            if "cost_centre" in body:
                actions.book_team(team_id=team_id, cost_centre=body["cost_centre"])
        return Response(serialize_team(listing.team_row(viewer, team_id), viewer))


def serialize_team(row: dict[str, Any], viewer: Viewer) -> dict[str, Any]:
    """A team as it is answered; one above that is none of the viewer's is "another team"."""
    fields = dict(row)
    above, name = fields.pop("parent_id"), fields.pop("parent_name")
    fields["parent"] = serialize_team_reference(viewer, above, {above: name})
    return serialize_as(TeamOut, fields)


def team_id_of(name: str | None, field: str) -> int | None:
    """The team of this name; refuses a ValidationError that names the field."""
    if name is None:
        return None
    team_id = listing.team_named(name)
    if team_id is None:
        raise ValidationError({field: [f"there is no team named {name!r}"]})
    return team_id
