"""A scenario's answer over the wire: the shapes of what economics answers, made from it."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from datetime import date
from enum import StrEnum
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

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

PLAIN: Mapping[type, type[serializers.Field[Any, Any, Any, Any]]] = {
    float: serializers.FloatField,
    int: serializers.IntegerField,
    str: serializers.CharField,
    bool: serializers.BooleanField,
    date: serializers.DateField,
}
SHAPES: dict[Any, type[serializers.Serializer[Any]]] = {}
"""What was made; two of one name would be two parts of the schema."""


def shape_of(dataclass: Any) -> type[serializers.Serializer[Any]]:
    """The serializer of a dataclass of numbers, texts, days, and such dataclasses in tuples: one of each."""
    if dataclass not in SHAPES:
        fields = {name: _field_of(hint) for name, hint in get_type_hints(dataclass).items()}
        doc = {"__doc__": dataclass.__doc__}
        name = f"{dataclass.__name__}Out"
        SHAPES[dataclass] = type(name, (serializers.Serializer,), doc | fields)
    return SHAPES[dataclass]


def _field_of(hint: Any, **kwargs: Any) -> Any:
    options = [option for option in get_args(hint) if option is not NoneType]
    if NoneType in get_args(hint):
        return _field_of(options[0], allow_null=True)
    if get_origin(hint) is tuple:
        inner = options[0]
        return shape_of(inner)(many=True) if is_dataclass(inner) else _list_of(inner)
    if get_origin(hint) is dict:
        return serializers.DictField(child=_field_of(options[1]))
    if issubclass(hint, StrEnum):
        return serializers.ChoiceField(choices=[str(member) for member in hint], **kwargs)
    return shape_of(hint)(**kwargs) if is_dataclass(hint) else PLAIN[hint](**kwargs)


def _list_of(hint: type) -> serializers.Field[Any, Any, Any, Any]:
    return serializers.ListField(child=_field_of(hint))


class BreakEvenOut(serializers.Serializer[Any]):
    """Volumes in million tokens a month; null where there is none, or it is not known."""

    first_million_tokens = serializers.FloatField(allow_null=True)
    durable_million_tokens = serializers.FloatField(allow_null=True)
    months_until_durable = serializers.FloatField(allow_null=True)
    utilization = serializers.FloatField(allow_null=True)
    cost_at_scale = serializers.FloatField()
    cheaper_at_first = serializers.ChoiceField(choices=[str(each) for each in Side])
    crossings = shape_of(Crossing)(many=True)
    searched_to = serializers.FloatField()
    ended_by = serializers.ChoiceField(choices=[str(each) for each in SearchEnd])


class CrossoverAnswerOut(serializers.Serializer[Any]):
    """All that a scenario says, in its currency a month; see docs/guides/crossover.md for how."""

    name = serializers.CharField()
    on = serializers.DateField(help_text="the day whose prices hold")
    currency = serializers.CharField()
    draws = serializers.IntegerField()
    seed = serializers.IntegerField()
    price_in_force = shape_of(OfferPrice)()
    method = serializers.CharField()
    costs = shape_of(CostsAtVolume)()
    advice = serializers.ChoiceField(choices=[str(each) for each in CrossoverAdvice])
    reasons = serializers.ListField(child=serializers.CharField())
    uncertainty = shape_of(SavingsRange)(allow_null=True)
    tornado = shape_of(TornadoBar)(many=True)
    must_be_true = shape_of(BreakEvenInput)(many=True)
    levers = shape_of(LeverEffect)(many=True)
    cheapest_ways = shape_of(CheapestWay)(many=True)
    risks = serializers.ListField(child=serializers.CharField())
    gates = GateOut(many=True, required=False, help_text="what it was held against")
    break_even = BreakEvenOut()
