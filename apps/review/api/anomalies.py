"""GET /api/v1/anomalies: which unit costs, MFU and data waits changed, and why; explained, muted, called false."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation
from apps.economics.money import MICROS
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
from apps.review.queries.causes import NearbyChange
from apps.review.queries.findings import FindingFact, FindingsWanted, finding, findings
from apps.review.queries.measures import MEASURES, UNIT_WORDS
from apps.review.queries.verdicts import STATES, VerdictFact
from apps.web.rest.money import NamedOut, RatioOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import (
    OptionalText,
    Parameters,
    ids_named,
    refuse_others,
    split_words,
)
from apps.web.rest.views import RestView
from apps.workloads import queries as workloads


class AnomaliesQuery(Parameters):
    """Of which workload, of what, since when, and in which state."""

    workload = OptionalText(help_text="names, by comma")
    measure = OptionalText(help_text=", ".join(MEASURES))
    since = serializers.DateField(required=False, help_text="changed on this day or later")
    until = serializers.DateField(required=False, help_text="changed before this day")
    state = OptionalText(help_text=", ".join(STATES))


class PartOut(serializers.Serializer[Any]):
    """A part of what moved the figure: price, commitments, volume, mix or efficiency, exactly, in its unit."""

    name = serializers.CharField()
    amount = serializers.CharField()


class CauseOut(Answer[NearbyChange]):
    """Something that changed within a week of it; `days` after it, below 0 before."""

    on = serializers.DateField()


class FindingOut(Answer[FindingFact]):
    """A figure of a workload whose level changed; its parts sum to after − before exactly.

    `impact` is what it comes to in 30 days, null where there is no price in it or none is known.
    Without a cause, nothing is known to have changed then. `is_improvement`: it got better; else it
    is an anomaly. `strictness` is above 1 after false alarms of its series.
    """

    without = ("workload_id",)
    state = serializers.ChoiceField(choices=list(STATES))
    is_improvement = serializers.BooleanField()
    measure = serializers.CharField()
    unit = serializers.CharField()
    workload = NamedOut()
    before = serializers.CharField()
    after = serializers.CharField()
    effect = RatioOut(source="effect_ratio", help_text="after ÷ before − 1")
    parts = PartOut(many=True)
    causes = CauseOut(many=True)


class FindingWithVerdictsOut(FindingOut):
    """A finding with the verdicts on its series, the newest first."""

    verdicts = AnomalyVerdictOut(many=True)


class Anomalies(RestView):
    """Changes for the worse (anomalies) and for the better (improvements)."""

    row = FindingOut

    @extend_schema(
        operation_id="list_anomalies",
        parameters=[AnomaliesQuery, *PAGES],
        responses=list_of(FindingOut),
    )
    def get(self, request: Request) -> Response:
        """Changes of the caller's teams' workloads, seen in two daily looks; the newest first."""
        query, viewer = AnomaliesQuery.of(request), self.viewer()
        team_ids, states = viewer.seen_teams, split_words(query["state"])
        refuse_others("state", states, tuple(STATES))
        facts = findings(
            FindingsWanted(
                team_ids=team_ids,
                workload_ids=_workload_ids(query["workload"], team_ids),
                since=query.get("since"),
                until=query.get("until"),
                measures=_parse_measures(query["measure"]),
                states=frozenset(states),
            ),
            timezone.now(),
        )
        page = slice_of(facts, parse_page_request(request), _newest_first)
        currency, names = organisation().currency, _workload_names()
        return paged(
            request,
            page,
            lambda fact: serialize_as(FindingOut, fact, currency, **_said_otherwise(fact, names)),
        )


class Findings(Anomalies):
    """The list of anomalies under its former address; `/anomalies` replaces it."""

    @extend_schema(
        operation_id="list_findings",
        deprecated=True,
        parameters=[AnomaliesQuery, *PAGES],
        responses=list_of(FindingOut),
    )
    def get(self, request: Request) -> Response:
        """List the anomalies, as `/api/v1/anomalies` does; this goes with the next release."""
        return super().get(request)


class AnomalyView(JudgedView):
    """One change of a figure."""

    ids = ("finding_id", "finding_verdict_id")

    def find(self, anomaly_id: int, at: datetime) -> FindingFact | None:
        """It; None where there is none that the caller may see."""
        return finding(anomaly_id, self.viewer().seen_teams, at)

    def serialize(self, fact: FindingFact, verdicts: Sequence[VerdictFact]) -> dict[str, Any]:
        """It with what was said of its series."""
        otherwise = _said_otherwise(fact, _workload_names()) | {"verdicts": verdicts}
        return serialize_as(FindingWithVerdictsOut, fact, organisation().currency, **otherwise)


@extend_schema_view(get=extend_schema(operation_id="get_anomaly", responses=FindingWithVerdictsOut))
class OneAnomaly(AnomalyView, OneJudged):
    """A change of a figure with what was said of it."""


@extend_schema_view(post=answer_schema("explain_anomaly", VerdictReasonIn, FindingWithVerdictsOut))
class ExplainedAnomaly(AnomalyView, ExplainedView):
    """A change of a figure whose reason is known."""


@extend_schema_view(
    post=answer_schema("call_anomaly_false", VerdictReasonIn, FindingWithVerdictsOut)
)
class FalseAnomaly(AnomalyView, FalseAlarmView):
    """A change of a figure that was none."""


@extend_schema_view(post=answer_schema("mute_anomaly_series", MuteSeriesIn, FindingWithVerdictsOut))
class MutedSeries(AnomalyView, MutedView):
    """A figure of a workload, of which nothing more is reported."""


@extend_schema_view(
    post=answer_schema(
        "take_back_anomaly_verdict",
        VerdictReasonIn,
        FindingWithVerdictsOut,
    )
)
class TakenBackVerdict(AnomalyView, TakenBackView):
    """Something that was said of a figure and counts no more."""


def _newest_first(fact: FindingFact) -> tuple[int, int]:
    """The newest change first."""
    return -fact.changed_on.toordinal(), fact.id


def _workload_ids(text: str, team_ids: frozenset[int] | None) -> frozenset[int] | None:
    ids: dict[str, set[int]] = {}
    for workload in workloads.workloads().values():
        if team_ids is None or workload.team_id in team_ids:
            ids.setdefault(workload.name, set()).add(workload.id)
    names = split_words(text)
    return ids_named("workload", names, ids) if names else None


def _parse_measures(text: str) -> frozenset[str] | None:
    names = split_words(text)
    refuse_others("measure", names, MEASURES)
    return frozenset(names) or None


def _workload_names() -> dict[int, str]:
    return {workload.id: workload.name for workload in workloads.workloads().values()}


def _said_otherwise(fact: FindingFact, names: Mapping[int, str]) -> dict[str, Any]:
    return {
        "is_improvement": not fact.is_worse,
        "unit": UNIT_WORDS[fact.measure],
        "workload": {"id": fact.workload_id, "name": names[fact.workload_id]},
        "before": f"{fact.before:.6f}",
        "after": f"{fact.after:.6f}",
        "parts": [
            {"name": part["name"], "amount": _millionths_text(part["millionths"])}
            for part in fact.parts
        ],
    }


def _millionths_text(amount: int) -> str:
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // MICROS}.{abs(amount) % MICROS:06d}"
