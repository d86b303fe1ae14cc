"""GET /api/v1/power-limits: what rooms feed and cool, what their machines drew, and how many more GPUs fit."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.facts import fields_of
from apps.accounts.queries.reading import reading_once
from apps.economics.room_power import MoreGpus
from apps.planning.queries.power_limits import (
    DrawnHour,
    PowerLimitFact,
    PowerUse,
    power_limits,
    power_use,
)
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters
from apps.web.rest.views import PricesView

KILO = 1_000


class DrawnHourOut(serializers.Serializer[Any]):
    """The power that the machines of a room drew in an hour: all of it, or at least so much."""

    hour = serializers.DateTimeField()
    kilowatts = serializers.FloatField(help_text="at the room's meter: the machines times PUE")
    is_whole = serializers.BooleanField(help_text="false: at least so much")
    nodes_unmeasured = serializers.ListField(child=serializers.CharField())
    nodes_without_plate = serializers.ListField(
        child=serializers.CharField(), help_text="of these only the GPUs are in it"
    )


class MoreGpusOut(Answer[MoreGpus]):
    """How many more GPUs of a model fit beside the peak, each with its part of the host."""

    measured_watts = serializers.FloatField(allow_null=True, help_text="of one, mean at the peak")
    rated_watts = serializers.FloatField(allow_null=True, help_text="of one, by its data sheet")


class PowerLimitOut(Answer[PowerLimitFact]):
    """A room's power and cooling and its use; null: no meter reported anything, or nobody said."""

    without = ("created_at",)
    now = DrawnHourOut(allow_null=True)
    peak_28_days = DrawnHourOut(allow_null=True)
    power_left_kilowatts = serializers.FloatField(
        allow_null=True, help_text="beside the peak; at most so much where that is not whole"
    )
    cooling_left_kilowatts = serializers.FloatField(allow_null=True)
    more_gpus = MoreGpusOut(many=True)


class PowerLimits(PricesView):
    """For who reads prices: a room is everybody's."""

    row = PowerLimitOut

    @extend_schema(
        operation_id="list_power_limits", parameters=[*PAGES], responses=list_of(PowerLimitOut)
    )
    def get(self, request: Request) -> Response:
        """Rooms with what they drew in the newest hour and at most in the last 28 days, by name."""
        Parameters.of(request)
        with reading_once():
            uses = power_use(power_limits(), timezone.now())
            page_request = parse_page_request(request)
            return paged(request, slice_of(uses, page_request, _by_name), _serialize_power)


def _by_name(use: PowerUse) -> tuple[str]:
    return (use.limit.name,)


def _serialize_power(use: PowerUse) -> dict[str, Any]:
    left, cooling_left = (
        None if watts is None else float(watts) / KILO
        for watts in (use.power_left, use.cooling_left)
    )
    return serialize_as(
        PowerLimitOut,
        fields_of(use.limit)
        | {
            "now": _drawn_fields(use, use.now),
            "peak_28_days": _drawn_fields(use, use.peak),
            "power_left_kilowatts": left,
            "cooling_left_kilowatts": cooling_left,
            "more_gpus": use.more,
        },
    )


def _drawn_fields(use: PowerUse, drawn: DrawnHour | None) -> dict[str, Any] | None:
    watts = use.at_the_meter(drawn)
    if drawn is None or watts is None:
        return None
    return {
        "hour": drawn.hour,
        "kilowatts": float(watts) / KILO,
        "is_whole": drawn.draw.is_whole,
        "nodes_unmeasured": drawn.draw.unmeasured,
        "nodes_without_plate": drawn.draw.without_host,
    }
