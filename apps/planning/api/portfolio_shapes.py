"""A portfolio's answer over the wire."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.economics.portfolio.parts import (
    ComparedChoice,
    CostParts,
    FamilyAnswer,
    HeldOutChoice,
    OfferAnswer,
    PortfolioChange,
    PurchaseTranche,
)
from apps.web.rest.gates import GateOut
from apps.web.rest.shapes import Answer


@extend_schema_field(OpenApiTypes.OBJECT)
class DocumentOut(serializers.DictField):
    """A question as JSON has it: the same tables and keys as the file of docs/guides/portfolio.md."""


class ChoiceOut(Answer[ComparedChoice]):
    """A choice of lots by offer, over the same scenarios; costs are of the planned months."""

    limited_part = serializers.FloatField(help_text="the blocked part that most_blocked limits")


class OfferAnswerOut(Answer[OfferAnswer]):
    """How many lots of an offer to buy; `rate` is of a GPU-hour, what a lot saves below 0 what it costs."""

    history_days = serializers.FloatField(
        required=False, help_text="days of the family's history that it rests on"
    )
    caution = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="why no more of it is bought; empty: nothing bounds it",
    )


class TriedRuleOut(serializers.Serializer[Any]):
    """The cost that a way of choosing would have had, decided before and paid over the last days of the history."""

    name = serializers.CharField()
    cost = serializers.FloatField()


class FamilyPartsOut(Answer[CostParts]):
    """GPU-hours and money of a family over the planned months, means of the scenarios."""

    short_hours = serializers.FloatField(help_text="that nobody can supply: the blocked ones")


class FamilyAnswerOut(Answer[FamilyAnswer]):
    """Where a family's GPU-hours come from."""

    parts = FamilyPartsOut()
    waiting_hours = serializers.FloatField(
        required=False, help_text="GPU-hours beyond the GPUs that are there: they wait, in no part"
    )
    waiting_cost = serializers.FloatField(
        required=False,
        allow_null=True,
        help_text="of these; null where nobody said what waiting costs",
    )


class TrancheOut(Answer[PurchaseTranche]):
    """A purchase of the ladder."""

    first = ("on",)
    on = serializers.DateField()


class PortfolioChangeOut(Answer[PortfolioChange]):
    """The purchases that would be made if an input were another."""


class HeldOutChoiceOut(Answer[HeldOutChoice]):
    """The cost that a choice would have had in the last month of the histories."""


class HeldOutOut(serializers.Serializer[Any]):
    """Choices decided before the last `hours`, and paid over them; `refusal` names families left out."""

    hours = serializers.IntegerField()
    families = serializers.ListField(child=serializers.CharField())
    refusal = serializers.CharField()
    choices = HeldOutChoiceOut(many=True)


class SavingsOut(serializers.Serializer[Any]):
    """(On demand − paid) ÷ on demand of the months, and with the least that could have been paid; null: of nothing."""

    families = serializers.ListField(child=serializers.CharField())
    on_demand = serializers.FloatField(allow_null=True)
    paid = serializers.FloatField(allow_null=True)
    least = serializers.FloatField(allow_null=True)
    effective_savings_rate = serializers.FloatField(allow_null=True)
    attainable_savings_rate = serializers.FloatField(allow_null=True)


class FamilySavingsOut(SavingsOut):
    """Savings of one family."""

    name = serializers.CharField()


class SourceOut(serializers.Serializer[Any]):
    """GPU-hours in service in a month by what they were bought by; null amounts are not known."""

    month = serializers.DateField()
    family = serializers.CharField(help_text="empty: of several")
    bought_as = serializers.CharField(
        help_text="owned, committed, on_demand, spot; unused was paid for only"
    )
    gpu_hours = serializers.FloatField()
    on_demand = serializers.FloatField(allow_null=True)
    paid = serializers.FloatField(allow_null=True)


class BoughtOut(serializers.Serializer[Any]):
    """Sources that the last months that are over were bought by; `refusal` says why there is none."""

    months = serializers.ListField(child=serializers.DateField())
    refusal = serializers.CharField()
    sources = SourceOut(many=True)
    savings = SavingsOut()
    families = FamilySavingsOut(many=True)


class InterruptibleOut(serializers.Serializer[Any]):
    """The part of a family's GPU-hours that may be interrupted; null: not known."""

    name = serializers.CharField()
    share = serializers.FloatField(allow_null=True)


class LeftOutOut(serializers.Serializer[Any]):
    """A family that was not asked about, and what is not known of it."""

    name = serializers.CharField()
    why = serializers.CharField()


class PortfolioAnswerOut(serializers.Serializer[Any]):
    """All that a portfolio says; money in `currency` over the planned `hours`. docs/guides/portfolio.md says how."""

    name = serializers.CharField()
    on = serializers.DateField()
    currency = serializers.CharField()
    hours = serializers.IntegerField()
    scenarios = serializers.IntegerField()
    seed = serializers.IntegerField()
    risk_weight = serializers.FloatField()
    tail = serializers.FloatField()
    blocked_tail = serializers.FloatField()
    budget = serializers.FloatField(allow_null=True)
    upfront_budget = serializers.FloatField(allow_null=True)
    most_blocked = serializers.FloatField(allow_null=True)
    method = serializers.CharField()
    gap = serializers.FloatField()
    keeps_limit = serializers.BooleanField(
        help_text="false: no choice holds most_blocked, this was made without it"
    )
    chosen = ChoiceOut()
    compared = ChoiceOut(many=True)
    offers = OfferAnswerOut(many=True)
    families = FamilyAnswerOut(many=True)
    ladder = TrancheOut(many=True)
    changes = PortfolioChangeOut(many=True)
    answered_by = serializers.CharField(
        required=False,
        help_text="chosen: the mix of scenarios; else the rule that did better on the history, whose lots these are",
    )
    gates = GateOut(many=True, required=False)
    tried = TriedRuleOut(many=True, required=False)
    held_out = HeldOutOut()
    bought = BoughtOut()
    interruptible = InterruptibleOut(many=True)
    left_out = LeftOutOut(many=True)
    notes = serializers.ListField(child=serializers.CharField())
    question = DocumentOut()
