"""The forecast that the hours ahead are from, as budgets and headroom tell it over REST."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from apps.accounts.queries.facts import fields_of
from apps.planning.queries.ahead import ORIGINS, AheadSpan


class AheadSpanOut(serializers.Serializer[Any]):
    """Hours `[starts_at, ends_at)` of a series, and which forecast they are from.

    `last_week`: there is none so far ahead, and the last week before comes again.
    """

    series = serializers.CharField()
    origin = serializers.ChoiceField(choices=ORIGINS)
    forecast_id = serializers.IntegerField()
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()


def serialize_spans(spans: Sequence[AheadSpan]) -> list[dict[str, Any]]:
    """Each as AheadSpanOut."""
    return [fields_of(span) | {"series": span.name} for span in spans]
