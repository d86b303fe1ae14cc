"""Statements of owners about their workloads over the wire: what a unit is worth, how good the results are."""

from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import Role, organisation
from apps.web.rest.idempotency import once
from apps.web.rest.money import NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Answer, BodyFields
from apps.web.rest.strict import Parameters, Text, parsed
from apps.web.rest.views import RestView
from apps.workloads.actions import returns as actions
from apps.workloads.api.naming import NameResolver
from apps.workloads.queries import returns
from apps.workloads.queries.returns import EnteredScore, EnteredValue, ScoreFact, ValueFact


class AnswersForWorkloads(BasePermission):
    """Leads, finance and platform of the workloads that they see, and the organisation's `manage` tokens."""

    message = "values and scores are stated by leads, finance and platform, and with the organisation's 'manage' tokens"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether this caller may state anything."""
        is_known = request.auth is not None or bool(request.user and request.user.is_authenticated)
        if not is_known or not isinstance(view, RestView):
            return False
        viewer = view.viewer()
        if viewer.person_id is None:
            return viewer.may_manage
        return viewer.sees_prices or viewer.role == Role.LEAD


class ReturnsAsked(Parameters):
    """Of which workload."""

    workload = Text(required=False, help_text="the name of a workload")


class WorkloadValueIn(BodyFields[EnteredValue]):
    """The worth of one unit from a day on, in the organisation's currency; without both ends, no value any more."""

    without = ("workload_id",)
    team = Text()
    workload = Text()
    low = serializers.DecimalField(
        max_digits=24, decimal_places=6, required=False, allow_null=True, default=None
    )
    high = serializers.DecimalField(
        max_digits=24, decimal_places=6, required=False, allow_null=True, default=None
    )


class WorkloadValueOut(Answer[ValueFact]):
    """A statement; of those that hold on a day the one valid from the latest counts."""

    without = ("workload_id", "stated_by_id", "stated_name")
    workload = NamedOut()
    low = serializers.DecimalField(max_digits=24, decimal_places=6, allow_null=True)
    high = serializers.DecimalField(max_digits=24, decimal_places=6, allow_null=True)
    currency = serializers.CharField()
    stated_by = serializers.CharField()


class WorkloadScoreIn(BodyFields[EnteredScore]):
    """How good a workload's results were on a day: an evaluation's score, task success."""

    without = ("workload_id",)
    team = Text()
    workload = Text()
    higher_is_better = serializers.BooleanField(default=True)


class WorkloadScoreOut(Answer[ScoreFact]):
    """A score by an owner's word; runs report theirs with their run reports."""

    without = ("workload_id", "stated_name")
    workload = NamedOut()
    stated_by = serializers.CharField()


class WorkloadValues(RestView):
    """The values of units of workloads by their owners' word; nothing of them is ever changed."""

    row = WorkloadValueOut
    changes = (AnswersForWorkloads,)

    @extend_schema(
        operation_id="list_workload_values",
        parameters=[ReturnsAsked, *PAGES],
        responses=list_of(WorkloadValueOut),
    )
    def get(self, request: Request) -> Response:
        """All that was stated of the caller's workloads, the newest statement first."""
        query, called = ReturnsAsked.of(request), NameResolver(self.viewer())
        workload_ids = called.workload_ids(query.get("workload"))
        page = returns.value_page(called.viewer, workload_ids, parse_page_request(request))
        return paged(request, page, lambda row: _serialize_value(row, called))

    @extend_schema(
        operation_id="state_workload_value",
        parameters=[REPEAT_KEY],
        request=WorkloadValueIn,
        responses={201: WorkloadValueOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """State what one unit is worth; earlier statements stay as history."""
        body, called = parsed(WorkloadValueIn, request), NameResolver(self.viewer())
        value = EnteredValue(_pop_workload_id(body, called), **body)
        value_id = actions.state_value(value=value, by=called.viewer, at=timezone.now())
        return Response(_serialize_value(returns.value_row(value_id), called), status=201)


class WorkloadScores(RestView):
    """How good the results of workloads were, by their owners' word."""

    row = WorkloadScoreOut
    changes = (AnswersForWorkloads,)

    @extend_schema(
        operation_id="list_workload_scores",
        parameters=[ReturnsAsked, *PAGES],
        responses=list_of(WorkloadScoreOut),
    )
    def get(self, request: Request) -> Response:
        """All scores of the caller's workloads, the newest statement first."""
        query, called = ReturnsAsked.of(request), NameResolver(self.viewer())
        workload_ids = called.workload_ids(query.get("workload"))
        page = returns.score_page(called.viewer, workload_ids, parse_page_request(request))
        return paged(request, page, lambda row: _serialize_score(row, called))

    @extend_schema(
        operation_id="state_workload_score",
        parameters=[REPEAT_KEY],
        request=WorkloadScoreIn,
        responses={201: WorkloadScoreOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """State a score of a day; weekly reviews show it beside what the workload cost."""
        body, called, at = (
            parsed(WorkloadScoreIn, request),
            NameResolver(self.viewer()),
            timezone.now(),
        )
        score = EnteredScore(_pop_workload_id(body, called), **body)
        today = at.astimezone(ZoneInfo(organisation().zone)).date()
        score_id = actions.state_score(score=score, by=called.viewer, at=at, today=today)
        return Response(_serialize_score(returns.score_row(score_id), called), status=201)


def _pop_workload_id(body: dict[str, Any], called: NameResolver) -> int:
    """The workload that a body names, of a team that the caller sees; taken out of the body."""
    name = body.pop("team")
    if not called.team_ids(name):
        raise ValidationError({"team": [f"there is no team named {name!r}"]})
    workload_id = called.workload_id(called.team_id(name), body.pop("workload"))
    if workload_id is None:
        raise ValidationError({"workload": ["name a workload of the team"]})
    return workload_id


def _serialize_value(row: dict[str, Any], called: NameResolver) -> dict[str, Any]:
    fields = {
        "workload": called.workload(row["workload_id"]),
        "currency": organisation().currency,
        "stated_by": row["stated_name"],
    }
    return serialize_as(WorkloadValueOut, row | fields)


def _serialize_score(row: dict[str, Any], called: NameResolver) -> dict[str, Any]:
    fields = {"workload": called.workload(row["workload_id"]), "stated_by": row["stated_name"]}
    return serialize_as(WorkloadScoreOut, row | fields)
