"""Capacity requests as REST answers them."""

from datetime import date
from typing import Any

from rest_framework import serializers

from apps.accounts.queries import Viewer, organisation
from apps.accounts.queries.facts import fields_of
from apps.economics.gates import serialize_gates
from apps.planning.queries.budgets import is_budget_visible, to_major_units
from apps.planning.queries.request_profile import BudgetRoom, DemandForecast, UseFact, WaitFact
from apps.planning.queries.request_words import (
    ProfileSentence,
    demands_seen,
    profile_sentences,
    request_gates,
)
from apps.planning.queries.requests import STEPS, CapacityRequestFact, RequestStepFact
from apps.planning.tables.capacity_requests import CAPACITY_REQUESTS
from apps.web.rest.gates import GateOut
from apps.web.rest.money import ExactOut, HoursOut, MoneyOut, NamedOut, RatioOut
from apps.web.rest.pages import serialize_as
from apps.web.rest.shapes import Answer
from apps.web.rest.table_lists import RowAnswer


class SecondsOut(serializers.IntegerField):
    """Whole seconds of a span of time; null where there is none yet."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_null=True)

    def to_representation(self, value: Any) -> int:
        """Return its seconds, rounded."""
        seconds: float = value.total_seconds()
        return round(seconds)


class CapacityRequestOut(RowAnswer):
    """A request, and how long each step took; null: not yet, or not known.

    `cost` is GPUs × `cost_hours` × the price in force as it was raised, on `cost_basis`: of an open-ended one for
    720 hours. `fixes_return_gpus` is what the team's own use said is there already.
    """

    table = CAPACITY_REQUESTS
    without = ("request", "team", "workload", "pool", "team_id", "workload_id", "pool_id")
    team = NamedOut(source="*")
    workload = NamedOut(allow_null=True, source="*")
    pool = NamedOut(allow_null=True, source="*")
    seconds_to_decision = SecondsOut()
    seconds_to_delivery = SecondsOut()
    seconds_to_productive_work = SecondsOut()


class WasteOfUseOut(serializers.Serializer[Any]):
    """The cost of a part of waste."""

    part = serializers.CharField()
    cost = MoneyOut()


class UseOut(serializers.Serializer[Any]):
    """GPU-hours and shares of a span; a share is null where nothing of it was observed or reported."""

    gpus_allocated = RatioOut(help_text="mean")
    gpu_hours_allocated = HoursOut(source="held_ms")
    active = RatioOut(source="active_ratio", allow_null=True)
    sm_active = RatioOut(source="sm_active_ratio", allow_null=True)
    sm_observed = RatioOut(source="sm_coverage_ratio", allow_null=True)
    gpu_hours_reported_by_runs = HoursOut(source="told_ms")
    waiting_for_data = RatioOut(allow_null=True, help_text="of what runs reported")
    cost = MoneyOut(source="micros", allow_null=True)
    waste = MoneyOut(source="waste_micros", allow_null=True)
    waste_parts = WasteOfUseOut(many=True)


class QueueWaitOut(Answer[WaitFact]):
    """How long its work waited; `…_is_longer`: at least so long, for more of it waits still."""

    p90_seconds = serializers.FloatField(source="ninth_seconds")
    p90_is_longer = serializers.BooleanField(source="ninth_is_longer")


class ProfileSentenceOut(Answer[ProfileSentence]):
    """At most how many GPUs it would give back (null: not measured), in a sentence, and its formula."""

    gpus = RatioOut(allow_null=True)


class RequestProfileOut(serializers.Serializer[Any]):
    """The use of the days `[first_day, end_day)`, where the capacity is asked for and everywhere.

    `hours` of them there was anything to measure.
    """

    first_day = serializers.DateField()
    end_day = serializers.DateField()
    hours = HoursOut(source="span_ms")
    there = UseOut()
    everywhere = UseOut()
    queue_wait = QueueWaitOut(source="waits", allow_null=True)
    says = ProfileSentenceOut(many=True)


class DemandForecastOut(Answer[DemandForecast]):
    """GPUs that a kept forecast expects of a pool, model or team, and how many are there (null of a team)."""

    without = ("gates", "history_days")
    starts_at = serializers.DateTimeField()


class BudgetRoomOut(Answer[BudgetRoom]):
    """A budget that ran as it was raised: what was left as things were expected, before the request.

    In the organisation's currency, or in GPU-hours, by its `measure`; null: not known.
    """

    without = ("scope", "key")
    amount = ExactOut()
    headroom = ExactOut(allow_null=True)
    end_day = serializers.DateField()


class RequestStepOut(Answer[RequestStepFact]):
    """A step of a request: what happened, when, by whom and why; `productive` is measured."""

    step = serializers.ChoiceField(choices=list(STEPS), source="kind")


class CapacityRequestOneOut(CapacityRequestOut):
    """A request with what was known as it was raised, and every step."""

    profile = RequestProfileOut(source="profile_answer")
    forecasts = DemandForecastOut(many=True)
    gates = GateOut(many=True, help_text="what its forecast was held against as it was raised")
    budgets = BudgetRoomOut(many=True)
    steps = RequestStepOut(many=True)


def serialize_request(fact: CapacityRequestFact) -> dict[str, Any]:
    """A request without its profile."""
    return serialize_as(CapacityRequestOut, fact, organisation().currency)


def serialize_one_request(fact: CapacityRequestFact, viewer: Viewer) -> dict[str, Any]:
    """A request with its profile; what all of a pool's teams ask for is for who sees everything."""
    currency, profile = organisation().currency, fact.profile
    answer = {
        "profile_answer": {
            **fields_of(profile),
            "first_day": profile.days[0],
            "end_day": profile.days[1],
            "there": _use_fields(profile.there, profile.span_ms),
            "everywhere": _use_fields(profile.everywhere, profile.span_ms),
            "says": profile_sentences(profile),
        },
        "forecasts": demands_seen(fact, sees_all=viewer.sees_everything),
        "gates": serialize_gates(request_gates(fact, sees_all=viewer.sees_everything)),
        "budgets": [
            {
                **fields_of(budget),
                "end_day": date.fromisoformat(budget.end_day),
                "amount": to_major_units(budget.measure, budget.amount),
                "headroom": None
                if budget.headroom is None
                else to_major_units(budget.measure, budget.headroom),
            }
            for budget in profile.budgets
            if is_budget_visible(budget.scope, budget.key, viewer.seen_teams)
        ],
    }
    return serialize_as(CapacityRequestOneOut, fact, currency, **answer)


def _use_fields(use: UseFact, span_ms: int) -> dict[str, Any]:
    return fields_of(use) | {
        "gpus_allocated": use.held_ms / span_ms,
        "active_ratio": use.active_ratio,
        "waiting_for_data": use.lost_ms.get("data_wait", 0) / use.told_ms if use.told_ms else None,
        "waste_micros": use.waste_micros,
        "waste_parts": [
            {"part": part, "cost": micros} for part, micros in sorted(use.waste.items())
        ],
    }
