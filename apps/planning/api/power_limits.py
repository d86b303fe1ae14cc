"""GET /api/v1/power-limits: what rooms feed and cool, what their machines drew, and how many more GPUs fit."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.reading import reading_once
from apps.economics.room_power import MoreGpus
from apps.planning.queries.power_limits import power_limits, power_use
from apps.planning.tables.power_limits import POWER_LIMITS
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import PricesView


class DrawnHourOut(serializers.Serializer[Any]):
    """The power that the machines of a room drew in an hour: all of it, or at least so much."""

    hour = serializers.DateTimeField()
    kilowatts = serializers.FloatField(help_text="at the room's meter: the machines times PUE")
    is_whole = serializers.BooleanField(source="draw.is_whole", help_text="false: at least so much")
    nodes_unmeasured = serializers.ListField(
        child=serializers.CharField(), source="draw.unmeasured"
    )
    nodes_without_plate = serializers.ListField(
        child=serializers.CharField(),
        source="draw.without_host",
        help_text="of these only the GPUs are in it",
    )


class MoreGpusOut(Answer[MoreGpus]):
    """How many more GPUs of a model fit beside the peak, each with its part of the host."""

    measured_watts = serializers.FloatField(allow_null=True, help_text="of one, mean at the peak")
    rated_watts = serializers.FloatField(allow_null=True, help_text="of one, by its data sheet")


class PowerLimitOut(RowAnswer):
    """A room's power and cooling and its use; null: no meter reported anything, or nobody said."""

    table = POWER_LIMITS
    without = (
        "pools",
        "more_gpus",
        "peak_unknown",
        "now_hour",
        "now_kilowatts",
        "now_unknown",
        "peak_hour",
        "peak_kilowatts",
    )
    pool_ids = serializers.ListField(child=serializers.IntegerField(), source="limit.pool_ids")
    now = DrawnHourOut(allow_null=True)
    peak_28_days = DrawnHourOut(allow_null=True, source="peak")
    more_gpus = MoreGpusOut(many=True, source="more")


class PowerLimits(PricesView):
    """For who reads prices: a room is everybody's."""

    row = PowerLimitOut

    @table_schema("list_power_limits", PowerLimitOut)
    def get(self, request: Request) -> Response:
        """Rooms with what they drew in the newest hour and at most in the last 28 days, by name."""
        Parameters.of(request, SORT)
        with reading_once():
            return answer_table(request, PowerLimitOut, power_use(power_limits(), timezone.now()))
