"""Kept scenarios of self-hosting against an API over the wire, their runs, and one answered at once."""

import json
from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import Viewer, person_names, teams
from apps.accounts.queries.facts import fields_of
from apps.accounts.queries.reading import reading_once
from apps.economics.crossover.answer import QUICK_ANSWER
from apps.economics.refusal import Refusal
from apps.files.limits import BodyKind
from apps.planning import actions
from apps.planning.api.answer_shapes import CrossoverAnswerOut
from apps.planning.queries.crossover import (
    SavedScenarioFact,
    ScenarioRunFact,
    may_keep,
    may_keep_any,
    saved_scenario,
    saved_scenarios,
    scenario_runs,
)
from apps.planning.queries.crossover_answers import answer_fields, compute_answer
from apps.planning.queries.crossover_inputs import read_scenario
from apps.planning.queries.scenario_text import scenario_tables
from apps.planning.queries.service_hours import service_named
from apps.web.rest.idempotency import once
from apps.web.rest.money import NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.strict import OptionalText, Parameters, StrictSerializer, parsed
from apps.web.rest.views import Reads, RestView, serialize_team_reference
from apps.workloads.queries import workloads

ADVICES = ("self_host", "api", "too_close_to_call")
INPUT_HELP = "the tables of docs/guides/crossover.md"


@extend_schema_field(OpenApiTypes.OBJECT)
class ScenarioTables(serializers.DictField):
    """A scenario as JSON has it: the same tables and keys as the file."""


class KeptScenarioIn(StrictSerializer):
    """A scenario to be kept; what it leaves out is measured of `service`, if one is named."""

    scenario = ScenarioTables(help_text=INPUT_HELP)
    service = OptionalText(help_text="by name; the scenario is its team's then")
    team = OptionalText(help_text="by name; without one, and without a service: the organisation's")


class ScenarioIn(StrictSerializer):
    """A scenario to be answered at once."""

    scenario = ScenarioTables(help_text=INPUT_HELP)


class ScenarioRunOut(serializers.Serializer[Any]):
    """A run: refused, or with what it came to; costs in the scenario's currency, volumes in million tokens."""

    id = serializers.IntegerField()
    ran_at = serializers.DateTimeField()
    is_asked = serializers.BooleanField(help_text="asked for or after a change, not by the week")
    on = serializers.DateField(allow_null=True, help_text="the day whose prices hold")
    advice = serializers.ChoiceField(choices=ADVICES, allow_null=True)
    flipped_from = serializers.ChoiceField(choices=ADVICES, allow_null=True)
    refusal = serializers.CharField()
    million_tokens = serializers.FloatField(allow_null=True)
    self_host_per_million = serializers.FloatField(allow_null=True)
    api_per_million = serializers.FloatField(allow_null=True)
    ledger_per_million = serializers.FloatField(allow_null=True)
    savings_p10 = serializers.FloatField(allow_null=True)
    savings_p50 = serializers.FloatField(allow_null=True)
    savings_p90 = serializers.FloatField(allow_null=True)
    first_million_tokens = serializers.FloatField(allow_null=True)
    durable_million_tokens = serializers.FloatField(allow_null=True)
    moved = serializers.ListField(
        child=serializers.CharField(), help_text="inputs not as before, what matters most first"
    )
    digest = serializers.CharField(help_text="SHA-256 of the inputs")


class KeptScenarioOut(serializers.Serializer[Any]):
    """A scenario without its tables, and what its newest answer advises."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    owner = NamedOut(allow_null=True)
    team = NamedOut(allow_null=True)
    service = NamedOut(allow_null=True)
    created_at = serializers.DateTimeField()
    changed_at = serializers.DateTimeField()
    is_waiting = serializers.BooleanField(help_text="a run is asked for and not made yet")
    ran_at = serializers.DateTimeField(allow_null=True)
    advice = serializers.ChoiceField(choices=ADVICES, allow_null=True)
    flipped_from = serializers.ChoiceField(
        choices=ADVICES, allow_null=True, help_text="what was advised until `flipped_at`"
    )
    flipped_at = serializers.DateTimeField(
        allow_null=True, help_text="the newest flip of the four weeks before the newest answer"
    )
    refusal = serializers.CharField(help_text="of the newest run; empty where it was answered")


class WholeScenarioOut(KeptScenarioOut):
    """A scenario with its tables and its newest answer."""

    scenario = ScenarioTables()
    answer = CrossoverAnswerOut(allow_null=True)


class CanManageScenarios(BasePermission):
    """Finance, platform, leads of teams, and tokens that manage the organisation."""

    message = "scenarios are kept by finance, platform, a team's leads, and tokens that manage the organisation"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether this caller may keep any."""
        return isinstance(view, RestView) and may_keep_any(view.viewer())


