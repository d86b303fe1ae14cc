"""GET /api/v1/spot-evidence: how often spot is taken away, by what was seen."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.placement.api.callers import CanSeeOfferRates
from apps.placement.queries.spot_evidence import spot_evidence
from apps.placement.queries.spot_regions import RegionHour, SpotRegion, spot_regions
from apps.placement.tables.spot_evidence import SPOT_EVIDENCE
from apps.web.rest.money import RatioOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import RestView


class SeenInterruptionsOut(serializers.Serializer[Any]):
    """Interruptions in an hour on spot with the range of 95 %; `rate` is null where none was seen, `high` where no hour was."""

    exposure_hours = RatioOut()
    interruptions = serializers.IntegerField()
    rate = RatioOut(allow_null=True)
    low = RatioOut()
    high = RatioOut(allow_null=True)
    is_thin = serializers.BooleanField(help_text="fewer than 5 interruptions were seen")


class SpotEvidenceRowOut(RowAnswer):
    """Evidence of spot that one source has of one place; empty texts: nobody said."""

    table = SPOT_EVIDENCE
    without = (
        *("interruptions_per_day", "low_per_day", "high_per_day", "thin", "exposure_hours"),
        *("interruptions", "place", "gpu_model", "instance_type"),
    )
    gpu_model = serializers.CharField()
    instance_type = serializers.CharField()
    interruptions = SeenInterruptionsOut(source="rate")
    by_hour = SeenInterruptionsOut(
        many=True, help_text="by hour of the day in UTC, shrunk to all; empty: no clock is known"
    )


class RegionHourOut(Answer[RegionHour]):
    """One hour of the day, UTC; `up_share` is null where nobody looked."""

    hour = serializers.IntegerField(min_value=0, max_value=23)
    interruptions = SeenInterruptionsOut()


class SpotRegionOut(Answer[SpotRegion]):
    """A region and model as sources of one kind saw it; empty texts: nobody said."""

    hours = RegionHourOut(many=True)


class SpotEvidenceList(RestView):
    """For who reads prices, as what is bought where."""

    reads = (CanSeeOfferRates,)

    row = SpotEvidenceRowOut

    @table_schema("list_spot_evidence", SpotEvidenceRowOut)
    def get(self, request: Request) -> Response:
        """Own spot pools over the last 90 days, and each imported series of availability, by source and name.

        A rate is of what was seen taken away: never of a price.
        """
        Parameters.of(request, SORT)
        return answer_table(request, SpotEvidenceRowOut, spot_evidence(timezone.now()))


class SpotRegionList(RestView):
    """For who reads prices."""

    reads = (CanSeeOfferRates,)

    row = SpotRegionOut

    @extend_schema(
        operation_id="list_spot_regions", parameters=[*PAGES], responses=list_of(SpotRegionOut)
    )
    def get(self, request: Request) -> Response:
        """Interruptions and availability by region, GPU model and hour of the day in UTC; sources of one kind added up."""
        Parameters.of(request)
        regions = spot_regions(spot_evidence(timezone.now()))
        page = slice_of(regions, parse_page_request(request), _region_key)
        return paged(request, page, lambda row: serialize_as(SpotRegionOut, row))


def _region_key(row: SpotRegion) -> tuple[str, str, str, str]:
    return row.region, row.gpu_model, row.provider, row.source
