"""Answers of REST about what-if plans."""

from typing import Any, cast

from rest_framework import serializers

from apps.accounts.queries import organisation
from apps.accounts.queries.facts import field_names, fields_of
from apps.accounts.queries.trail import TrailChange
from apps.economics.gates import serialize_gates
from apps.economics.hours import first_hour
from apps.planning.queries.plan_items import KINDS, OF_KIND, inputs_as_json
from apps.planning.queries.plan_outcomes import PlanOutcome
from apps.planning.queries.plans import PlanFact, PlannedItemFact
from apps.web.rest.gates import GateOut
from apps.web.rest.money import MoneyOut, NamedOut, RatioOut
from apps.web.rest.pages import serialize_as
from apps.web.rest.shapes import Answer, RestField, answer_of


def _hours(help_text: str = "") -> RatioOut:
    return RatioOut(allow_null=True, help_text=help_text)


class PlanBandOut(serializers.Serializer[Any]):
    """One case of ten is below `low`, one above `high`; null: nobody knows how uncertain it is."""

    low = _hours()
    likely = RatioOut()
    high = _hours()


class MoneyBandOut(serializers.Serializer[Any]):
    """The band of an amount: one case of ten is below `low`, one above `high`; null: nobody knows how uncertain it is."""

    low = MoneyOut(allow_null=True)
    likely = MoneyOut()
    high = MoneyOut(allow_null=True)


class PlanBandsOut(serializers.Serializer[Any]):
    """Of each figure its low, likely and high, each of its own scenarios: those of parts do not add up to the whole's."""

    planned_gpu_hours = PlanBandOut(source="planned")
    expected_gpu_hours = PlanBandOut(source="expected", allow_null=True)
    total_gpu_hours = PlanBandOut(source="total", allow_null=True)
    above_committed_gpu_hours = PlanBandOut(source="above", allow_null=True)
    waiting_gpu_hours = PlanBandOut(source="waiting", allow_null=True)
    wait_hours = PlanBandOut(allow_null=True)
    planned_cost = MoneyBandOut(allow_null=True)
    total_cost = MoneyBandOut(allow_null=True)


class WhatIfPlanOut(Answer[PlanFact]):
    """A plan and what comes of it over its weeks; null: without a forecast, a price or capacity not known.

    `committed_gpus` are owned or reserved there now. `longest_wait_hours` is how long what waits at the end of a day
    takes on all of them. Figures are what is likely; `bands` has a low and a high of each, and `longest_wait` of that one.
    """

    without = ("owner_id", "pool_id", "items")
    first = ("id", "name", "description", "variant_of", "owner", "pool", "gpu_model")
    pool = NamedOut(allow_null=True, source="*")
    changed_at = serializers.DateTimeField()
    planned_gpu_hours = RatioOut(source="whole.planned.likely")
    planned_cost = MoneyOut(source="whole.planned_cost.likely", allow_null=True)
    total_cost = MoneyOut(source="whole.total_cost.likely", allow_null=True)
    committed_gpus = serializers.IntegerField()
    longest_wait_hours = RatioOut(allow_null=True)
    price_of_gpu_hour = MoneyOut(allow_null=True)
    price_basis = serializers.CharField()
    forecast_until = serializers.DateTimeField(allow_null=True)
    forecast_made_at = serializers.DateTimeField(allow_null=True)
    bands = PlanBandsOut(source="whole")
    longest_wait = PlanBandOut(allow_null=True)
    queue_chance = _hours(
        "share of the scenarios in which work waits for what is owned or reserved"
    )
    gates = GateOut(many=True, help_text="what it was held against")


class PlannedItemOut(serializers.Serializer[Any]):
    """An item as it was entered; null: of another kind. `gpu_hours` are those in the plan's weeks, the likely ones."""

    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    name = serializers.CharField()
    starts_on = serializers.DateField()
    gpu_hours = RatioOut(allow_null=True)
    low = _hours("as a share of what was entered: less comes in one case of ten; null: as entered")
    high = _hours("more comes in one case of ten")

    def get_fields(self) -> dict[str, RestField]:
        """Return the fields of every item, and the inputs of each kind."""
        inputs = {
            name: field
            for kind in OF_KIND.values()
            for name, field in answer_of(cast(Any, kind))().get_fields().items()
        }
        for field in inputs.values():
            field.allow_null = True
        return super().get_fields() | inputs


