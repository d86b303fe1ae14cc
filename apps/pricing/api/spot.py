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
        answer = {
            "entered": loaded.imported,
            "unchanged": loaded.unchanged,
            "waiting": loaded.waiting,
            "rejected": [
                {"row": rejection.line, "reason": rejection.reason} for rejection in loaded.rejected
            ],
            "remarks": [{"row": remark.line, "remark": remark.remark} for remark in loaded.remarks],
        }
        return Response(SpotPricesOut(answer).data)


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
