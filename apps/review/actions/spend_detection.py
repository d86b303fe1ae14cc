"""The daily look at spend: what is out of line, whose it is at the most specific, and what it is made of."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from django.db import transaction

from apps.economics.changes import WEEK
from apps.economics.spend_detectors import SpendDetector
from apps.economics.spend_watch import on_new_levels, out_of_line
from apps.logs.changes import logged_pass
from apps.review.models import SpendAnomaly, SpendSubject
from apps.review.queries.causes import causes_of_spend
from apps.review.queries.spend_anomalies import current_since
from apps.review.queries.spend_excess import (
    Excess,
    OwnLines,
    ToldBefore,
    days_held_against_its_line,
    days_it_lasts,
    over_own_line,
)
from apps.review.queries.spend_own_lines import budget_paces, weeks_of_years
from apps.review.queries.spend_series import (
    SpendSeries,
    SubjectOfSpend,
    every_spend_series,
    series_text,
)
from apps.review.queries.spend_stories import (
    ExcessDays,
    ExcessStory,
    drivers_of,
    excess_story,
    explained_by,
)
from apps.review.queries.verdicts import SPEND, VerdictsInForce, verdicts_in_force

log = logging.getLogger(__name__)

TOGETHER_WITHIN = 3
"""Days between the beginnings of two series that show the same money."""
TOLD_SHARE = 0.5
"""Of an excess: where known anomalies have so much of it, it is no anomaly of its own."""
MOST_CAUSES_OF = 3
"""Workloads and pools that have most of the excess: of these it is asked what changed."""


@dataclass(frozen=True, slots=True)
class _SpendDetectionContext:
    """The inputs that a look works with."""

    day: date
    at: datetime
    zone: str
    last: date
    series: dict[str, SpendSeries]
    said: VerdictsInForce


@logged_pass("look_at_spend")
@transaction.atomic
def detect_spend_anomalies(*, day: date, at: datetime, zone: str) -> int:
    """Look at every series of spend as it was before `day`; how many there are.

    What is found goes on being told of for two weeks, or until it is over. Looking again at the same day finds the same.
    A series that cannot be judged is in the log, and left out: it stops no other.
    """
    all_series = every_spend_series(day, zone)
    if not all_series:
        return 0
    spend_look = _SpendDetectionContext(
        day,
        at,
        zone,
        date.fromordinal(max(entry.last for entry in all_series)),
        {entry.of.series: entry for entry in all_series},
        verdicts_in_force(at),
    )
    anomalies = list(SpendAnomaly.objects.select_for_update().filter(first_seen_on__lte=day))
    current = [candidate for candidate in anomalies if _is_current(candidate, spend_look)]
    for current_anomaly in current:
        with _left_out_if_it_breaks(current_anomaly), transaction.atomic():
            _follow(current_anomaly, spend_look)
    for series in all_series:
        if any(
            _is_of(candidate, series.of) and not _is_settled(candidate, spend_look)
            for candidate in current
        ):
            continue
        with _left_out_if_it_breaks(series.of):
            anomaly = _look_at(series, anomalies, current, spend_look)
            if anomaly is not None:
                current.append(anomaly)
                anomalies.append(anomaly)
    _look_over_own_lines(all_series, anomalies, spend_look)
    return len(all_series)


@contextmanager
def _left_out_if_it_breaks(of: SubjectOfSpend | SpendAnomaly) -> Iterator[None]:
    """Log what breaks for one series. What of it reads or writes rows has to be in a savepoint of its own."""
    try:
        yield
    except Exception:
        # The key of a charge is made of texts of bills; those of all others are ids.
        key = "-" if of.subject == SpendSubject.CHARGE else of.key
        log.exception("spend_not_judged subject=%s key=%s", of.subject, key)


def _look_at(
    series: SpendSeries,
    anomalies: Sequence[SpendAnomaly],
    current: Sequence[SpendAnomaly],
    context: _SpendDetectionContext,
) -> SpendAnomaly | None:
    """Return the excess of now of a series against its own days, written; None: nothing that is not told of."""
    excess = _excess_of(series, anomalies, context)
    if excess is None:
        return None
    with transaction.atomic():
        return _place(series, excess, current, context)


def _look_over_own_lines(
    all_series: Sequence[SpendSeries],
    anomalies: list[SpendAnomaly],
    context: _SpendDetectionContext,
) -> None:
    """Detect what creeps over its budget or over last year, parts before their wholes; a rise that is told of is not told again."""
    lines = OwnLines(
        budget_paces(context.last, context.at), weeks_of_years(context.last, context.zone)
    )
    for series in reversed(all_series):
        own_anomalies = [anomaly for anomaly in anomalies if _is_of(anomaly, series.of)]
        if any(
            _is_current(anomaly, context) and not _is_settled(anomaly, context)
            for anomaly in own_anomalies
        ):
            continue
        strictness = context.said.strictness_of(series.of.series)
        with _left_out_if_it_breaks(series.of):
            told_before = ToldBefore(
                own_anomalies, _levels_of(series, own_anomalies, context), strictness
            )
            excess = over_own_line(series, lines, told_before)
            if excess is None:
                continue
            with transaction.atomic():
                story = excess_story(series, excess.days, context.zone)
                if story and not _is_rise_told(series.of, story, excess, anomalies, context):
                    anomalies.append(_write(series, series.of, story, excess, context))


def _is_rise_told(
    of: SubjectOfSpend,
    story: ExcessStory,
    excess: Excess,
    anomalies: Iterable[SpendAnomaly],
    context: _SpendDetectionContext,
) -> bool:
    """Whether half of a rise or more is of its own or its parts' anomalies that began while it rose, and last."""
    a_day, reported = story.excess / WEEK, 0.0
    for anomaly in anomalies:
        other = context.series.get(series_text(anomaly.subject, anomaly.key))
        is_since = anomaly.ended_on is None and anomaly.began_on.toordinal() >= excess.rose_since
        if other is None or not is_since or _is_wider(other.of, of):
            continue
        size = (anomaly.spent_micros - anomaly.expected_micros) / anomaly.days / a_day
        reported += max(0.0, min(size, story.share_of(other.of)))
    return reported >= TOLD_SHARE


