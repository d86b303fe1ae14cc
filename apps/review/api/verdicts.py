"""Verdicts on one anomaly, of either kind: explained, a false alarm, muted, taken back; each with who, when and why."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Protocol

from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import Viewer
from apps.review import actions
from apps.review.api.alerts import AnswersAlerts
from apps.review.queries.verdicts import (
    EXPLAINED,
    FALSE_ALARM,
    JudgedAnomaly,
    VerdictFact,
    kind_series,
    verdict_of,
    verdicts_of,
)
from apps.web.rest.idempotency import once
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Moment, OptionalText, Parameters, StrictSerializer, parsed
from apps.web.rest.views import RestView


class AnomalyVerdictOut(Answer[VerdictFact]):
    """A verdict of somebody on the series, or on all of its kind (`of_kind`); taken back it counts no more."""

    without = ("series", "spend_id", "finding_id")
    of_kind = serializers.BooleanField(source="is_of_kind")


class VerdictReasonIn(StrictSerializer):
    """Why, kept with who said it."""

    reason = OptionalText(max_length=actions.LONGEST_VERDICT_REASON)


class MuteSeriesIn(VerdictReasonIn):
    """Until when nothing is reported of the series (null: until it is taken back); `of_kind`: of all of its kind."""

    until = Moment(required=False, allow_null=True, default=None)
    of_kind = serializers.BooleanField(required=False, default=False)


class FactOfAnomaly(Protocol):
    """An anomaly of either kind, as queries know it."""

    @property
    def judged(self) -> JudgedAnomaly:
        """The anomaly that verdicts are said of."""


class JudgedView(RestView):
    """One anomaly, where the caller may see it; a view of each kind says how it is found and serialized.

    `ids` are what its address calls the anomaly and what was said of it.
    """

    changes = (AnswersAlerts,)
    ids: ClassVar[tuple[str, str]]

    def find(self, anomaly_id: int, at: datetime) -> FactOfAnomaly | None:
        """It; None where there is none that the caller may see."""
        raise NotImplementedError

    def serialize(self, fact: Any, verdicts: Sequence[VerdictFact]) -> dict[str, Any]:
        """It as REST answers it, with what was said of its series."""
        raise NotImplementedError

    def known(self) -> Any:
        """The one that the address names, or the answer that there is none."""
        anomaly = self.find(self.kwargs[self.ids[0]], timezone.now())
        if anomaly is None:
            raise NotFound
        return anomaly

    def told(self) -> dict[str, Any]:
        """It with what was said of its series, the newest first."""
        anomaly = self.known()
        return self.serialize(anomaly, verdicts_of([anomaly.judged.series]))

    def answered(self, act: Callable[[JudgedAnomaly, Viewer, datetime], object]) -> Response:
        """Do it, and tell what the anomaly is then."""
        act(self.known().judged, self.viewer(), timezone.now())
        return Response(self.told())

    def judge(self, request: Request, verdict: str) -> Response:
        """Say it, for the reason that was sent."""
        reason = parsed(VerdictReasonIn, request)["reason"]
        return self.answered(
            lambda judged, by, at: actions.judge_anomaly(
                anomaly=judged, verdict=verdict, reason=reason, by=by, at=at
            ),
        )


class OneJudged(JudgedView):
    """One anomaly."""

    def get(self, request: Request, **_: int) -> Response:
        """An anomaly with what was said of its series."""
        Parameters.of(request)
        return Response(self.told())


class ExplainedView(JudgedView):
    """An anomaly whose reason is known."""

    @once()
    def post(self, request: Request, **_: int) -> Response:
        """Say that an anomaly is explained: its level now is the usual level from now on."""
        return self.judge(request, EXPLAINED)


class FalseAlarmView(JudgedView):
    """An anomaly that was none."""

    @once()
    def post(self, request: Request, **_: int) -> Response:
        """Its series is looked at more strictly for a year."""
        return self.judge(request, FALSE_ALARM)


class MutedView(JudgedView):
    """The series of an anomaly, of which nothing more is reported."""

    @once()
    def post(self, request: Request, **_: int) -> Response:
        """No alert is raised of the series, until then; of a whole kind by who sees everything."""
        body = parsed(MuteSeriesIn, request)
        if body["of_kind"] and self.viewer().seen_teams is not None:
            raise NotFound
        return self.answered(
            lambda judged, by, at: actions.mute_series(
                series=kind_series(judged.series) if body["of_kind"] else judged.series,
                until=body["until"],
                reason=body["reason"],
                by=by,
                at=at,
            ),
        )


class TakenBackView(JudgedView):
    """Something that was said of a series and counts no more."""

    @once()
    def post(self, request: Request, **_: int) -> Response:
        """It stays in the history, and counts no more."""
        reason = parsed(VerdictReasonIn, request)["reason"]
        verdict_id, of_kinds = self.kwargs[self.ids[1]], self.viewer().seen_teams is None
        if verdict_of(verdict_id, self.known().judged.series, of_kinds=of_kinds) is None:
            raise NotFound
        return self.answered(
            lambda _, by, at: actions.take_back_verdict(
                verdict_id=verdict_id, reason=reason, by=by, at=at
            ),
        )
