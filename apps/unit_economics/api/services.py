"""GET /api/v1/unit-costs, /services and /services/{id}: what a service's units cost."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.economics.serving import SERVICE_KINDS
from apps.ledger import queries
from apps.ledger.rest.answers import names
from apps.ledger.rest.parameters import parse_window
from apps.unit_economics.api.service_answers import (
    KeptObjectiveOut,
    LatencyOut,
    ServiceChangeOut,
    ServiceDetailOut,
    ServiceOut,
    UnitCostOut,
    UnitCostsOut,
    unit_figures,
    unit_meta,
    unit_result,
    unit_sums,
)
from apps.unit_economics.queries.service_measures import Load
from apps.unit_economics.queries.unit_costs import (
    GROUPS,
    AllocationBasis,
    UnitCost,
    UnitFilter,
    together,
    unit_cost_groups,
)
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import (
    OptionalText,
    Parameters,
    Text,
    ids_named,
    refuse_others,
    split_words,
)
from apps.web.rest.views import RestView
from apps.workloads import queries as workloads
from apps.workloads.queries.answer_times import how_answered
from apps.workloads.queries.requests import changes_of


class UnitsAsked(Parameters):
    """Over which time, and what of a service's cost its units carry."""

    window = Text(
        required=False,
        default="30d",
        help_text="today, yesterday, 7d, week, month, lastmonth, 2026-07, 2026-07-31 or start/end",
    )
    basis = serializers.ChoiceField(
        [str(each) for each in queries.Basis], required=False, default="effective"
    )
    load = serializers.ChoiceField(
        [str(each) for each in Load],
        required=False,
        default="loaded",
        help_text="loaded: all its lines; direct: without what is shared out to it; marginal: what "
        "it adds to what is owed anyway (then `basis` does not matter)",
    )
    allocation = serializers.ChoiceField(
        [str(each) for each in AllocationBasis],
        required=False,
        default="allocation",
        help_text="allocation: all that it held, idle too; usage: what was active of it",
    )
    team = OptionalText(help_text="names, by comma")
    service = OptionalText(help_text="names, by comma")


class UnitCostsAsked(UnitsAsked):
    """And by what they are grouped."""

    group_by = Text(
        required=False,
        default="service",
        help_text="by comma: service, team, feature, day, week, month",
    )


class UnitCostsView(RestView):
    """The cost of a thousand requests and of a million tokens."""

    row = UnitCostOut

    @extend_schema(operation_id="unit_costs", parameters=[UnitCostsAsked], responses=UnitCostsOut)
    def get(self, request: Request) -> Response:
        """Unit costs of the window's services; the caller's teams' alone, unless they see all.

        By feature, the rows of a service sum to its cost: hours without requests, tokens that no
        gateway counted and hours in which nobody counted are rows of their own.
        """
        query, at = UnitCostsAsked.of(request), timezone.now()
        group_by = split_words(query["group_by"])
        refuse_others("group_by", group_by, GROUPS)
        chosen = _chosen_units(query, self.viewer(), at)
        currency, named = accounts.organisation().currency, names()
        costs = unit_cost_groups(chosen, group_by)
        total = together(unit_cost_groups(chosen) if "feature" in group_by else costs)
        return Response(
            {
                "meta": unit_meta(
                    chosen, total, queries.settlement_status(chosen.window, at), currency
                ),
                "totals": unit_sums(total, currency),
                "results": [unit_result(cost, group_by, named, currency) for cost in costs],
                "next": None,
                "previous": None,
            }
        )


class Services(RestView):
    """The list of services, the workloads that answer requests."""

    row = ServiceOut

    @extend_schema(
        operation_id="list_services", parameters=[UnitsAsked, *PAGES], responses=list_of(ServiceOut)
    )
    def get(self, request: Request) -> Response:
        """Every service of the caller's teams, with what its units cost in the window."""
        query, viewer = UnitsAsked.of(request), self.viewer()
        chosen = _chosen_units(query, viewer, timezone.now())
        costs = {cost.keys[0]: cost for cost in unit_cost_groups(chosen, ["service"])}
        teams = {team.id: team.name for team in accounts.teams()}
        currency = accounts.organisation().currency
        wanted = [
            service
            for service in _visible_services(viewer).values()
            if _matches_filter(service, chosen)
        ]
        page = slice_of(wanted, parse_page_request(request), lambda fact: (fact.id,))
        return paged(
            request,
            page,
            lambda fact: _serialize_service(fact, teams, costs.get(fact.id), currency),
        )