def _is_wider(other: SubjectOfSpend, of: SubjectOfSpend) -> bool:
    """Whether a subject has more than another: the organisation, a team above it."""
    return other.series != of.series and (
        other.subject == SpendSubject.ORGANISATION or other.team_ids > of.team_ids > frozenset()
    )


def _is_current(anomaly: SpendAnomaly, spend_look: _SpendDetectionContext) -> bool:
    return anomaly.began_on >= current_since(spend_look.last)


def _is_settled(anomaly: SpendAnomaly, spend_look: _SpendDetectionContext) -> bool:
    """Whether its series is looked at anew: it is over, or explained, so that its level is the usual one."""
    return anomaly.ended_on is not None or (SPEND, anomaly.pk) in spend_look.said.explained


def _is_of(anomaly: SpendAnomaly, of: SubjectOfSpend) -> bool:
    return (anomaly.subject, anomaly.key) == (of.subject, of.key)


def _excess_of(
    series: SpendSeries, anomalies: Iterable[SpendAnomaly], context: _SpendDetectionContext
) -> Excess | None:
    """The days that are out of line now, on the levels that came before; None: none are."""
    levels = [
        (began - series.first, ratio)
        for began, ratio in _levels_of(series, anomalies, context)
        if began > series.first
    ]
    strictness = context.said.strictness_of(series.of.series)
    outlier = out_of_line(on_new_levels(series.values, levels), strictness, series.first)
    if outlier is None:
        return None
    until = series.last - outlier.ago
    days = ExcessDays.after_usual(until - outlier.days + 1, until)
    if outlier.look is SpendDetector.CREEP:
        # The days just before crept too: it is held against those that it was found against.
        nearest, furthest = outlier.line
        days = replace(
            days,
            line_from=until - WEEK * (furthest + 1) + 1,
            line_until=until - WEEK * nearest,
        )
    return Excess(days, outlier.look)


def _levels_of(
    series: SpendSeries, anomalies: Iterable[SpendAnomaly], context: _SpendDetectionContext
) -> list[tuple[int, float]]:
    """From which day on (its ordinal) it has a level that is usual by now, and its ratio to the one before."""
    return [
        (anomaly.began_on.toordinal(), _ratio_of(anomaly))
        for anomaly in anomalies
        if _is_of(anomaly, series.of)
        and anomaly.ended_on is None
        and anomaly.expected_micros > 0
        and (not _is_current(anomaly, context) or (SPEND, anomaly.pk) in context.said.explained)
    ]


def _ratio_of(anomaly: SpendAnomaly) -> float:
    """Of what it costs to what it cost before; what a budget had for it is not that."""
    ratio = anomaly.spent_micros / anomaly.expected_micros
    return ratio * anomaly.line_scale if anomaly.look == SpendDetector.BUDGET else ratio


def _place(
    series: SpendSeries,
    excess: Excess,
    current: Sequence[SpendAnomaly],
    context: _SpendDetectionContext,
) -> SpendAnomaly | None:
    """Write it at the most specific subject that explains it; None where the same money is told of already."""
    story, began = excess_story(series, excess.days, context.zone), excess.days.began
    if story is None or _is_already_covered(series.of, story, began, current, context):
        return None
    of = explained_by(story, series.of)
    if of.series != series.of.series:
        own_series = context.series.get(of.series)
        inner = excess_story(series, excess.days, context.zone, of)
        twin = next(
            (anomaly for anomaly in current if _is_of(anomaly, of) and _is_near(anomaly, began)),
            None,
        )
        if twin is not None:
            _record_sighting(twin, series.of, story)
            return None
        if inner is not None:
            seen_in = (series.of, story)
            return _write(own_series or series, of, inner, excess, context, seen_in=seen_in)
    return _write(series, series.of, story, excess, context)


