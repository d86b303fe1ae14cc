"""The daily look at every figure: which levels are new, and what they are made of."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db import transaction

from apps.economics.watch import (
    LEAST_EFFECT,
    SAME_WITHIN_DAYS,
    Sighting,
    detect_level_changes,
    edges,
    is_spike,
)
from apps.ledger.queries.calendar import local_day
from apps.logs.changes import logged_pass
from apps.review.actions.spend_detection import detect_spend_anomalies
from apps.review.models import Finding, FindingKind, Look
from apps.review.queries.causes import causes_of
from apps.review.queries.series import Series, every_series
from apps.review.queries.stories import Story, spans_of_spike, spans_of_step, story_of
from apps.review.queries.verdicts import FINDING, VerdictsInForce, verdicts_in_force

SETTLED_AFTER = timedelta(hours=4)
"""After midnight, until when the day before is still being settled."""


@dataclass(frozen=True, slots=True)
class _Sight:
    """A change that this look found in a series; `is_answered`: somebody said what it is."""

    kind: FindingKind
    began: date
    looks: int
    story: Story
    is_answered: bool = False


@dataclass(frozen=True, slots=True)
class _SeriesRecord:
    """The findings made in a series before, which of them were answered, and how strictly it is looked at now."""

    findings: list[Finding]
    answered: frozenset[int]
    strictness: float


def detect_anomalies_if_due(*, at: datetime, zone: str) -> int | None:
    """Look at today's figures once, when yesterday is settled; how many series. None: not due."""
    day = local_day(at - SETTLED_AFTER, zone)
    if Look.objects.filter(day__gte=day).exists():
        return None
    return detect_anomalies(day=day, at=at, zone=zone)


@logged_pass("detect_anomalies")
@transaction.atomic
def detect_anomalies(*, day: date, at: datetime, zone: str) -> int:
    """Look at every series as it was before `day`; how many there are.

    A change is counted on from the look before; looking again at the same day counts nothing twice.
    """
    before = Look.objects.filter(day__lt=day).order_by("-day").values_list("day", flat=True).first()
    series, verdicts = every_series(day, zone), verdicts_in_force(at)
    for one_series in series:
        if (
            one_series.days
            and one_series.days[-1].day >= (day - timedelta(days=SAME_WITHIN_DAYS)).toordinal()
        ):
            _detect_in_series(
                one_series, _load_series_record(one_series, day, verdicts), day, before, zone
            )
    count = len(series) + detect_spend_anomalies(day=day, at=at, zone=zone)
    Look.objects.update_or_create(day=day, defaults={"looked_at": at, "series": count})
    return count


def _load_series_record(series: Series, day: date, verdicts: VerdictsInForce) -> _SeriesRecord:
    findings = list(
        Finding.objects.select_for_update()
        .filter(
            measure=series.measure,
            workload_id=series.workload_id,
            feature=series.feature,
            first_seen_on__lte=day,
        )
        .order_by("id")
    )
    answered = frozenset(
        finding.pk for finding in findings if verdicts.is_answered(FINDING, finding.pk)
    )
    return _SeriesRecord(findings, answered, verdicts.strictness_of(series.text))


def _detect_in_series(
    series: Series, record: _SeriesRecord, day: date, before: date | None, zone: str
) -> None:
    sightings = [
        Sighting(
            finding.changed_on.toordinal(),
            finding.effect_ratio,
            _count_earlier_detections(finding, day, before),
            finding.pk in record.answered,
        )
        for finding in record.findings
        if finding.kind == FindingKind.STEP
        and (finding.last_seen_on in (before, day) or finding.pk in record.answered)
    ]
    strictness = record.strictness
    for sight in (*_step_sights(series, sightings, strictness), *_spike_sights(series, strictness)):
        _keep_finding(series, sight, record, day, zone)


def _count_earlier_detections(finding: Finding, day: date, before: date | None) -> int:
    """How many looks had found it before this one."""
    return finding.seen - 1 if finding.last_seen_on == day else finding.seen


def _step_sights(series: Series, sightings: Iterable[Sighting], strictness: float) -> list[_Sight]:
    steps = detect_level_changes(series.days, sightings, strictness)
    all_edges = edges(series.days, strictness) if steps else []
    least = LEAST_EFFECT * strictness
    sights = []
    for step in steps:
        story = story_of(series, spans_of_step(series.days, all_edges, step.day))
        if story is None or story.effect * step.effect <= 0 or abs(story.effect) < least:
            continue
        began = date.fromordinal(step.day)
        sights.append(_Sight(FindingKind.STEP, began, step.looks, story, step.is_answered))
    return sights


def _spike_sights(series: Series, strictness: float) -> list[_Sight]:
    """The day before the last, where it is far out of line and the last is not: a single one."""
    *earlier, _ = series.days
    if not earlier or not is_spike(earlier, strictness) or is_spike(series.days):
        return []
    day = earlier[-1].day
    story = story_of(series, spans_of_spike(series.days, day))
    if story is None or story.effect < LEAST_EFFECT * strictness:
        return []
    return [_Sight(FindingKind.SPIKE, date.fromordinal(day), 1, story)]


def _keep_finding(
    series: Series, sight: _Sight, record: _SeriesRecord, day: date, zone: str
) -> None:
    """Write it; the nearest of the same kind within 7 days is the same, told anew, answered or not as it is."""
    same = [finding for finding in record.findings if _is_same(finding, sight, record.answered)]
    # No other has the day of the nearest: it may move there.
    nearest = min(
        same, key=lambda candidate: _days_apart(candidate, sight), default=None
    ) or Finding(
        kind=sight.kind,
        measure=series.measure,
        workload_id=series.workload_id,
        feature=series.feature,
        first_seen_on=day,
        strictness=record.strictness,
    )
    nearest.changed_on = sight.began
    nearest.last_seen_on = max(day, nearest.last_seen_on or day)
    # What was told stays told, though a later look is not sure of it any more.
    nearest.seen = max(sight.looks, nearest.seen if nearest.pk and nearest.seen > 1 else 0)
    nearest.before, nearest.after = sight.story.before, sight.story.after
    nearest.effect_ratio = sight.story.effect
    nearest.impact_micros = sight.story.impact_micros
    nearest.parts = [{"name": n, "millionths": part} for n, part in sight.story.parts.items()]
    nearest.causes = causes_of(series.workload_id, series.feature, sight.began, zone)
    nearest.save()


def _is_same(finding: Finding, sight: _Sight, answered: frozenset[int]) -> bool:
    apart = _days_apart(finding, sight)
    if finding.kind != sight.kind or apart > SAME_WITHIN_DAYS:
        return False
    is_like = (finding.pk in answered) == sight.is_answered and sight.kind is FindingKind.STEP
    return apart == 0 or is_like


def _days_apart(finding: Finding, sight: _Sight) -> int:
    return abs((finding.changed_on - sight.began).days)
