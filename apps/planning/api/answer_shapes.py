"""A scenario's answer over the wire."""

from typing import Any

from rest_framework import serializers

from apps.economics.crossover.answer import CrossoverAnswer
from apps.economics.crossover.crossings import Crossing, SearchEnd, Side
from apps.economics.crossover.offers import OfferPrice
from apps.web.rest.gates import GateOut
from apps.web.rest.shapes import Answer, answer_of


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


class CrossoverAnswerOut(Answer[CrossoverAnswer]):
    """All that a scenario says, in its currency a month; see docs/guides/crossover.md for how."""

    without = ("break_even_utilization", "cost_at_scale", "search", "months_until_durable")
    first = ("name", "on", "currency", "draws", "seed", "price_in_force")
    name = serializers.CharField()
    on = serializers.DateField(help_text="the day whose prices hold")
    currency = serializers.CharField()
    draws = serializers.IntegerField()
    seed = serializers.IntegerField()
    price_in_force = answer_of(OfferPrice)()
    gates = GateOut(many=True, required=False, help_text="what it was held against")
    break_even = BreakEvenOut()