def _is_already_covered(
    of: SubjectOfSpend,
    story: ExcessStory,
    began: int,
    current: Iterable[SpendAnomaly],
    spend_look: _SpendDetectionContext,
) -> bool:
    """Whether half of the excess or more is of anomalies that are known: it is noted with the one that has the most."""
    shares = []
    for anomaly in current:
        other = spend_look.series.get(series_text(anomaly.subject, anomaly.key))
        if other is None or not _is_near(anomaly, began):
            continue
        share = story.share_of(other.of)
        if anomaly.subject == SpendSubject.CHARGE:
            # Lines do not tell which charge they are of: no more of it than there is.
            share = min(share, (anomaly.spent_micros - anomaly.expected_micros) / story.excess)
        shares.append((share, anomaly))
    if sum(share for share, _ in shares if share > 0) < TOLD_SHARE:
        return False
    _record_sighting(max(shares, key=lambda pair: pair[0])[1], of, story)
    return True


def _is_near(anomaly: SpendAnomaly, began: int) -> bool:
    """Whether what began on a day (its ordinal) may be the same: it began about then, or this one lasts still."""
    since = anomaly.began_on.toordinal() - TOGETHER_WITHIN
    is_before_its_end = anomaly.ended_on is None or began <= anomaly.ended_on.toordinal()
    return began >= since and is_before_its_end


def _record_sighting(anomaly: SpendAnomaly, of: SubjectOfSpend, story: ExcessStory) -> None:
    others = [entry for entry in anomaly.seen_in if entry["series"] != of.series]
    anomaly.seen_in = [*others, _serialize_sighting(of, story)]
    anomaly.save()


def _serialize_sighting(of: SubjectOfSpend, story: ExcessStory) -> dict[str, Any]:
    return {
        "series": of.series,
        "subject": str(of.subject),
        "name": of.name,
        "micros": story.excess,
    }


def _write(
    series: SpendSeries,
    of: SubjectOfSpend,
    story: ExcessStory,
    excess: Excess,
    spend_look: _SpendDetectionContext,
    seen_in: tuple[SubjectOfSpend, ExcessStory] | None = None,
) -> SpendAnomaly:
    days = excess.days
    anomaly, is_new = SpendAnomaly.objects.get_or_create(
        subject=of.subject,
        key=of.key,
        began_on=date.fromordinal(days.began),
        defaults={
            "name": of.name,
            "team_id": of.team_id,
            "workload_id": of.workload_id,
            "first_seen_on": spend_look.day,
            "last_seen_on": spend_look.day,
            "days": days.until - days.began + 1,
            "expected_micros": story.expected,
            "spent_micros": story.spent,
            "seen_in": [] if seen_in is None else [_serialize_sighting(*seen_in)],
            "strictness": spend_look.said.strictness_of(of.series),
            "look": excess.look,
            "line_from": date.fromordinal(days.line_from),
            "line_until": date.fromordinal(days.line_until),
            "line_name": excess.line_name,
            "line_scale": days.scale,
            "over_since": date.fromordinal(excess.over_since) if excess.over_since else None,
        },
    )
    if is_new:
        _update_from_story(anomaly, of, story, spend_look)
        anomaly.save()
    return anomaly


def _update_from_story(
    anomaly: SpendAnomaly,
    of: SubjectOfSpend,
    story: ExcessStory,
    spend_look: _SpendDetectionContext,
) -> None:
    anomaly.expected_micros, anomaly.spent_micros = story.expected, story.spent
    anomaly.parts = [{"name": name, "micros": part} for name, part in story.parts.items()]
    anomaly.drivers = drivers_of(story, of)
    largest = sorted(story.cells.items(), key=lambda pair: -pair[1])
    ids = {
        name: list(dict.fromkeys(getattr(cell, name) for cell, _ in largest))[:MOST_CAUSES_OF]
        for name in ("workload_id", "pool_id")
    }
    anomaly.causes = causes_of_spend(
        [workload_id for workload_id in ids["workload_id"] if workload_id is not None],
        [pool_id for pool_id in ids["pool_id"] if pool_id is not None],
        anomaly.began_on,
        spend_look.zone,
    )


def _follow(anomaly: SpendAnomaly, spend_look: _SpendDetectionContext) -> None:
    """Tell it anew with the days since, and note when it is over."""
    own_series = spend_look.series.get(series_text(anomaly.subject, anomaly.key))
    anomaly.last_seen_on = max(anomaly.last_seen_on, spend_look.day)
    began = anomaly.began_on.toordinal()
    if own_series is not None and own_series.first <= began <= own_series.last:
        # What is new has no days before: they are those of the whole that it was seen in.
        full_series = own_series
        if began == own_series.first and anomaly.seen_in:
            full_series = spend_look.series.get(anomaly.seen_in[0]["series"], own_series)
        until = min(began + days_it_lasts(anomaly, own_series) - 1, own_series.last)
        story = excess_story(
            full_series, days_held_against_its_line(anomaly, until), spend_look.zone, own_series.of
        )
        if story is not None:
            anomaly.days = until - began + 1
            anomaly.ended_on = date.fromordinal(until + 1) if until < own_series.last else None
            _update_from_story(anomaly, own_series.of, story, spend_look)
    anomaly.save()
