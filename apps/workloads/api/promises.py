"""Service objectives, and changes of workloads, over the wire."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.authentication import needs
from apps.accounts.queries import TokenFact
from apps.fleet.queries import agent_of_token
from apps.web.rest.idempotency import once
from apps.web.rest.money import NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Answer, BodyFields
from apps.web.rest.strict import Moment, OptionalText, Parameters, StrictSerializer, Text, parsed
from apps.web.rest.views import RestView
from apps.workloads.actions.slos import add_objective, end_objective, record_change
from apps.workloads.api.naming import NameResolver
from apps.workloads.queries import promises
from apps.workloads.queries.promises import OBJECTIVES, EnteredObjective
from apps.workloads.queries.requests import ChangeFact, EnteredChange
from apps.workloads.queries.run_names import run_of_name

LONGEST_SECONDS = 1e6


class ObjectivesAsked(Parameters):
    """Parameters of the list of promises."""

    workload = Text(required=False, help_text="the name of a workload")


class ObjectiveIn(BodyFields[EnteredObjective]):
    """A promise: `target_ratio` of the requests are answered within so long.

    `latency` is the whole answer, `first_token` the time to its first token; of `availability`,
    which has no `within_seconds`, they are answered without an error.
    """

    without = ("workload_id",)
    team = Text()
    workload = Text()
    feature = OptionalText()
    measure = serializers.ChoiceField(choices=tuple(OBJECTIVES), default="latency")
    within_seconds = serializers.FloatField(
        max_value=LONGEST_SECONDS, required=False, allow_null=True, default=None
    )


class ObjectiveEndIn(StrictSerializer):
    """From when on a promise counts no more."""

    ended_at = Moment()


class ObjectiveOut(Answer[EnteredObjective]):
    """A promise of a service, and when it was in force, half-open."""

    without = ("workload_id",)
    id = serializers.IntegerField()
    workload = NamedOut()
    starts_at = serializers.DateTimeField(allow_null=True)
    ends_at = serializers.DateTimeField(allow_null=True)


class ChangesAsked(Parameters):
    """Parameters of the list of changes; `since` and `until` bound their moment, half-open."""

    workload = Text(required=False, help_text="the name of a workload")
    since = Moment(required=False)
    until = Moment(required=False)


class ChangeIn(BodyFields[EnteredChange]):
    """Something that changed about a workload and may explain its numbers.

    Of kind `model` with a `run`, it is a model version shipped.
    """

    without = ("workload_id", "run_id")
    team = Text()
    workload = Text()
    feature = OptionalText()
    run = OptionalText(help_text="the key of the training run that made the model")


class ChangeOut(Answer[ChangeFact]):
    """Something that changed; `run` is the key of the run that made a shipped model."""

    without = ("workload_id", "run_id")
    workload = NamedOut()
    run = serializers.CharField(allow_null=True)


class ServiceObjectives(RestView):
    """The list of what services promise."""

    row = ObjectiveOut

    @extend_schema(
        operation_id="list_service_objectives",
        parameters=[ObjectivesAsked, *PAGES],
        responses=list_of(ObjectiveOut),
    )
    def get(self, request: Request) -> Response:
        """The promises of the caller's services, those made last first."""
        query, called = ObjectivesAsked.of(request), NameResolver(self.viewer())
        workload_ids = called.workload_ids(query.get("workload"))
        page = promises.objective_page(called.viewer, workload_ids, parse_page_request(request))
        return paged(request, page, lambda row: _serialize_objective(row, called))

    @extend_schema(
        operation_id="add_service_objective",
        parameters=[REPEAT_KEY],
        request=ObjectiveIn,
        responses={201: ObjectiveOut, 200: ObjectiveOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Promise something of a service from a moment on; the same one again is answered 200."""
        body, called = parsed(ObjectiveIn, request), NameResolver(self.viewer())
        workload_id = _workload_id(body, called)
        wanted = promises.EnteredObjective(workload_id=workload_id, **body)
        existing_id = promises.objective_like(wanted)
        made_id = existing_id or add_objective(objective=wanted)
        return Response(
            _serialize_objective_by_id(made_id, called), status=200 if existing_id else 201
        )


class ServiceObjectiveEnd(RestView):
    """The end of a promise."""

    @extend_schema(
        operation_id="end_service_objective",
        parameters=[REPEAT_KEY],
        request=ObjectiveEndIn,
        responses=ObjectiveOut,
    )
    @once()
    def post(self, request: Request, objective_id: int) -> Response:
        """The promise counts no more from then on; the same end again changes nothing."""
        body, called = parsed(ObjectiveEndIn, request), NameResolver(self.viewer())
        if _serialize_objective_by_id(objective_id, called)["ends_at"] != _serialize_moment(
            body["ended_at"]
        ):
            end_objective(objective_id=objective_id, **body)
        return Response(_serialize_objective_by_id(objective_id, called))


class IsNoAgent(BasePermission):
    """Anybody but the agent of a node, which knows nothing of deployments."""

    message = "the token of a node's agent reports no changes of workloads"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether the caller is something else than an agent."""
        token = request.auth
        return not (isinstance(token, TokenFact) and agent_of_token(token.id) is not None)


class WorkloadChanges(RestView):
    """The list of changes of workloads: deployments, models, prompts, settings."""

    row = ChangeOut

    def get_permissions(self) -> list[BasePermission]:
        """Who reads may ask; pipelines tell with the scope of those who tell of jobs."""
        if self.request.method == "POST":
            return [needs("jobs")(), IsNoAgent()]
        return super().get_permissions()

    @extend_schema(
        operation_id="list_workload_changes",
        parameters=[ChangesAsked, *PAGES],
        responses=list_of(ChangeOut),
    )
    def get(self, request: Request) -> Response:
        """List the changes of the caller's workloads, the latest first."""
        query, called = ChangesAsked.of(request), NameResolver(self.viewer())
        workload_ids = called.workload_ids(query.get("workload"))
        span = query.get("since"), query.get("until")
        page = promises.change_page(called.viewer, workload_ids, span, parse_page_request(request))
        return paged(request, page, lambda row: _serialize_change(row, _workload_name(row, called)))

    @extend_schema(
        operation_id="record_workload_change",
        parameters=[REPEAT_KEY],
        request=ChangeIn,
        responses={201: ChangeOut, 200: ChangeOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Say that something changed; the same again is answered 200 and changes nothing.

        A team's token tells of its own team alone.
        """
        body, called = parsed(ChangeIn, request), NameResolver(self.viewer())
        own_team_id = request.auth.team_id if isinstance(request.auth, TokenFact) else None
        team_id = called.team_id(body["team"])
        if own_team_id not in (None, team_id):
            raise ValidationError({"team": ["this token tells of its own team alone"]})
        named = body["workload"]
        workload_id = _workload_id(body, called)
        run_id = _run_id(body.pop("run"), team_id, is_any_teams=own_team_id is None)
        change = EnteredChange(workload_id=workload_id, run_id=run_id, **body)
        change_id, is_new = record_change(change=change)
        serialized = _serialize_change(
            promises.change_row(change_id), {"id": workload_id, "name": named}
        )
        return Response(serialized, status=201 if is_new else 200)


def _workload_id(body: dict[str, Any], called: NameResolver) -> int:
    """The workload that a body names by `team` and `workload`, which are taken out of it."""
    team_id = called.team_id(body.pop("team"))
    workload_id = called.workload_id(team_id, body.pop("workload"))
    if workload_id is None:
        raise ValidationError({"workload": ["name a workload of the team"]})
    return workload_id


def _run_id(key: str, team_id: int, *, is_any_teams: bool) -> int | None:
    if not key:
        return None
    run_id = run_of_name(key, team_id, is_any_teams=is_any_teams)
    if run_id is None:
        raise ValidationError({"run": [f"there is no run {key!r}"]})
    return run_id


def _serialize_objective_by_id(objective_id: int, called: NameResolver) -> dict[str, Any]:
    row = promises.objective_row(objective_id, called.viewer)
    if row is None:
        raise ObjectDoesNotExist(f"there is no promise {objective_id}")
    return _serialize_objective(row, called)


def _serialize_objective(row: dict[str, Any], called: NameResolver) -> dict[str, Any]:
    return serialize_as(ObjectiveOut, {**row, "workload": _workload_name(row, called)})


def _serialize_change(row: dict[str, Any], named: dict[str, Any] | None) -> dict[str, Any]:
    return serialize_as(ChangeOut, {**row, "workload": named, "run": row["run__key"]})


def _workload_name(row: dict[str, Any], called: NameResolver) -> dict[str, Any] | None:
    return called.workload(row["workload_id"])


def _serialize_moment(moment: Any) -> Any:
    return serializers.DateTimeField().to_representation(moment)