class CrossoverView(RestView):
    """Scenarios are finance's, platform's and their team's to see."""

    changes = (Reads, CanManageScenarios)

    def seen(self, scenario_id: int) -> SavedScenarioFact:
        """The scenario; refuses Http404 where there is none that the caller may see."""
        scenario = saved_scenario(scenario_id, self.viewer().seen_teams)
        if scenario is None:
            raise Http404
        return scenario

    def changeable(self, scenario_id: int) -> SavedScenarioFact:
        """The scenario, where it is the caller's to change."""
        scenario = self.seen(scenario_id)
        self.refuse_unless_kept(scenario.team_id)
        return scenario

    def refuse_unless_kept(self, team_id: int | None) -> None:
        """Refuse who may not keep scenarios of this team."""
        if not may_keep(self.viewer(), team_id):
            raise PermissionDenied(CanManageScenarios.message)

    def entry(self, request: Request) -> actions.ScenarioEntry:
        """Return the scenario that is to be kept; refuses what names no team or service of the caller's."""
        body = parsed(KeptScenarioIn, request)
        team_id, service_id = None, None
        if body["service"]:
            service = service_named(body["service"], self.viewer().seen_teams)
            team_id, service_id = service.team_id, service.id
        if body["team"]:
            team_id = _team_named(body["team"], self.viewer(), team_id)
        self.refuse_unless_kept(team_id)
        return actions.ScenarioEntry(json.dumps(body["scenario"], indent=2), team_id, service_id)


