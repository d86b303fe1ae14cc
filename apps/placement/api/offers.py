"""GET /api/v1/offers: what GPU time can be had now, of the newest offer book; and prices of egress."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation
from apps.placement.api.callers import CanSeeOfferRates, bound_cluster
from apps.placement.queries.book import offer_page
from apps.placement.queries.offer_facts import OfferFact
from apps.placement.queries.placement_scope import pools_of
from apps.placement.queries.places import EgressFact, egress_page
from apps.web.rest.money import MoneyOut, RatioOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters
from apps.web.rest.views import RestView


class PriceRowOut(serializers.Serializer[Any]):
    """A price on record, by its id under /rates, when it was last said, and whether that is long ago."""

    rate = serializers.IntegerField()
    kind = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # a field of the answer
    said_on = serializers.DateField()
    age_days = serializers.IntegerField()
    is_stale = serializers.BooleanField()


class JoinedEvidenceOut(serializers.Serializer[Any]):
    """The source whose rate was added to one that says too little alone, by so many interruptions at that rate."""

    source = serializers.CharField()  # type: ignore[assignment]  # a field of the answer
    names = serializers.ListField(child=serializers.CharField())
    exposure_hours = RatioOut()
    interruptions = serializers.IntegerField()
    added_interruptions = serializers.IntegerField()
    seen_until = serializers.DateTimeField(allow_null=True)
    age_days = serializers.IntegerField(allow_null=True)
    is_stale = serializers.BooleanField()


class SpotEvidenceOut(serializers.Serializer[Any]):
    """Interruptions in an hour with the range of 95 %, the mean hours of wait after one, and on what evidence.

    Of a whole job; where `is_per_node`, of one node. Null: the book is of a release that did not say it.
    """

    low = RatioOut()
    likely = RatioOut()
    high = RatioOut()
    wait = RatioOut()
    words = serializers.CharField()
    is_thin = serializers.BooleanField(help_text="fewer than 5 interruptions were seen")
    source = serializers.CharField(  # type: ignore[assignment]  # a field of the answer
        allow_null=True,
        help_text="own_jobs, else own_nodes, else imported_series: the first that has something to say of the place",
    )
    names = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="pools or series that were counted",
    )
    exposure_hours = RatioOut(allow_null=True)
    interruptions = serializers.IntegerField(allow_null=True)
    joined = JoinedEvidenceOut(
        allow_null=True, help_text="null: the source stands alone, or there is no other"
    )
    is_per_node = serializers.BooleanField(allow_null=True)
    hour_factors = serializers.ListField(
        child=RatioOut(),
        allow_null=True,
        help_text="the rate of each hour of the day in UTC ÷ that of all; null where they differ by no more than chance",
    )
    seen_until = serializers.DateTimeField(
        allow_null=True, help_text="when it was last looked there; null: nobody says"
    )
    age_days = serializers.IntegerField(allow_null=True)
    is_stale = serializers.BooleanField(
        allow_null=True, help_text="that is over 30 days ago, or nobody says"
    )


class OfferOut(Answer[OfferFact]):
    """GPUs that can be had, bought in one way; null: not known, of GPUs: nothing bounds them.

    `price` is of a GPU-hour more, `paid` what one costs anyway (of owned and reserved ones, whether it runs or not).
    """

    without = (
        "watts_per_gpu",
        "measured_watts",
        "pue",
        "pool_id",
        "idle_by_node",
        "most_held_gpus",
        "waits_by_priority",
    )
    price = MoneyOut(allow_null=True, source="micros")
    lowest_price = MoneyOut(allow_null=True, source="low_micros")
    highest_price = MoneyOut(allow_null=True, source="high_micros")
    gpus_there = serializers.IntegerField(allow_null=True, source="there_gpus")
    gpus_free = serializers.IntegerField(allow_null=True, source="free_gpus")
    p90_wait_hours = RatioOut(allow_null=True, source="ninth_wait_hours")
    interruptions = SpotEvidenceOut(allow_null=True)
    price_rows = PriceRowOut(many=True, source="rates")
    notes = serializers.ListField(child=serializers.CharField())
    made_at = serializers.DateTimeField(source="book__made_at")


class EgressPriceOut(Answer[EgressFact]):
    """US dollars for a gigabyte from one place to another; within one it costs nothing."""


class Offers(RestView):
    """The newest book, for who is given rates."""

    reads = (CanSeeOfferRates,)

    row = OfferOut

    @extend_schema(operation_id="list_offers", parameters=[*PAGES], responses=list_of(OfferOut))
    def get(self, request: Request) -> Response:
        """Every offer of the newest book, by key; a worker makes one each hour."""
        Parameters.of(request)
        currency = organisation().currency
        cluster = bound_cluster(request, self)
        page = offer_page(
            parse_page_request(request), None if cluster is None else pools_of(cluster.id)
        )
        return paged(request, page, lambda row: serialize_as(OfferOut, row, currency))


class EgressPrices(RestView):
    """Prices of egress as they were imported, for who is given rates."""

    reads = (CanSeeOfferRates,)

    row = EgressPriceOut

    @extend_schema(
        operation_id="list_egress_prices", parameters=[*PAGES], responses=list_of(EgressPriceOut)
    )
    def get(self, request: Request) -> Response:
        """Every price, by source and target place."""
        Parameters.of(request)
        page = egress_page(parse_page_request(request))
        return paged(request, page, lambda row: serialize_as(EgressPriceOut, row))
