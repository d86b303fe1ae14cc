"""GET /api/v1/spend-anomalies: on which days more was spent than usual, of whom, and why; explained, muted, called false."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import Viewer, organisation
from apps.review import actions
from apps.review.api.alerts import AnswersAlerts
from apps.review.api.anomalies import CauseOut
from apps.review.api.answer_schema import answer_schema
from apps.review.queries.spend_anomalies import (
    STATES,
    SUBJECTS,
    SpendFact,
    SpendWanted,
    spend_anomalies,
    spend_anomaly,
)
from apps.review.queries.verdicts import (
    EXPLAINED,
    FALSE_ALARM,
    VERDICT_WORDS,
    kind_series,
    verdict_of,
    verdicts_of,
)
from apps.web.rest.examples import answered, dollars, listed
from apps.web.rest.money import MoneyOut, RatioOut
from apps.web.rest.once import once
from apps.web.rest.pages import fields_of, list_of, page_asked, paged, slice_of, told_as
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import (
    Moment,
    OptionalText,
    Parameters,
    Strict,
    parsed,
    refuse_others,
    words_given,
)
from apps.web.rest.views import RestView


class SpendAnomaliesQuery(Parameters):
    """Begun when, and in which state."""

    since = serializers.DateField(required=False, help_text="began on this day or later")
    until = serializers.DateField(required=False, help_text="began before this day")
    state = OptionalText(help_text=", ".join(STATES))


class SpendPartOut(serializers.Serializer[Any]):
    """What moved the spend: the parts sum to the excess exactly."""

    name = serializers.CharField()
    amount = MoneyOut(source="micros")


class SpendDriverOut(serializers.Serializer[Any]):
    """Whose it is, by `dimension`: the rows of each dimension sum to the excess exactly."""

    dimension = serializers.CharField()
    name = serializers.CharField()
    amount = MoneyOut(source="micros")


class SpendVerdictOut(serializers.Serializer[Any]):
    """What somebody said of the series, or of all of its kind (`of_kind`); taken back it counts no more."""

    id = serializers.IntegerField()
    verdict = serializers.ChoiceField(choices=list(VERDICT_WORDS))
    of_kind = serializers.BooleanField()
    at = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True)
    reason = serializers.CharField()
    who = serializers.CharField()
    taken_back_at = serializers.DateTimeField(allow_null=True)
    taken_back_who = serializers.CharField()
    taken_back_reason = serializers.CharField()


class SpendAnomalyOut(serializers.Serializer[Any]):
    """From a day on more was spent than on the same weekdays before; `excess` is spent − expected of its `days`.

    `ended_on` is the first day in line again, null while it lasts; `month` what it comes to in 30 days if it does.
    `strictness` is above 1 after false alarms of its series.
    """

    id = serializers.IntegerField()
    subject = serializers.ChoiceField(choices=list(SUBJECTS))
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=list(STATES))
    began_on = serializers.DateField()
    first_seen_on = serializers.DateField()
    last_seen_on = serializers.DateField()
    ended_on = serializers.DateField(allow_null=True)
    days = serializers.IntegerField()
    expected = MoneyOut(source="expected_micros")
    spent = MoneyOut(source="spent_micros")
    excess = MoneyOut(source="excess_micros")
    month = MoneyOut(source="month_micros", allow_null=True)
    effect = RatioOut(source="effect_ratio", allow_null=True, help_text="spent ÷ expected − 1")
    strictness = serializers.FloatField()
    parts = SpendPartOut(many=True)
    drivers = SpendDriverOut(many=True)
    causes = CauseOut(many=True)


class SpendAnomalyWithVerdictsOut(SpendAnomalyOut):
    """The same with what was said of its series, the newest first."""

    verdicts = SpendVerdictOut(many=True)


class VerdictReasonIn(Strict):
    """Why, kept with who said it."""

    reason = OptionalText(max_length=actions.LONGEST_VERDICT_REASON)


class MuteSeriesIn(VerdictReasonIn):
    """Until when nothing is reported of the series (null: until it is taken back); `of_kind`: of all of its kind."""

    until = Moment(required=False, allow_null=True, default=None)
    of_kind = serializers.BooleanField(required=False, default=False)


EXAMPLE: dict[str, Any] = {
    "id": 1,
    "subject": "workload",
    "name": "llm-7b",
    "state": "open",
    "began_on": "2026-03-06",
    "first_seen_on": "2026-03-07",
    "last_seen_on": "2026-03-16",
    "ended_on": None,
    "days": 10,
    "expected": dollars("1820.000000"),
    "spent": dollars("5460.000000"),
    "excess": dollars("3640.000000"),
    "month": dollars("10920.000000"),
    "effect": 2.0,
    "strictness": 1.0,
    "parts": [
        {"name": "price", "amount": dollars("0.000000")},
        {"name": "volume", "amount": dollars("3640.000000")},
    ],
    "drivers": [
        {"dimension": "user", "name": "ada", "amount": dollars("3640.000000")},
    ],
    "causes": [{"kind": "settings", "what": "batch 512 (llm-7b)", "on": "2026-03-05", "days": -1}],
}
SAID = {
    "id": 1,
    "verdict": "explained",
    "of_kind": False,
    "at": "2026-03-16T12:00:00Z",
    "until": None,
    "reason": "Launch of the 7B run",
    "who": "Lee",
    "taken_back_at": None,
    "taken_back_who": "",
    "taken_back_reason": "",
}
ONE = EXAMPLE | {"state": "explained", "verdicts": [SAID]}
AN_ANOMALY = ("An anomaly of spend", ONE)
BECAUSE = ("A reason", {"reason": "Launch of the 7B run"})
MUTED_UNTIL = (
    "Until a moment",
    {"reason": "Known until Friday", "until": "2099-11-27T17:00:00Z", "of_kind": False},
)


class SpendAnomalies(RestView):
    """Anomalies of spend of the caller's teams; who sees everything sees those of the organisation, pools and charges too."""

    row = SpendAnomalyOut

    @extend_schema(
        operation_id="list_spend_anomalies",
        parameters=[SpendAnomaliesQuery, *PAGES],
        responses=list_of(SpendAnomalyOut),
        examples=[listed("Anomalies of spend", EXAMPLE)],
    )
    def get(self, request: Request) -> Response:
        """The newest first."""
        asked = SpendAnomaliesQuery.of(request)
        states = words_given(asked["state"])
        refuse_others("state", states, tuple(STATES))
        wanted = SpendWanted(
            self.viewer().seen_teams, asked.get("since"), asked.get("until"), frozenset(states)
        )
        found = spend_anomalies(wanted, timezone.now())
        page = slice_of(found, page_asked(request), _newest_first)
        currency = organisation().currency
        return paged(request, page, lambda each: told_as(SpendAnomalyOut, _fields(each), currency))


