"""GET /api/v1/recommendations/waste: where each dollar of the waste of the newest look goes."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation
from apps.accounts.queries.facts import fields_of
from apps.review.queries.recommendations import ids_of_matters, latest_recommendation_detection_run
from apps.review.queries.recommending.waste_explained import WasteLine, waste_from
from apps.web.rest.money import MoneyOut
from apps.web.rest.pages import serialize_as
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters
from apps.web.rest.views import RestView, SeesPrices


class WasteLineOut(Answer[WasteLine]):
    """A sort of waste of a pool that one recommendation covers, or that is left for one reason of a closed list."""

    without = ("matter",)
    purchase_option = serializers.CharField(source="option")
    waste = MoneyOut(source="micros")
    recommendation = serializers.IntegerField(allow_null=True)
    says = serializers.CharField(source="where_words")


class WasteExplainedOut(serializers.Serializer[Any]):
    """Every dollar of the waste of the local days `[first_day, end_day)` once, brought to a month of 730 h, most first.

    `covered` is what recommendations would take away, `other` what neither they nor a reason explain. Days are null
    where no look kept it.
    """

    first_day = serializers.DateField(allow_null=True)
    end_day = serializers.DateField(allow_null=True)
    waste = MoneyOut(source="micros")
    covered = MoneyOut(source="covered_micros")
    other = MoneyOut(source="other_micros")
    lines = WasteLineOut(many=True)


NOTHING: dict[str, Any] = {
    "first_day": None,
    "end_day": None,
    "micros": 0,
    "covered_micros": 0,
    "other_micros": 0,
    "lines": [],
}


class WasteExplained(RestView):
    """Of the whole organisation: for finance and platform, and the organisation's tokens."""

    reads = (SeesPrices,)

    @extend_schema(operation_id="get_waste_explained", responses=WasteExplainedOut)
    def get(self, request: Request) -> Response:
        """Where each dollar of the waste of the newest look goes: covered by which recommendation, or why by none."""
        Parameters.of(request)
        newest_look = latest_recommendation_detection_run(timezone.now())
        explained = waste_from(newest_look.waste) if newest_look else None
        fields = NOTHING
        if explained is not None:
            ids_by_matter = ids_of_matters({line.matter for line in explained.lines if line.matter})
            fields = {
                **{name: getattr(explained, name) for name in NOTHING},
                "lines": [
                    fields_of(line)
                    | {
                        "recommendation": ids_by_matter.get(line.matter),
                        "where_words": line.where_words,
                    }
                    for line in explained.lines
                ],
            }
        return Response(serialize_as(WasteExplainedOut, fields, organisation().currency))
