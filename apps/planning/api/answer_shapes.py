"""A scenario's answer over the wire."""

from typing import Any

from rest_framework import serializers

from apps.economics.crossover.adaptation import CheapestWay
from apps.economics.crossover.answer import (
    CostsAtVolume,
    CrossoverAdvice,
    LeverEffect,
)
from apps.economics.crossover.crossings import Crossing, SearchEnd, Side
from apps.economics.crossover.offers import OfferPrice
from apps.economics.crossover.uncertainty import BreakEvenInput, SavingsRange, TornadoBar
from apps.web.rest.gates import GateOut
from apps.web.rest.shapes import answer_of


class BreakEvenOut(serializers.Serializer[Any]):
    """Volumes in million tokens a month; null where there is none, or it is not known."""

    first_million_tokens = serializers.FloatField(allow_null=True)
    durable_million_tokens = serializers.FloatField(allow_null=True)
    months_until_durable = serializers.FloatField(allow_null=True)
    utilization = serializers.FloatField(allow_null=True)
    cost_at_scale = serializers.FloatField()
    cheaper_at_first = serializers.ChoiceField(choices=[str(each) for each in Side])
    crossings = answer_of(Crossing)(many=True)
    searched_to = serializers.FloatField()
    ended_by = serializers.ChoiceField(choices=[str(each) for each in SearchEnd])


class CrossoverAnswerOut(serializers.Serializer[Any]):
    """All that a scenario says, in its currency a month; see docs/guides/crossover.md for how."""

    name = serializers.CharField()
    on = serializers.DateField(help_text="the day whose prices hold")
    currency = serializers.CharField()
    draws = serializers.IntegerField()
    seed = serializers.IntegerField()
    price_in_force = answer_of(OfferPrice)()
    method = serializers.CharField()
    costs = answer_of(CostsAtVolume)()
    advice = serializers.ChoiceField(choices=[str(each) for each in CrossoverAdvice])
    reasons = serializers.ListField(child=serializers.CharField())
    uncertainty = answer_of(SavingsRange)(allow_null=True)
    tornado = answer_of(TornadoBar)(many=True)
    must_be_true = answer_of(BreakEvenInput)(many=True)
    levers = answer_of(LeverEffect)(many=True)
    cheapest_ways = answer_of(CheapestWay)(many=True)
    risks = serializers.ListField(child=serializers.CharField())
    gates = GateOut(many=True, required=False, help_text="what it was held against")
    break_even = BreakEvenOut()
