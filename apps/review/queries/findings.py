"""Findings, changes found in a measure, as pages and programs are told of them."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Annotated, Any

from django.conf import settings
from django.db.models import Q, QuerySet

from apps.economics.money import MICROS
from apps.economics.watch import LOOKS_TO_TELL
from apps.ledger.queries.windows import DAY
from apps.review.models import Finding, FindingKind, Look, Measure
from apps.review.queries.series import key_text
from apps.review.queries.verdicts import (
    FINDING,
    OPEN,
    STATES,
    JudgedAnomaly,
    VerdictsInForce,
    verdicts_in_force,
)
from apps.show.entries import Entry, Micros
from apps.workloads import queries as workloads


@dataclass(frozen=True, slots=True)
class FindingFact:
    """A change; before and after in the measure's unit, parts in millionths of it, causes by time. `state` is one of STATES."""

    id: int
    kind: Annotated[str, Entry(help="step or spike")]
    state: Annotated[str, Entry(choices=STATES)] = field(default=OPEN, kw_only=True)
    measure: str
    workload_id: int
    feature: Annotated[str, Entry(help="empty: the whole service")]
    changed_on: date
    first_seen_on: date
    last_seen_on: date
    before: float
    after: float
    effect_ratio: float
    impact_micros: Micros | None
    strictness: float
    parts: list[dict[str, Any]]
    causes: list[dict[str, Any]]

    @property
    def is_worse(self) -> bool:
        """Whether it costs more than before."""
        is_more = self.after > self.before
        return not is_more if self.measure == Measure.MFU else is_more

    @property
    def key(self) -> tuple[str, int, str]:
        """The series that it is of."""
        return (self.measure, self.workload_id, self.feature)

    @property
    def judged(self) -> JudgedAnomaly:
        """The finding as verdicts are said of it."""
        return JudgedAnomaly(FINDING, self.id, key_text(self.key))


@dataclass(frozen=True, slots=True)
class LatestDetectionRun:
    """When it was last looked, and at how many series."""

    day: date
    series: int


@dataclass(frozen=True, slots=True)
class FindingsWanted:
    """A filter of findings: of these teams and workloads (None: of all), changed since a day, in these states (empty: any).

    With `told_by` those alone that looks had told of by that day.
    """

    team_ids: frozenset[int] | None = None
    workload_ids: frozenset[int] | None = None
    since: date | None = None
    until: date | None = None
    measures: Collection[str] | None = None
    states: frozenset[str] = frozenset()
    told_by: date | None = None


def findings(wanted: FindingsWanted, at: datetime) -> list[FindingFact]:
    """Those that are told: seen in two looks, and worth telling; the newest change first.

    A change that is worth less in 30 days than RUNRATE_FINDING_FLOOR is left out; where nobody
    knows what it is worth, it is told.
    """
    rows = _reportable_findings(wanted).order_by("-changed_on", "id")
    verdicts = verdicts_in_force(at)
    facts = [_finding_fact(row, verdicts) for row in rows.values(*_FIELDS)]
    return [fact for fact in facts if not wanted.states or fact.state in wanted.states]


def finding(finding_id: int, team_ids: frozenset[int] | None, at: datetime) -> FindingFact | None:
    """One of them; None where there is none that these teams may see."""
    row = (
        _reportable_findings(FindingsWanted(team_ids))
        .filter(pk=finding_id)
        .values(*_FIELDS)
        .first()
    )
    return None if row is None else _finding_fact(row, verdicts_in_force(at))


def latest_detection_run() -> LatestDetectionRun | None:
    """None before the first."""
    row = Look.objects.order_by("-day").first()
    return None if row is None else LatestDetectionRun(row.day, row.series)


def _reportable_findings(wanted: FindingsWanted) -> QuerySet[Finding]:
    ids = [
        workload.id
        for workload in workloads.workloads().values()
        if (wanted.team_ids is None or workload.team_id in wanted.team_ids)
        and (wanted.workload_ids is None or workload.id in wanted.workload_ids)
    ]
    floor = settings.FINDING_FLOOR * MICROS
    is_reliable = Q(kind=FindingKind.SPIKE) | Q(seen__gte=LOOKS_TO_TELL)
    worth = Q(impact_micros=None) | Q(impact_micros__gte=floor) | Q(impact_micros__lte=-floor)
    rows = Finding.objects.filter(is_reliable, worth, workload_id__in=ids)
    if wanted.since is not None:
        rows = rows.filter(changed_on__gte=wanted.since)
    if wanted.until is not None:
        rows = rows.filter(changed_on__lt=wanted.until)
    if wanted.told_by is not None:
        earlier = wanted.told_by - (LOOKS_TO_TELL - 1) * DAY
        at_once = Q(kind=FindingKind.SPIKE, first_seen_on__lte=wanted.told_by)
        rows = rows.filter(at_once | Q(first_seen_on__lte=earlier))
    if wanted.measures is not None:
        rows = rows.filter(measure__in=wanted.measures)
    return rows


def _finding_fact(row: dict[str, Any], verdicts: VerdictsInForce) -> FindingFact:
    fact = FindingFact(**row)
    return replace(fact, state=verdicts.state_of(fact.judged))


_FIELDS = tuple(name for name in FindingFact.__slots__ if name != "state")
