"""Rates as they look over the wire: amounts as they were quoted."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from rest_framework import serializers

from apps.economics.currencies import CURRENCY_CODE
from apps.economics.tiers import Tier
from apps.fleet.queries import pools
from apps.pricing.actions.quoted import EnteredRate
from apps.pricing.actions.rates import TableLoaded
from apps.pricing.queries.listing import RatesWanted
from apps.pricing.queries.reach import Reach
from apps.web.rest.money import MoneyOut, NamedOut
from apps.web.rest.pages import serialize_as
from apps.web.rest.shapes import Answer, Body, Filters
from apps.web.rest.strict import (
    Moment,
    OptionalText,
    PatternOfRows,
    QuotedAmount,
    StrictSerializer,
    Text,
    id_named,
)

UNITS = ("node", "gpu")
QUANTITIES = (1, 3600)
STANDINGS = ("in_force", "quarantined", "waiting", "refused")
MOST_POINTS = 5_000


class PriceIn(StrictSerializer):
    """An amount as quoted: a text, never a float; 9 of its decimals are kept, rounded half to even."""

    amount = QuotedAmount()
    currency = PatternOfRows(CURRENCY_CODE, max_length=3)


def amount_of_price(price: Mapping[str, str]) -> dict[str, Any]:
    """Return the amount and the currency of a price of a body."""
    return {"amount": Decimal(price["amount"]), "currency": price["currency"]}


class TierIn(StrictSerializer):
    """The cost of a unit beyond so many node-hours or GPU-hours of a month."""

    beyond = PatternOfRows(r"^[0-9]{1,12}(\.[0-9]{1,3})?$", max_length=16)
    amount = QuotedAmount()


class TierOut(serializers.Serializer[Any]):
    """The cost of a unit beyond so many node-hours or GPU-hours of a month."""

    beyond = serializers.CharField()
    amount = serializers.CharField()


class RatesAsked(Filters[RatesWanted]):
    """Filters of a list of rates."""

    standing = serializers.ChoiceField(choices=STANDINGS, required=False)


class RateIn(Body[EnteredRate]):
    """A price for one pool, or for every pool of this description in this region (else any)."""

    without = ("amount", "currency", "pool_id", "remark")
    pool = Text(required=False, allow_null=True, default=None)
    price = PriceIn()
    quantity_seconds = serializers.ChoiceField(choices=QUANTITIES, default=3600)
    tiers = serializers.ListField(
        child=TierIn(),
        required=False,
        default=list,
        max_length=20,
        help_text="what more of it costs in a month, each beyond the one before",
    )

    def made(self, values: dict[str, Any]) -> EnteredRate:
        """Return the rate; refuses a pool that nobody knows."""
        pool, tiers, price = (values.pop(name) for name in ("pool", "tiers", "price"))
        return EnteredRate(
            **values,
            **amount_of_price(price),
            pool_id=id_named("pool", pool, {fact.name: fact.id for fact in pools().values()}),
            tiers=tuple(Tier(Decimal(tier["beyond"]), Decimal(tier["amount"])) for tier in tiers),
        )


class RateOut(Answer[EnteredRate]):
    """A price as it was entered; `starts_at` null: since ever, `ends_at` null: until ended."""

    without = ("amount", "currency", "pool_id", "remark")
    id = serializers.IntegerField()
    target = serializers.CharField(help_text="what it prices, at which priority")
    pool = NamedOut(allow_null=True)
    price = MoneyOut()
    quantity_seconds = serializers.ChoiceField(choices=QUANTITIES)
    created_at = serializers.DateTimeField()
    standing = serializers.ChoiceField(
        choices=STANDINGS, help_text="only what is in force prices anything"
    )
    doubt = serializers.CharField(help_text="why it is not simply in force; empty: nothing")
    decided_at = serializers.DateTimeField(
        allow_null=True, help_text="when a person of finance accepted or refused it"
    )
    tiers = TierOut(many=True)


class SpotPointIn(StrictSerializer):
    """The spot price of one machine in one place since a moment; it holds until the next one."""

    provider = Text()
    region = OptionalText()
    instance_type = OptionalText()
    gpu_model = OptionalText()
    at = Moment()
    price = PriceIn()
    quantity_seconds = serializers.ChoiceField(choices=QUANTITIES, default=3600)
    unit = serializers.ChoiceField(choices=UNITS, default="node")


class SpotPricesIn(StrictSerializer):
    """Points in any order; the same ones again change nothing."""

    source = OptionalText()  # type: ignore[assignment]  # see RateIn
    points = serializers.ListField(
        child=SpotPointIn(), allow_empty=False, min_length=1, max_length=MOST_POINTS
    )


class RefusedPoint(serializers.Serializer[Any]):
    """A point that was not taken; `row` counts from 1."""

    row = serializers.IntegerField(source="line")
    reason = serializers.CharField()


class RemarkedPoint(serializers.Serializer[Any]):
    """A point that was taken in another way than it was sent; `row` counts from 1."""

    row = serializers.IntegerField(source="line")
    remark = serializers.CharField()


class SpotPricesOut(Answer[TableLoaded]):
    """The outcome of the points; `waiting` ones are quarantined until finance decides."""

    without = ("imported",)
    entered = serializers.IntegerField(source="imported")
    rejected = RefusedPoint(many=True)
    remarks = RemarkedPoint(many=True)


class RateEndIn(StrictSerializer):
    """Until when the price holds."""

    ended_at = Moment()


class ReachOut(Answer[Reach]):
    """The hours that would be charged again; nulls and zeros where there are none."""

    without = ("lived",)
    nodes = serializers.IntegerField()
    pools = NamedOut(many=True)


def serialize_rate(row: Mapping[str, Any]) -> dict[str, Any]:
    """A rate as it is answered."""
    fields = dict(row)
    # Who did it is on the price's page; the surface names no people.
    del fields["entered_by_id"], fields["decided_by_id"]
    pool_id, pool_name = fields.pop("pool_id"), fields.pop("pool_name")
    fields["pool"] = None if pool_id is None else {"id": pool_id, "name": pool_name}
    amount: Decimal = fields.pop("amount")
    fields["price"] = {"amount": f"{amount:f}", "currency": fields.pop("currency")}
    fields["tiers"] = [{"beyond": beyond, "amount": tier} for beyond, tier in fields["tiers"]]
    return serialize_as(RateOut, fields)
