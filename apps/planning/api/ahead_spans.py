"""The forecast that the hours ahead are from, as budgets and headroom tell it over REST."""

from rest_framework import serializers

from apps.planning.queries.ahead import ORIGINS, AheadSpan
from apps.web.rest.shapes import Answer


class AheadSpanOut(Answer[AheadSpan]):
    """Hours `[starts_at, ends_at)` of a series, and which forecast they are from.

    `last_week`: there is none so far ahead, and the last week before comes again.
    """

    without = ("kept_gates",)
    series = serializers.CharField(source="name")
    origin = serializers.ChoiceField(choices=ORIGINS)
