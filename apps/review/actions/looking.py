"""The daily look at every figure: which levels are new, and what they are made of."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db import transaction

from apps.economics.watch import (
    LEAST_EFFECT,
    SAME_WITHIN_DAYS,
    Sighting,
    edges,
    is_spike,
    look,
)
from apps.ledger.queries.calendar import local_day
from apps.logs.changes import logged_pass
from apps.review.actions.spend_looking import look_at_spend
from apps.review.models import Finding, FindingKind, Look
from apps.review.queries.causes import causes_of
from apps.review.queries.series import Series, every_series
from apps.review.queries.stories import Story, spans_of_spike, spans_of_step, story_of

SETTLED_AFTER = timedelta(hours=4)
"""After midnight, until when the day before is still being settled."""


@dataclass(frozen=True, slots=True)
class _Sight:
    """A change that this look found in a series."""

    kind: FindingKind
    began: date
    looks: int
    story: Story


def look_if_due(*, at: datetime, zone: str) -> int | None:
    """Look at today's figures once, when yesterday is settled; how many series. None: not due."""
    day = local_day(at - SETTLED_AFTER, zone)
    if Look.objects.filter(day__gte=day).exists():
        return None
    return look_at_day(day=day, at=at, zone=zone)


@logged_pass("detect_anomalies")
@transaction.atomic
def look_at_day(*, day: date, at: datetime, zone: str) -> int:
    """Look at every series as it was before `day`; how many there are.

    A change is counted on from the look before; looking again at the same day counts nothing twice.
    """
    before = Look.objects.filter(day__lt=day).order_by("-day").values_list("day", flat=True).first()
    series = every_series(day, zone)
    for each in series:
        if each.days and each.days[-1].day >= (day - timedelta(days=SAME_WITHIN_DAYS)).toordinal():
            _look_at(each, day, before, zone)
    count = len(series) + look_at_spend(day=day, at=at, zone=zone)
    Look.objects.update_or_create(day=day, defaults={"looked_at": at, "series": count})
    return count


def _look_at(series: Series, day: date, before: date | None, zone: str) -> None:
    known = list(
        Finding.objects.select_for_update()
        .filter(
            measure=series.measure,
            workload_id=series.workload_id,
            feature=series.feature,
            first_seen_on__lte=day,
        )
        .order_by("id")
    )
    seen = [
        Sighting(each.changed_on.toordinal(), each.effect_ratio, _looks_before(each, day, before))
        for each in known
        if each.kind == FindingKind.STEP and each.last_seen_on in (before, day)
    ]
    for sight in (*_step_sights(series, seen), *_spike_sights(series)):
        _keep_finding(series, sight, known, day, zone)


def _looks_before(finding: Finding, day: date, before: date | None) -> int:
    """How many looks had found it before this one."""
    return finding.seen - 1 if finding.last_seen_on == day else finding.seen


def _step_sights(series: Series, seen: Iterable[Sighting]) -> list[_Sight]:
    found = look(series.days, seen)
    all_edges = edges(series.days) if found else []
    sights = []
    for each in found:
        story = story_of(series, spans_of_step(series.days, all_edges, each.day))
        if story is None or story.effect * each.effect <= 0 or abs(story.effect) < LEAST_EFFECT:
            continue
        sights.append(_Sight(FindingKind.STEP, date.fromordinal(each.day), each.looks, story))
    return sights


def _spike_sights(series: Series) -> list[_Sight]:
    """The day before the last, where it is far out of line and the last is not: a single one."""
    *earlier, _ = series.days
    if not earlier or not is_spike(earlier) or is_spike(series.days):
        return []
    day = earlier[-1].day
    story = story_of(series, spans_of_spike(series.days, day))
    if story is None or story.effect < LEAST_EFFECT:
        return []
    return [_Sight(FindingKind.SPIKE, date.fromordinal(day), 1, story)]


def _keep_finding(
    series: Series, sight: _Sight, known: Iterable[Finding], day: date, zone: str
) -> None:
    """Write it; the nearest of the same kind within 7 days is the same, told anew."""
    same = [each for each in known if _is_same(each, sight)]
    # No other has the day of the nearest: it may move there.
    found = min(same, key=lambda each: _days_apart(each, sight), default=None) or Finding(
        kind=sight.kind,
        measure=series.measure,
        workload_id=series.workload_id,
        feature=series.feature,
        first_seen_on=day,
    )
    found.changed_on = sight.began
    found.last_seen_on = max(day, found.last_seen_on or day)
    # What was told stays told, though a later look is not sure of it any more.
    found.seen = max(sight.looks, found.seen if found.pk and found.seen > 1 else 0)
    found.before, found.after = sight.story.before, sight.story.after
    found.effect_ratio = sight.story.effect
    found.impact_micros = sight.story.impact_micros
    found.parts = [{"name": n, "millionths": part} for n, part in sight.story.parts.items()]
    found.causes = causes_of(series.workload_id, series.feature, sight.began, zone)
    found.save()


def _is_same(finding: Finding, sight: _Sight) -> bool:
    if finding.kind != sight.kind:
        return False
    apart = _days_apart(finding, sight)
    return apart == 0 if sight.kind is FindingKind.SPIKE else apart <= SAME_WITHIN_DAYS


def _days_apart(finding: Finding, sight: _Sight) -> int:
    return abs((finding.changed_on - sight.began).days)