class SavedScenarios(CrossoverView):
    """Scenarios that are kept."""

    row = KeptScenarioOut

    @extend_schema(
        operation_id="list_crossovers", parameters=[*PAGES], responses=list_of(KeptScenarioOut)
    )
    def get(self, request: Request) -> Response:
        """Kept scenarios by name, each with what its newest answer advises."""
        Parameters.of(request)
        with reading_once():
            scenarios = saved_scenarios(self.viewer().seen_teams)
            page = slice_of(
                scenarios,
                parse_page_request(request),
                lambda scenario: (scenario.name, scenario.id),
            )
            return paged(
                request, page, lambda scenario: _serialize_scenario(scenario, self.viewer())
            )

    @extend_schema(
        operation_id="keep_crossover",
        parameters=[REPEAT_KEY],
        request=KeptScenarioIn,
        responses={201: WholeScenarioOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Keep a scenario; it is run within the minute, and every week from then on."""
        entry = self.entry(request)
        owner_id = self.viewer().person_id
        scenario_id = actions.keep_scenario(entry=entry, owner_id=owner_id, at=timezone.now())
        return Response(_serialize_full_scenario(self.seen(scenario_id), self.viewer()), status=201)


class SavedScenarioDetail(CrossoverView):
    """One kept scenario."""

    @extend_schema(operation_id="crossover", responses=WholeScenarioOut)
    def get(self, request: Request, scenario_id: int) -> Response:
        """Its tables and its newest answer."""
        Parameters.of(request)
        return Response(_serialize_full_scenario(self.seen(scenario_id), self.viewer()))

    @extend_schema(
        operation_id="replace_crossover", request=KeptScenarioIn, responses=WholeScenarioOut
    )
    def put(self, request: Request, scenario_id: int) -> Response:
        """Replace it by this; its runs stay, and it is run again within the minute."""
        self.changeable(scenario_id)
        entry = self.entry(request)
        actions.replace_scenario(scenario_id=scenario_id, entry=entry, at=timezone.now())
        return Response(_serialize_full_scenario(self.seen(scenario_id), self.viewer()))

    @extend_schema(operation_id="remove_crossover", responses={200: WholeScenarioOut})
    def delete(self, request: Request, scenario_id: int) -> Response:
        """Keep it no longer, nor its runs; answers what it was."""
        Parameters.of(request)
        was = _serialize_full_scenario(self.changeable(scenario_id), self.viewer())
        actions.remove_scenario(scenario_id=scenario_id)
        return Response(was)


class RunsOfScenario(CrossoverView):
    """The runs of a kept scenario."""

    body = BodyKind.EMPTY

    row = ScenarioRunOut

    @extend_schema(
        operation_id="list_crossover_runs", parameters=[*PAGES], responses=list_of(ScenarioRunOut)
    )
    def get(self, request: Request, scenario_id: int) -> Response:
        """All of them, the newest first, refused ones too."""
        Parameters.of(request)
        runs = scenario_runs(self.seen(scenario_id).id)
        page = slice_of(runs, parse_page_request(request), lambda run: (-run.ran_at.timestamp(),))
        return paged(request, page, _serialize_run)

    @extend_schema(operation_id="run_crossover", request=None, responses={202: WholeScenarioOut})
    def post(self, request: Request, scenario_id: int) -> Response:
        """Have it run now, which takes up to a minute."""
        self.changeable(scenario_id)
        parsed(StrictSerializer, request)
        actions.request_scenario_run(scenario_id=scenario_id, at=timezone.now())
        return Response(_serialize_full_scenario(self.seen(scenario_id), self.viewer()), status=202)


class EvaluatedScenario(RestView):
    """A scenario that is not kept: a question, which whoever reads may ask."""

    changes = (Reads,)

    @extend_schema(
        operation_id="evaluate_crossover", request=ScenarioIn, responses=CrossoverAnswerOut
    )
    def post(self, request: Request) -> Response:
        """Answer a scenario and keep nothing; its ranges are drawn 200 times at most."""
        tables = json.dumps(parsed(ScenarioIn, request)["scenario"])
        question = read_scenario(tables, timezone.now(), is_measured=False)
        answer = compute_answer(question, QUICK_ANSWER)
        fields = answer_fields(question, answer) | {"draws": QUICK_ANSWER.draws_of(question)}
        return Response(serialize_as(CrossoverAnswerOut, fields))


def _team_named(name: str, viewer: Viewer, of_service: int | None) -> int:
    team_id = {team.name: team.id for team in teams() if viewer.sees_team(team.id)}.get(name)
    if team_id is None:
        raise ValidationError({"team": [f"there is no team named {name!r}"]})
    if of_service not in {None, team_id}:
        raise Refusal("team", "the service is another team's: leave the team out")
    return team_id


def _serialize_scenario(fact: SavedScenarioFact, viewer: Viewer) -> dict[str, Any]:
    names = {team.id: team.name for team in teams()}
    answered, newest = fact.answered, fact.newest
    service = None if fact.service_id is None else workloads()[fact.service_id]
    fields = fields_of(fact) | {
        "owner": fact.owner_id and {"id": fact.owner_id, "name": person_names()[fact.owner_id]},
        "team": serialize_team_reference(viewer, fact.team_id, names),
        "service": service and {"id": service.id, "name": service.name},
        "is_waiting": fact.is_waiting,
        "ran_at": newest and newest.ran_at,
        "advice": answered and answered.advice,
        "flipped_from": fact.flipped and fact.flipped.flipped_from,
        "flipped_at": fact.flipped and fact.flipped.ran_at,
        "refusal": newest.refusal if newest else "",
    }
    return serialize_as(KeptScenarioOut, fields)


def _serialize_full_scenario(fact: SavedScenarioFact, viewer: Viewer) -> dict[str, Any]:
    answer = fact.answered and serialize_as(CrossoverAnswerOut, fact.answered.answer)
    tables = json.loads(json.dumps(scenario_tables(fact.text), default=str))
    return _serialize_scenario(fact, viewer) | {"scenario": tables, "answer": answer}


def _serialize_run(run: ScenarioRunFact) -> dict[str, Any]:
    fields = fields_of(run) | {
        "on": run.figure("on"),
        "advice": run.advice or None,
        "flipped_from": run.flipped_from or None,
        "ledger_per_million": run.measured and run.measured["ledger_per_million"],
        "moved": [move["name"] for move in run.moved],
        **{name: run.figure("costs", name) for name in
           ("million_tokens", "self_host_per_million", "api_per_million")},
        **{f"savings_{name}": run.figure("uncertainty", "savings", name) for name in ("p10", "p50", "p90")},
        **{name: run.figure("break_even", name) for name in
           ("first_million_tokens", "durable_million_tokens")},
    }  # fmt: skip
    return serialize_as(ScenarioRunOut, fields)
