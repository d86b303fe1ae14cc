"""GET /api/v1/anomalies: which unit costs, MFU and data waits changed, and why."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation
from apps.economics.money import MICROS
from apps.review.queries.findings import FindingFact, FindingsWanted, findings
from apps.review.queries.measures import MEASURES, UNIT_WORDS
from apps.web.rest.examples import listed
from apps.web.rest.money import MoneyOut, NamedOut, RatioOut
from apps.web.rest.pages import fields_of, list_of, page_asked, paged, slice_of, told_as
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import (
    OptionalText,
    Parameters,
    ids_named,
    refuse_others,
    words_given,
)
from apps.web.rest.views import RestView
from apps.workloads import queries as workloads


class AnomaliesQuery(Parameters):
    """Of which workload, of what, and since when."""

    workload = OptionalText(help_text="names, by comma")
    measure = OptionalText(help_text=", ".join(MEASURES))
    since = serializers.DateField(required=False, help_text="changed on this day or later")
    until = serializers.DateField(required=False, help_text="changed before this day")


class PartOut(serializers.Serializer[Any]):
    """What moved the figure: price, commitments, volume, mix or efficiency, exactly, in its unit."""

    name = serializers.CharField()
    amount = serializers.CharField()


class CauseOut(serializers.Serializer[Any]):
    """Something that changed within a week of it; `days` after it, below 0 before."""

    kind = serializers.CharField()
    what = serializers.CharField()
    on = serializers.DateField()
    days = serializers.IntegerField()


class FindingOut(serializers.Serializer[Any]):
    """A figure of a workload whose level changed; its parts sum to after − before exactly.

    `impact` is what it comes to in 30 days, null where there is no price in it or none is known.
    Without a cause, nothing is known to have changed then. `is_improvement`: it got better; else it
    is an anomaly.
    """

    id = serializers.IntegerField()
    kind = serializers.CharField(help_text="step or spike")
    is_improvement = serializers.BooleanField()
    measure = serializers.CharField()
    unit = serializers.CharField()
    workload = NamedOut()
    feature = serializers.CharField(help_text="empty: the whole service")
    changed_on = serializers.DateField()
    first_seen_on = serializers.DateField()
    last_seen_on = serializers.DateField()
    before = serializers.CharField()
    after = serializers.CharField()
    effect = RatioOut(source="effect_ratio", help_text="after ÷ before − 1")
    impact = MoneyOut(source="impact_micros", allow_null=True)
    parts = PartOut(many=True)
    causes = CauseOut(many=True)


EXAMPLE: dict[str, Any] = {
    "id": 1,
    "kind": "step",
    "is_improvement": False,
    "measure": "cost_per_1000_requests",
    "unit": "currency for 1,000 requests",
    "workload": {"id": 1, "name": "answer-box"},
    "feature": "",
    "changed_on": "2026-03-12",
    "first_seen_on": "2026-03-16",
    "last_seen_on": "2026-03-20",
    "before": "0.420000",
    "after": "0.491400",
    "effect": 0.17,
    "impact": {"amount": "1413.720000", "currency": "USD"},
    "parts": [
        {"name": "price", "amount": "0.060000"},
        {"name": "commitments", "amount": "0.000000"},
        {"name": "volume", "amount": "0.011400"},
        {"name": "mix", "amount": "0.000000"},
        {"name": "efficiency", "amount": "0.000000"},
    ],
    "causes": [
        {
            "kind": "deployment",
            "what": "answer-box 2.4.0",
            "on": "2026-03-12",
            "days": 0,
        }
    ],
}


class Anomalies(RestView):
    """Changes for the worse (anomalies) and for the better (improvements)."""

    row = FindingOut

    @extend_schema(
        operation_id="list_anomalies",
        parameters=[AnomaliesQuery, *PAGES],
        responses=list_of(FindingOut),
        examples=[listed("Anomalies", EXAMPLE)],
    )
    def get(self, request: Request) -> Response:
        """Changes of the caller's teams' workloads, seen in two daily looks; the newest first."""
        asked, viewer = AnomaliesQuery.of(request), self.viewer()
        seen = viewer.seen_teams
        found = findings(
            FindingsWanted(
                team_ids=seen,
                workload_ids=_workload_ids(asked["workload"], seen),
                since=asked.get("since"),
                until=asked.get("until"),
                measures=_measures_asked(asked["measure"]),
            )
        )
        page = slice_of(found, page_asked(request), _newest_first)
        currency, named = organisation().currency, workloads.workloads()
        names = {each.id: each.name for each in named.values()}
        return paged(request, page, lambda each: serialize_finding(each, names, currency))


class Findings(Anomalies):
    """What `/anomalies` was called."""

    @extend_schema(
        operation_id="list_findings",
        deprecated=True,
        parameters=[AnomaliesQuery, *PAGES],
        responses=list_of(FindingOut),
        examples=[listed("Findings", EXAMPLE)],
    )
    def get(self, request: Request) -> Response:
        """The same as `/api/v1/anomalies`; goes with the next release."""
        return super().get(request)


def _newest_first(each: FindingFact) -> tuple[int, int]:
    """The newest change first."""
    return -each.changed_on.toordinal(), each.id


def _workload_ids(text: str, seen: frozenset[int] | None) -> frozenset[int] | None:
    ids: dict[str, set[int]] = {}
    for each in workloads.workloads().values():
        if seen is None or each.team_id in seen:
            ids.setdefault(each.name, set()).add(each.id)
    names = words_given(text)
    return ids_named("workload", names, ids) if names else None


def _measures_asked(text: str) -> frozenset[str] | None:
    names = words_given(text)
    refuse_others("measure", names, MEASURES)
    return frozenset(names) or None


def serialize_finding(each: FindingFact, names: Mapping[int, str], currency: str) -> dict[str, Any]:
    """A finding as REST answers it; `names` are of workloads, amounts in the organisation's currency."""
    answer = fields_of(each) | {
        "is_improvement": not each.is_worse,
        "unit": UNIT_WORDS[each.measure],
        "workload": {"id": each.workload_id, "name": names[each.workload_id]},
        "before": f"{each.before:.6f}",
        "after": f"{each.after:.6f}",
        "parts": [
            {"name": part["name"], "amount": _millionths_text(part["millionths"])}
            for part in each.parts
        ],
    }
    return told_as(FindingOut, answer, currency)


def _millionths_text(amount: int) -> str:
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // MICROS}.{abs(amount) % MICROS:06d}"