class SpendAnomalyView(RestView):
    """One anomaly of spend, where the caller may see it."""

    changes = (AnswersAlerts,)

    def known(self, anomaly_id: int) -> SpendFact:
        """It, or the answer that there is none."""
        found = spend_anomaly(anomaly_id, self.viewer().seen_teams, timezone.now())
        if found is None:
            raise NotFound
        return found

    def told(self, anomaly_id: int) -> dict[str, Any]:
        """It with what was said of its series."""
        found = self.known(anomaly_id)
        verdicts = [
            fields_of(each) | {"of_kind": each.series != found.series}
            for each in verdicts_of([found.series])
        ]
        fields = _fields(found) | {"verdicts": verdicts}
        return told_as(SpendAnomalyWithVerdictsOut, fields, organisation().currency)

    def answered(
        self, anomaly_id: int, act: Callable[[SpendFact, Viewer, datetime], object]
    ) -> Response:
        """Do it, and tell what the anomaly is then."""
        act(self.known(anomaly_id), self.viewer(), timezone.now())
        return Response(self.told(anomaly_id))

    def judged(self, request: Request, anomaly_id: int, said: str) -> Response:
        """Say it, for the reason that was sent."""
        reason = parsed(VerdictReasonIn, request)["reason"]
        return self.answered(
            anomaly_id,
            lambda found, by, at: actions.judge_anomaly(
                anomaly_id=found.id, verdict=said, reason=reason, by=by, at=at
            ),
        )


