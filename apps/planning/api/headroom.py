"""GET /api/v1/headroom-policies and /activity-targets: what is to be ready and active, and what is lacking."""

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.reading import reading_once
from apps.planning.api.ahead_spans import AheadSpanOut
from apps.planning.queries.headroom import headroom_of, headroom_policies
from apps.planning.queries.targets import activity_targets, target_figures
from apps.planning.tables.activity_targets import ACTIVITY_TARGETS
from apps.planning.tables.headroom_policies import HEADROOM_POLICIES
from apps.web.rest.gates import GateOut
from apps.web.rest.money import MoneyOut
from apps.web.rest.strict import Parameters
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import PricesView


class HeadroomPolicyOut(RowAnswer):
    """A policy against the newest forecast over its lead time; null: no forecast with an interval."""

    table = HEADROOM_POLICIES
    without = ("of", "short_cost", "idle_cost", "demand_from", "busiest_gpus", "not_passed")
    dimension = serializers.ChoiceField(["pool", "gpu_model", "workload_class"])
    pool_ids = serializers.ListField(child=serializers.IntegerField(), source="policy.pool_ids")
    short_cost = MoneyOut(
        source="policy.short_micros", help_text="of an hour in which a GPU is lacking"
    )
    idle_cost = MoneyOut(source="policy.idle_micros", help_text="of an hour in which a GPU idles")
    demand_spans = AheadSpanOut(
        many=True, source="spans", help_text="which hours are from what; none without a forecast"
    )
    gates = GateOut(many=True, help_text="what it was held against")


class ActivityTargetOut(RowAnswer):
    """A target of activity against the last four whole weeks; null: nothing of it was observed."""

    table = ACTIVITY_TARGETS
    without = ("of",)


class HeadroomPolicies(PricesView):
    """For who reads prices: policies state costs."""

    row = HeadroomPolicyOut

    @table_schema("list_headroom_policies", HeadroomPolicyOut)
    def get(self, request: Request) -> Response:
        """Policies with the GPUs that they ask for and those there, by name."""
        Parameters.of(request, SORT)
        with reading_once():
            figures = headroom_of(headroom_policies(), timezone.now())
            return answer_table(request, HeadroomPolicyOut, figures)


class ActivityTargets(PricesView):
    """For who reads prices: gaps are of every team, in money."""

    row = ActivityTargetOut

    @table_schema("list_activity_targets", ActivityTargetOut)
    def get(self, request: Request) -> Response:
        """Targets with what came in the last four whole weeks and what is lacking, by scope, id and measure."""
        Parameters.of(request, SORT)
        with reading_once():
            figures = target_figures(activity_targets(), timezone.now())
            return answer_table(request, ActivityTargetOut, figures)
