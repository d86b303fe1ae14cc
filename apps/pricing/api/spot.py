"""Spot prices over the wire, for providers that are not read by themselves."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.economics.purchase import PurchaseOption
from apps.pricing import actions
from apps.pricing.api.wire import SpotPricesIn, SpotPricesOut, amount_of_price
from apps.pricing.queries import RateKind
from apps.web.rest.idempotency import once
from apps.web.rest.pages import serialize_as
from apps.web.rest.schema import REPEAT_KEY
from apps.web.rest.strict import parsed
from apps.web.rest.views import PricesView


class SpotPrices(PricesView):
    """Prices of machines on the spot market, moment by moment."""

    @extend_schema(
        operation_id="record_spot_prices",
        request=SpotPricesIn,
        parameters=[REPEAT_KEY],
        responses=SpotPricesOut,
    )
    @once()
    def post(self, request: Request) -> Response:
        """Enter points, in any order: each holds until the next, a late one splits what held then.

        An implausible one is quarantined. One that is refused is named, and the others are kept.
        """
        body = parsed(SpotPricesIn, request)
        rows = [
            (row, _rate_of_point(point, body["source"]))
            for row, point in enumerate(body["points"], 1)
        ]
        loaded = actions.record_spot_prices(rows=rows, at=timezone.now())
        return Response(serialize_as(SpotPricesOut, loaded))


def _rate_of_point(point: dict[str, Any], source: str) -> actions.EnteredRate:
    values = dict(point)
    price, at = values.pop("price"), values.pop("at")
    return actions.EnteredRate(
        **values,
        kind=RateKind.LIST,
        **amount_of_price(price),
        starts_at=at,
        purchase_option=PurchaseOption.SPOT,
        source=source,
        source_date=at.date(),
    )