class OneSpendAnomaly(SpendAnomalyView):
    """One anomaly of spend."""

    @extend_schema(
        operation_id="get_spend_anomaly",
        responses=SpendAnomalyWithVerdictsOut,
        examples=[answered(*AN_ANOMALY)],
    )
    def get(self, request: Request, anomaly_id: int) -> Response:
        """An anomaly of spend with what was said of it."""
        Parameters.of(request)
        return Response(self.told(anomaly_id))


class ExplainedAnomaly(SpendAnomalyView):
    """An anomaly of spend whose reason is known."""

    @answer_schema(
        "explain_spend_anomaly", VerdictReasonIn, BECAUSE, SpendAnomalyWithVerdictsOut, AN_ANOMALY
    )
    @once()
    def post(self, request: Request, anomaly_id: int) -> Response:
        """What is spent now is the usual level from now on."""
        return self.judged(request, anomaly_id, EXPLAINED)


class FalseAnomaly(SpendAnomalyView):
    """An anomaly of spend that was none."""

    @answer_schema(
        "call_spend_anomaly_false",
        VerdictReasonIn,
        BECAUSE,
        SpendAnomalyWithVerdictsOut,
        AN_ANOMALY,
    )
    @once()
    def post(self, request: Request, anomaly_id: int) -> Response:
        """Its series is looked at more strictly for a year."""
        return self.judged(request, anomaly_id, FALSE_ALARM)


class MutedSeries(SpendAnomalyView):
    """The series of an anomaly of spend, of which nothing more is reported."""

    @answer_schema(
        "mute_spend_series", MuteSeriesIn, MUTED_UNTIL, SpendAnomalyWithVerdictsOut, AN_ANOMALY
    )
    @once()
    def post(self, request: Request, anomaly_id: int) -> Response:
        """No alert is raised of the series, until then; of a whole kind by who sees everything."""
        body = parsed(MuteSeriesIn, request)
        if body["of_kind"] and self.viewer().seen_teams is not None:
            raise NotFound
        return self.answered(
            anomaly_id,
            lambda found, by, at: actions.mute_series(
                series=kind_series(found.series) if body["of_kind"] else found.series,
                until=body["until"],
                reason=body["reason"],
                by=by,
                at=at,
            ),
        )


class TakenBackVerdict(SpendAnomalyView):
    """Something that was said of a series and counts no more."""

    @answer_schema(
        "take_back_verdict", VerdictReasonIn, BECAUSE, SpendAnomalyWithVerdictsOut, AN_ANOMALY
    )
    @once()
    def post(self, request: Request, anomaly_id: int, verdict_id: int) -> Response:
        """It stays in the history, and counts no more."""
        reason = parsed(VerdictReasonIn, request)["reason"]
        of_kinds = self.viewer().seen_teams is None
        if verdict_of(verdict_id, self.known(anomaly_id).series, of_kinds=of_kinds) is None:
            raise NotFound
        return self.answered(
            anomaly_id,
            lambda _, by, at: actions.take_back_verdict(
                verdict_id=verdict_id, reason=reason, by=by, at=at
            ),
        )


def _newest_first(each: SpendFact) -> tuple[int, int]:
    """The newest beginning first."""
    return -each.began_on.toordinal(), each.id


def _fields(each: SpendFact) -> dict[str, Any]:
    return fields_of(each) | {
        "excess_micros": each.excess_micros,
        "month_micros": each.month_micros,
        "effect_ratio": each.effect_ratio,
        "drivers": [
            {"dimension": driver["dimension"], **row}
            for driver in each.drivers
            for row in driver["rows"]
        ],
    }
