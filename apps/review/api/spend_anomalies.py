"""GET /api/v1/spend-anomalies: on which days more was spent than usual, of whom, and why; explained, muted, called false."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation
from apps.review.api.anomalies import CauseOut
from apps.review.api.answer_schema import answer_schema
from apps.review.api.verdicts import (
    AnomalyVerdictOut,
    ExplainedView,
    FalseAlarmView,
    JudgedView,
    MutedView,
    MuteSeriesIn,
    OneJudged,
    TakenBackView,
    VerdictReasonIn,
)
from apps.review.queries.spend_anomalies import (
    SpendFact,
    SpendWanted,
    spend_anomalies,
    spend_anomaly,
)
from apps.review.queries.spend_words import LOOKS, line_words
from apps.review.queries.verdicts import STATES, VerdictFact
from apps.web.rest.money import MoneyOut, RatioOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import OptionalText, Parameters, refuse_others, split_words
from apps.web.rest.views import RestView


class SpendAnomaliesQuery(Parameters):
    """Begun when, and in which state."""

    since = serializers.DateField(required=False, help_text="began on this day or later")
    until = serializers.DateField(required=False, help_text="began before this day")
    state = OptionalText(help_text=", ".join(STATES))


class SpendPartOut(serializers.Serializer[Any]):
    """A part of what moved the spend: the parts sum to the excess exactly."""

    name = serializers.CharField()
    amount = MoneyOut(source="micros")


class SpendDriverOut(serializers.Serializer[Any]):
    """A driver's share of an excess of spend, by `dimension`: the rows of each dimension sum to the excess exactly."""

    dimension = serializers.CharField()
    name = serializers.CharField()
    amount = MoneyOut(source="micros")


class SpendAnomalyOut(Answer[SpendFact]):
    """From a day on more was spent than on the same weekdays before; `excess` is spent − expected of its `days`.

    `ended_on` is the first day in line again, null while it lasts; `month` what it comes to in 30 days if it does.
    `strictness` is above 1 after false alarms of its series. `look` found it: by the day, the week, as a creep or of a
    weekend; `expected` is of the days from `line_from` to `line_until`. What crept over its budget (`line_name`) or over last
    year is so since `over_since` (null of other looks); of these `expected` is the budget's pace, and what a year ago cost with
    the growth of half a year ago, and `began_on` the first day of the week in which it was reported.
    """

    without = ("key", "team_id", "workload_id", "seen_in", "line_scale")
    spent = MoneyOut(source="spent_micros")
    excess = MoneyOut(source="excess_micros")
    month = MoneyOut(source="month_micros", allow_null=True)
    effect = RatioOut(source="effect_ratio", allow_null=True, help_text="spent ÷ expected − 1")
    look = serializers.ChoiceField(choices=list(LOOKS))
    against = serializers.CharField(help_text="which line that look holds it against, in words")
    parts = SpendPartOut(many=True)
    drivers = SpendDriverOut(many=True, source="driver_rows")
    causes = CauseOut(many=True)


class SpendAnomalyWithVerdictsOut(SpendAnomalyOut):
    """An anomaly of spend with the verdicts on its series, the newest first."""

    verdicts = AnomalyVerdictOut(many=True)


class SpendAnomalies(RestView):
    """Anomalies of spend of the caller's teams; who sees everything sees those of the organisation, pools and charges too."""

    row = SpendAnomalyOut

    @extend_schema(
        operation_id="list_spend_anomalies",
        parameters=[SpendAnomaliesQuery, *PAGES],
        responses=list_of(SpendAnomalyOut),
    )
    def get(self, request: Request) -> Response:
        """The newest first."""
        query = SpendAnomaliesQuery.of(request)
        states = split_words(query["state"])
        refuse_others("state", states, tuple(STATES))
        wanted = SpendWanted(
            self.viewer().seen_teams, query.get("since"), query.get("until"), frozenset(states)
        )
        anomalies = spend_anomalies(wanted, timezone.now())
        page = slice_of(anomalies, parse_page_request(request), _newest_first)
        currency = organisation().currency
        return paged(
            request,
            page,
            lambda anomaly: serialize_as(
                SpendAnomalyOut, anomaly, currency, against=line_words(anomaly)
            ),
        )


class SpendAnomalyView(JudgedView):
    """One anomaly of spend."""

    ids = ("anomaly_id", "verdict_id")

    def find(self, anomaly_id: int, at: datetime) -> SpendFact | None:
        """It; None where there is none that the caller may see."""
        return spend_anomaly(anomaly_id, self.viewer().seen_teams, at)

    def serialize(self, fact: SpendFact, verdicts: Sequence[VerdictFact]) -> dict[str, Any]:
        """It with what was said of its series."""
        return serialize_as(
            SpendAnomalyWithVerdictsOut,
            fact,
            organisation().currency,
            against=line_words(fact),
            verdicts=verdicts,
        )


@extend_schema_view(
    get=extend_schema(operation_id="get_spend_anomaly", responses=SpendAnomalyWithVerdictsOut)
)
class OneSpendAnomaly(SpendAnomalyView, OneJudged):
    """An anomaly of spend with what was said of it."""


@extend_schema_view(
    post=answer_schema("explain_spend_anomaly", VerdictReasonIn, SpendAnomalyWithVerdictsOut)
)
class ExplainedSpendAnomaly(SpendAnomalyView, ExplainedView):
    """An anomaly of spend whose reason is known."""


@extend_schema_view(
    post=answer_schema(
        "call_spend_anomaly_false",
        VerdictReasonIn,
        SpendAnomalyWithVerdictsOut,
    )
)
class FalseSpendAnomaly(SpendAnomalyView, FalseAlarmView):
    """An anomaly of spend that was none."""


@extend_schema_view(
    post=answer_schema("mute_spend_series", MuteSeriesIn, SpendAnomalyWithVerdictsOut)
)
class MutedSpendSeries(SpendAnomalyView, MutedView):
    """The series of an anomaly of spend, of which nothing more is reported."""


@extend_schema_view(
    post=answer_schema("take_back_verdict", VerdictReasonIn, SpendAnomalyWithVerdictsOut)
)
class TakenBackOfSpend(SpendAnomalyView, TakenBackView):
    """Something that was said of a series of spend and counts no more."""


def _newest_first(anomaly: SpendFact) -> tuple[int, int]:
    """The newest beginning first."""
    return -anomaly.began_on.toordinal(), anomaly.id