class Service(RestView):
    """One service."""

    @extend_schema(operation_id="service", parameters=[UnitsAsked], responses=ServiceDetailOut)
    def get(self, request: Request, service_id: int) -> Response:
        """Its units by feature, its latency, its promises, and what changed in the window."""
        query, viewer, at = UnitsAsked.of(request), self.viewer(), timezone.now()
        fact = _visible_services(viewer).get(service_id)
        if fact is None:
            raise NotFound("there is no such service")
        query |= {"service": "", "team": ""}
        chosen = _chosen_units(query, viewer, at, frozenset({service_id}))
        currency, named = accounts.organisation().currency, names()
        total = next(iter(unit_cost_groups(chosen)), None)
        group_by = ["service", "feature"]
        return Response(
            {
                "meta": unit_meta(
                    chosen, total, queries.settlement_status(chosen.window, at), currency
                ),
                **_serialize_service(fact, named.teams, total, currency),
                "features": [
                    unit_result(cost, group_by, named, currency)
                    for cost in unit_cost_groups(chosen, group_by)
                ],
                **_answering_of(service_id, chosen.window),
            }
        )


def _answering_of(service_id: int, window: queries.Window) -> dict[str, Any]:
    """How fast it answered, what was promised of that, and what changed."""
    span = (window.starts_at, window.ends_at)
    answered = how_answered(service_id, span)
    latency, began = answered.latency, answered.first_token
    return {
        "latency": latency and serialize_as(LatencyOut, latency),
        "first_token": began and serialize_as(LatencyOut, began),
        "objectives": [
            serialize_as(KeptObjectiveOut, objective) for objective in answered.objectives
        ],
        "changes": [
            serialize_as(ServiceChangeOut, change) for change in changes_of(service_id, span)
        ],
    }


def _serialize_service(
    fact: workloads.WorkloadFact, teams: Mapping[int, str], cost: UnitCost | None, currency: str
) -> dict[str, Any]:
    team = {"id": fact.team_id, "name": teams[fact.team_id]}
    fields = {"id": fact.id, "name": fact.name, "kind": fact.kind, "team": team}
    return serialize_as(ServiceOut, fields | unit_figures(cost), currency)


def _visible_services(viewer: accounts.Viewer) -> dict[int, workloads.WorkloadFact]:
    """The services that the viewer sees, by id."""
    return {
        workload.id: workload
        for workload in workloads.workloads().values()
        if workload.kind in SERVICE_KINDS and viewer.sees_team(workload.team_id)
    }


def _matches_filter(fact: workloads.WorkloadFact, chosen: UnitFilter) -> bool:
    return (chosen.workload_ids is None or fact.id in chosen.workload_ids) and (
        chosen.team_ids is None or fact.team_id in chosen.team_ids
    )


def _chosen_units(
    query: dict[str, Any],
    viewer: accounts.Viewer,
    at: datetime,
    workload_ids: frozenset[int] | None = None,
) -> UnitFilter:
    teams = {team.name: [team.id] for team in accounts.teams() if viewer.sees_team(team.id)}
    ids_by_name: dict[str, list[int]] = {}
    for fact in _visible_services(viewer).values():
        ids_by_name.setdefault(fact.name, []).append(fact.id)
    team_names, names = split_words(query["team"]), split_words(query["service"])
    if team_names:
        team_ids: frozenset[int] | None = ids_named("team", team_names, teams)
    else:
        team_ids = viewer.seen_teams
    return UnitFilter(
        window=parse_window(query["window"], at),
        basis=queries.Basis(query["basis"]),
        load=Load(query["load"]),
        allocation=AllocationBasis(query["allocation"]),
        team_ids=team_ids,
        workload_ids=workload_ids or (ids_named("service", names, ids_by_name) if names else None),
    )
