"""What-if plans as REST answers them."""

from typing import Any

from rest_framework import serializers

from apps.accounts.queries import organisation
from apps.accounts.queries.trail import TrailChange
from apps.planning.queries.plan_items import KINDS, inputs_as_json
from apps.planning.queries.plans import PlanOutcome
from apps.web.rest.money import MoneyOut, NamedOut, RatioOut
from apps.web.rest.pages import fields_of, told_as


class WhatIfPlanOut(serializers.Serializer[Any]):
    """A plan and what comes of it over its weeks; null: without a forecast, a price or capacity not known.

    `committed_gpus` are owned or reserved there now. `longest_wait_hours` is how long what waits at the end of a week
    takes on all of them.
    """

    id = serializers.IntegerField()
    name = serializers.CharField()
    description = serializers.CharField()
    variant_of = serializers.IntegerField(allow_null=True, help_text="the plan it was copied from")
    owner = serializers.CharField()
    pool = NamedOut(allow_null=True)
    gpu_model = serializers.CharField(help_text="empty where a pool is named")
    first_day = serializers.DateField()
    weeks = serializers.IntegerField()
    growth_per_month = RatioOut()
    changed_at = serializers.DateTimeField()
    planned_gpu_hours = RatioOut()
    planned_cost = MoneyOut(allow_null=True)
    total_cost = MoneyOut(allow_null=True)
    committed_gpus = serializers.IntegerField()
    longest_wait_hours = RatioOut(allow_null=True)
    price_of_gpu_hour = MoneyOut(allow_null=True)
    price_basis = serializers.CharField()
    forecast_until = serializers.DateTimeField(allow_null=True)


class PlannedItemOut(serializers.Serializer[Any]):
    """An item as it was entered; null: of another kind. `gpu_hours` are those in the plan's weeks."""

    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    name = serializers.CharField()
    starts_on = serializers.DateField()
    gpu_hours = RatioOut(allow_null=True)
    gpus = serializers.IntegerField(allow_null=True)
    parameters = serializers.FloatField(allow_null=True)
    tokens = serializers.FloatField(allow_null=True)
    mfu = RatioOut(allow_null=True)
    like_run = serializers.CharField(allow_null=True)
    requests_by_week = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    tokens_per_request = serializers.FloatField(allow_null=True)
    tokens_per_gpu_hour = serializers.FloatField(allow_null=True)
    like_service = serializers.CharField(allow_null=True)
    factor = RatioOut(allow_null=True)


class PlanWeekOut(serializers.Serializer[Any]):
    """A week: GPU-hours and costs; of what is expected `forecast_share` lies in the forecast."""

    first_day = serializers.DateField()
    expected_gpu_hours = RatioOut(allow_null=True)
    forecast_share = RatioOut()
    planned_gpu_hours = RatioOut()
    total_gpu_hours = RatioOut(allow_null=True)
    above_committed_gpu_hours = RatioOut(allow_null=True)
    waiting_gpu_hours = RatioOut(allow_null=True)
    wait_hours = RatioOut(allow_null=True)
    price_factor = RatioOut()
    planned_cost = MoneyOut(allow_null=True)
    total_cost = MoneyOut(allow_null=True)


class MonthOfPlanOut(serializers.Serializer[Any]):
    """Costs of the plan's weeks that fall into a month."""

    month = serializers.DateField()
    planned_cost = MoneyOut(allow_null=True, source="planned_micros")
    total_cost = MoneyOut(allow_null=True, source="total_micros")


class PlanFieldChangeOut(serializers.Serializer[Any]):
    """A field of what changed; null: it had, or has, no value."""

    name = serializers.CharField()
    old = serializers.CharField(allow_null=True)
    new = serializers.CharField(allow_null=True)


class PlanChangeOut(serializers.Serializer[Any]):
    """A change of a plan, or of something planned in it, as the audit trail has it."""

    at = serializers.DateTimeField()
    who = serializers.CharField()
    verb = serializers.CharField(help_text="added, changed or removed")
    kind = serializers.CharField(help_text="what-if plan, or planned work")
    name = serializers.CharField()
    fields_changed = PlanFieldChangeOut(many=True)


class WhatIfPlanOneOut(WhatIfPlanOut):
    """A plan with its items, weeks and months."""

    items = PlannedItemOut(many=True)
    by_week = PlanWeekOut(many=True)
    by_month = MonthOfPlanOut(many=True)


OF_ITEMS = (
    *("gpus", "parameters", "tokens", "mfu", "like_run", "requests_by_week"),
    *("tokens_per_request", "tokens_per_gpu_hour", "like_service", "factor"),
)


def serialize_plan_change(change: TrailChange) -> dict[str, Any]:
    """A change of a plan."""
    return told_as(PlanChangeOut, fields_of(change) | {"fields_changed": change.fields})


def serialize_plan(outcome: PlanOutcome) -> dict[str, Any]:
    """A plan without its weeks."""
    return told_as(WhatIfPlanOut, _plan_fields(outcome), organisation().currency)


def serialize_one_plan(outcome: PlanOutcome) -> dict[str, Any]:
    """A plan with its items, weeks and months."""
    answer = _plan_fields(outcome) | {
        "items": [
            {
                **fields_of(item),
                **dict.fromkeys(OF_ITEMS),
                **inputs_as_json(item.inputs),
                "gpu_hours": sum(outcome.by_item[item.name])
                if item.name in outcome.by_item
                else None,
            }
            for item in outcome.plan.items
        ],
        "by_week": [
            {
                "first_day": week.first_day,
                "expected_gpu_hours": week.expected,
                "forecast_share": week.forecast_share,
                "planned_gpu_hours": week.planned,
                "total_gpu_hours": week.total,
                "above_committed_gpu_hours": week.queue and week.queue.above,
                "waiting_gpu_hours": week.queue and week.queue.backlog,
                "wait_hours": week.queue and week.queue.wait_hours,
                "price_factor": week.price_factor,
                "planned_cost": week.planned_micros,
                "total_cost": week.total_micros,
            }
            for week in outcome.weeks
        ],
        "by_month": outcome.months,
    }
    return told_as(WhatIfPlanOneOut, answer, organisation().currency)


def _plan_fields(outcome: PlanOutcome) -> dict[str, Any]:
    plan, price = outcome.plan, outcome.price
    return fields_of(plan) | {
        "pool": plan.pool_id and {"id": plan.pool_id, "name": plan.pool},
        "planned_gpu_hours": outcome.planned,
        "planned_cost": outcome.planned_micros,
        "total_cost": outcome.total_micros,
        "committed_gpus": outcome.committed_gpus,
        "longest_wait_hours": outcome.longest_wait,
        "price_of_gpu_hour": price and price.micros,
        "price_basis": price.basis if price else "",
        "forecast_until": outcome.forecast_until,
    }
