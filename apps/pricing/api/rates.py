"""Rates over the wire: in force and past, entered, ended, and what either would touch."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.pricing import actions
from apps.pricing.api.wire import RateEndIn, RateIn, RateOut, RatesAsked, ReachOut, serialize_rate
from apps.pricing.queries import listing
from apps.pricing.queries.reach import Prices, Reach, reach_of
from apps.pricing.queries.tiers import tiers_of
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import parse_as
from apps.web.rest.strict import Parameters, parsed
from apps.web.rest.views import PricesView


class Rates(PricesView):
    """Rates of node and GPU time, as they were quoted."""

    row = RateOut

    @extend_schema(
        operation_id="list_rates", parameters=[RatesAsked, *PAGES], responses=list_of(RateOut)
    )
    def get(self, request: Request) -> Response:
        """Rates by what they price, past ones too; in force alone by `in_force_at`."""
        wanted = RatesAsked.wanted(request)
        return paged(
            request, listing.rate_page(wanted, parse_page_request(request)), serialize_rate
        )

    @extend_schema(
        operation_id="add_rate",
        request=RateIn,
        parameters=[REPEAT_KEY],
        responses={201: RateOut, 200: RateOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Enter a price; the past hours it covers are charged again.

        The same one again (what it prices, start, amount) is answered 200. One that is implausible,
        or moves what is paid by more than the organisation lets one person do, prices nothing until
        a person of finance accepts it: `standing` and `doubt` say so.
        """
        rate = parse_as(RateIn, request)
        by = self.viewer().person_id
        try:
            entered = actions.propose_rate(rate=rate, by=by, at=timezone.now())
        except actions.RateOverlaps:
            begun = listing.rate_begun(actions.target_of(rate), rate.starts_at)
            if begun is None or not _is_same(listing.rate_row(begun), rate):
                raise
            return Response(serialize_rate(listing.rate_row(begun)))
        status = 201 if entered.is_new else 200
        return Response(serialize_rate(listing.rate_row(entered.id)), status=status)


class RatePreview(PricesView):
    """A preview of what entering a price would touch, for who may enter it."""

    @extend_schema(operation_id="preview_rate", request=RateIn, responses=ReachOut)
    def post(self, request: Request) -> Response:
        """The hours and nodes that would be charged again; nothing is entered."""
        rate = parse_as(RateIn, request)
        reach = reach_of(Prices.of(rate), rate.starts_at, rate.ends_at, timezone.now())
        return _reach_response(reach)


class RateView(PricesView):
    """One rate."""

    @extend_schema(operation_id="rate", responses=RateOut)
    def get(self, request: Request, rate_id: int) -> Response:
        """A rate by its id."""
        Parameters.of(request)
        return Response(serialize_rate(listing.rate_row(rate_id)))


class RateEnd(PricesView):
    """The end of a price."""

    @extend_schema(
        operation_id="end_rate", request=RateEndIn, parameters=[REPEAT_KEY], responses=RateOut
    )
    @once()
    def post(self, request: Request, rate_id: int) -> Response:
        """The price holds until then; what comes after is unpriced until another is entered.

        The same end again changes nothing.
        """
        body = parsed(RateEndIn, request)
        if listing.rate_row(rate_id)["ends_at"] != body["ended_at"]:
            actions.end_rate(rate_id=rate_id, **body, at=timezone.now())
        return Response(serialize_rate(listing.rate_row(rate_id)))


class RateEndPreview(PricesView):
    """A preview of what ending a price would touch, for who may end it."""

    @extend_schema(operation_id="preview_rate_end", request=RateEndIn, responses=ReachOut)
    def post(self, request: Request, rate_id: int) -> Response:
        """The hours and nodes that would be charged again; nothing is ended."""
        ended_at: datetime = parsed(RateEndIn, request)["ended_at"]
        row = listing.rate_row(rate_id)
        prices = Prices(**{name: row[name] for name in Prices.__slots__})
        return _reach_response(reach_of(prices, ended_at, row["ends_at"], timezone.now()))


def _is_same(row: dict[str, Any], rate: actions.EnteredRate) -> bool:
    values = (rate.amount, rate.currency, rate.quantity_seconds, rate.unit, rate.ends_at)
    names = ("amount", "currency", "quantity_seconds", "unit", "ends_at")
    return values == tuple(row[name] for name in names) and rate.tiers == tiers_of(row["tiers"])


def _reach_response(reach: Reach) -> Response:
    pools_reached = [{"id": pool_id, "name": name} for pool_id, name in reach.pools]
    return Response(serialize_as(ReachOut, reach, nodes=reach.nodes, pools=pools_reached))
