"""GET /api/v1/headroom-policies and /activity-targets: what is to be ready and active, and what is lacking."""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.accounts.queries.facts import fields_of
from apps.accounts.queries.reading import reading_once
from apps.economics.gates import serialize_gates
from apps.economics.money import Money
from apps.planning.api.ahead_spans import AheadSpanOut, serialize_spans
from apps.planning.queries.headroom import (
    HeadroomFigures,
    HeadroomPolicyFact,
    headroom_of,
    headroom_policies,
)
from apps.planning.queries.targets import activity_targets, target_figures
from apps.planning.tables.activity_targets import ACTIVITY_TARGETS
from apps.web.rest.gates import GateOut
from apps.web.rest.money import MoneyOut, RatioOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import PricesView


class HeadroomPolicyOut(Answer[HeadroomPolicyFact]):
    """A policy against the newest forecast over its lead time; null: no forecast with an interval."""

    without = ("most_waiting", "created_at")
    dimension = serializers.ChoiceField(["pool", "gpu_model", "workload_class"])
    short_cost = MoneyOut(help_text="of an hour in which a GPU is lacking")
    idle_cost = MoneyOut(help_text="of an hour in which a GPU idles")
    most_waiting_ratio = RatioOut(allow_null=True, help_text="of jobs; null: nothing is promised")
    service_level_ratio = RatioOut(help_text="of hours in which the GPUs are to suffice")
    needed_for_cost_gpus = serializers.IntegerField(allow_null=True)
    needed_for_waiting_gpus = serializers.IntegerField(allow_null=True)
    there_gpus = serializers.IntegerField()
    shortfall_gpus = serializers.IntegerField(allow_null=True, help_text="below 0: to spare")
    waiting_ratio = RatioOut(allow_null=True, help_text="of jobs in the busiest hour expected")
    demand_spans = AheadSpanOut(
        many=True, help_text="which hours are from what; none without a forecast"
    )
    gates = GateOut(many=True, help_text="what it was held against")


class ActivityTargetOut(RowAnswer):
    """A target of activity against the last four whole weeks; null: nothing of it was observed."""

    table = ACTIVITY_TARGETS
    without = ("of",)


class HeadroomPolicies(PricesView):
    """For who reads prices: policies state costs."""

    row = HeadroomPolicyOut

    @extend_schema(
        operation_id="list_headroom_policies",
        parameters=[*PAGES],
        responses=list_of(HeadroomPolicyOut),
    )
    def get(self, request: Request) -> Response:
        """Policies with the GPUs that they ask for and those there, by name."""
        Parameters.of(request)
        with reading_once():
            figures = headroom_of(headroom_policies(), timezone.now())
            page = slice_of(
                figures, parse_page_request(request), lambda figure: (figure.policy.name,)
            )
            return paged(request, page, _serialize_policy)


class ActivityTargets(PricesView):
    """For who reads prices: gaps are of every team, in money."""

    row = ActivityTargetOut

    @table_schema("list_activity_targets", ActivityTargetOut)
    def get(self, request: Request) -> HttpResponseBase:
        """Targets with what came in the last four whole weeks and what is lacking, by scope, id and measure."""
        Parameters.of(request, SORT)
        with reading_once():
            figures = target_figures(activity_targets(), timezone.now())
            return answer_table(request, ActivityTargetOut, figures)


def _serialize_policy(figures: HeadroomFigures) -> dict[str, Any]:
    policy, currency = figures.policy, accounts.organisation().currency
    return serialize_as(
        HeadroomPolicyOut,
        fields_of(policy)
        | {
            "short_cost": Money(policy.short_cost, currency).micros(),
            "idle_cost": Money(policy.idle_cost, currency).micros(),
            "most_waiting_ratio": policy.most_waiting,
            "service_level_ratio": policy.level,
            "needed_for_cost_gpus": figures.for_cost,
            "needed_for_waiting_gpus": figures.for_waiting,
            "there_gpus": figures.there,
            "shortfall_gpus": figures.shortfall,
            "waiting_ratio": figures.waiting,
            "demand_spans": serialize_spans(figures.spans),
            "gates": serialize_gates(figures.gates),
        },
        currency,
    )