class PlanSpanOut(serializers.Serializer[Any]):
    """Days of a plan: GPU-hours and costs, what is likely of each; `bands` has their low and high.

    Of what is expected `forecast_share` lies in the forecast. What waits does at the end of the last day.
    """

    days = serializers.IntegerField()
    forecast_share = RatioOut()
    committed_gpu_hours = RatioOut(
        source="capacity", help_text="what is owned or reserved, by the real hours of its days"
    )
    expected_gpu_hours = RatioOut(source="expected.likely", allow_null=True)
    planned_gpu_hours = RatioOut(source="planned.likely")
    total_gpu_hours = RatioOut(source="total.likely", allow_null=True)
    above_committed_gpu_hours = RatioOut(source="above.likely", allow_null=True)
    waiting_gpu_hours = RatioOut(source="waiting.likely", allow_null=True)
    wait_hours = RatioOut(source="wait_hours.likely", allow_null=True)
    price_factor = RatioOut()
    planned_cost = MoneyOut(source="planned_cost.likely", allow_null=True)
    total_cost = MoneyOut(source="total_cost.likely", allow_null=True)
    bands = PlanBandsOut(source="*")


class PlanWeekOut(PlanSpanOut):
    """A week of a plan."""

    first_day = serializers.DateField()


class MonthOfPlanOut(PlanSpanOut):
    """The plan's days that fall into a month."""

    month = serializers.DateField()


class PlanFieldChangeOut(serializers.Serializer[Any]):
    """A field of what changed; null: it had, or has, no value."""

    name = serializers.CharField()
    old = serializers.CharField(allow_null=True)
    new = serializers.CharField(allow_null=True)


class PlanChangeOut(Answer[TrailChange]):
    """A change of a plan, or of something planned in it, as the audit trail has it."""

    without = ("place",)
    verb = serializers.CharField(help_text="added, changed or removed")
    kind = serializers.CharField(help_text="what-if plan, or planned work")
    fields_changed = PlanFieldChangeOut(many=True, source="fields")


class WhatIfPlanOneOut(WhatIfPlanOut):
    """A plan with its items, weeks and months."""

    items = PlannedItemOut(many=True)
    by_week = PlanWeekOut(many=True)
    by_month = MonthOfPlanOut(many=True)


def serialize_plan_change(change: TrailChange) -> dict[str, Any]:
    """A change of a plan."""
    return serialize_as(PlanChangeOut, change)


def serialize_plan(outcome: PlanOutcome) -> dict[str, Any]:
    """A plan without its weeks."""
    return serialize_as(
        WhatIfPlanOut, outcome.plan, organisation().currency, **_plan_fields(outcome)
    )


def serialize_one_plan(outcome: PlanOutcome) -> dict[str, Any]:
    """A plan with its items, weeks and months."""
    answer = _plan_fields(outcome) | {
        "items": [_item_fields(item, outcome) for item in outcome.plan.items],
        "by_week": outcome.weeks,
        "by_month": outcome.months,
    }
    return serialize_as(WhatIfPlanOneOut, outcome.plan, organisation().currency, **answer)


def _item_fields(item: PlannedItemFact, outcome: PlanOutcome) -> dict[str, Any]:
    band, spread = outcome.by_item.get(item.name), item.spread
    return {
        **fields_of(item),
        **dict.fromkeys(name for kind in OF_KIND.values() for name in field_names(kind)),
        **inputs_as_json(item.inputs),
        "gpu_hours": band and band.likely,
        "low": spread and spread.low,
        "high": spread and spread.high,
    }


def _plan_fields(outcome: PlanOutcome) -> dict[str, Any]:
    place, wait = outcome.place, outcome.longest_wait
    return {
        "whole": outcome.whole,
        "committed_gpus": place.committed_gpus,
        "longest_wait_hours": wait and wait.likely,
        "price_of_gpu_hour": place.price and place.price.micros,
        "price_basis": place.price.basis if place.price else "",
        "forecast_until": place.end_day and first_hour(place.end_day, organisation().zone),
        "forecast_made_at": place.made_at,
        "longest_wait": wait,
        "queue_chance": outcome.queue_chance,
        "gates": serialize_gates(outcome.gates),
    }
