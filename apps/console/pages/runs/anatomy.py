"""A run's time as lanes: where the hours of each job went, its attempts, and what happened."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import Any, ClassVar

from django.urls import reverse

from apps.console.kit.cells import drawn
from apps.console.kit.request import Context
from apps.console.kit.table import TableSection
from apps.console.pages.lanes import DrawnLane, Span, lanes_section
from apps.console.pages.runs.words import status_of
from apps.economics.hours import HOUR, hour_of
from apps.economics.run_time import Bucket
from apps.show.amounts import counted, per_cent, share
from apps.show.run_buckets import BUCKETS
from apps.show.time import duration, instant, short_day
from apps.show.words import StateWords, joined
from apps.workloads.queries.run_facts import ClockHour
from apps.workloads.queries.run_picture import CarryingJob, PicturedAttempt, PicturedMoment

MOST_LANES = 12
COLUMNS = 480
FEWEST_COLUMNS = 40
MOST_MARKS = 60
TICKS = 5
WIDE, HIGH = 1000, 100
ALL = "The whole run"

Stretch = tuple[datetime, datetime]
ByBucket = dict[Bucket, int]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of a run's time."""

    hours: Sequence[ClockHour]
    jobs: Sequence[CarryingJob]
    attempts: Sequence[PicturedAttempt]
    moments: Sequence[PicturedMoment]
    at: datetime
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class Patch:
    """One bucket of a lane: an SVG path in a box of 1000 by 100, or rectangles that are hatched."""

    words: StateWords
    said: str
    path: str = ""
    rectangles: tuple[tuple[str, str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LaneMark:
    """A moment or a stretch in a lane, in per cent as SVG writes it, and what it says."""

    left: str
    kind: str
    said: str
    width: str = ""


@dataclass(frozen=True, slots=True)
class RunLane:
    """The whole run, or one job of it, through the time that is drawn."""

    name: str
    notes: tuple[str, ...]
    words: str
    patches: tuple[Patch, ...]
    attempts: tuple[LaneMark, ...] = ()
    marks: tuple[LaneMark, ...] = ()
    href: str = ""

    def drawn(self) -> DrawnLane:
        """As a row of the picture."""
        return DrawnLane(self.name, self.href, self.notes, drawn("runs/_lane.html", lane=self))


@dataclass(frozen=True, slots=True)
class Anatomy:
    """A run's time as a picture: what it shows in one sentence, and the lanes."""

    template: ClassVar[str] = "runs/_anatomy.html"
    finding: str
    when: str
    lanes: TableSection
    states: tuple[StateWords, ...]
    left_out: str = ""


def anatomy_of(facts: RunFacts, context: Context) -> Anatomy | None:
    """The picture; None where nothing says when it was."""
    span = _span_of(facts)
    if span is None:
        return None
    of_job: dict[int | None, list[ClockHour]] = {}
    for hour in facts.hours:
        of_job.setdefault(hour.job_id, []).append(hour)
    shown = facts.jobs[:MOST_LANES]
    step = _column_length(span, len(shown) + 1)
    lanes = [_job_lane(job, of_job.get(job.fact.id, ()), facts, span, step) for job in shown]
    lanes = [replace(lane, href=context.onward(lane.href)) for lane in lanes]
    run_lane = _full_run_lane(facts, span, step)
    if len(lanes) == 1:
        # One job is the whole run: drawn once, with the marks of both.
        lanes = [_in_one_lane(run_lane, lanes[0])]
    else:
        lanes.insert(0, run_lane)
    spent = spent_of(facts.hours)
    when = f"{instant(span.starts_at, span.zone)} to {instant(span.until, span.zone)}"
    ticks = [(left, _tick_words(at, span)) for left, at in span.marked(TICKS)]
    rows = [lane.drawn() for lane in lanes]
    return Anatomy(
        finding=_time_finding(spent, facts),
        when=when,
        lanes=lanes_section("The run through time", ("Job", when), ticks, rows, context),
        states=tuple(BUCKETS[bucket] for bucket in BUCKETS if spent.get(bucket)),
        left_out=_left_out(len(facts.jobs) - len(shown)),
    )


def spent_of(hours: Iterable[ClockHour]) -> ByBucket:
    """Milliseconds by the clock, over all jobs, by bucket."""
    spent: ByBucket = {}
    for hour in hours:
        for bucket, milliseconds in zip(Bucket, hour.bucket_ms, strict=False):
            if milliseconds:
                spent[bucket] = spent.get(bucket, 0) + milliseconds
    return spent


def _span_of(facts: RunFacts) -> Span | None:
    starts = [job.starts_at for job in facts.jobs]
    starts += [attempt.starts_at for attempt in facts.attempts]
    starts += [hour.hour for hour in facts.hours] if not starts else []
    if not starts:
        return None
    ends = [job.ends_at or facts.at for job in facts.jobs]
    ends += [attempt.ends_at or attempt.heard_at for attempt in facts.attempts]
    ends += [hour.hour + HOUR for hour in facts.hours] if not ends else []
    starts_at, ends_at = min(starts), min(facts.at, max(ends))
    ends_at = max(ends_at, starts_at + timedelta(minutes=1))
    return Span(starts_at, ends_at, ends_at, facts.zone)


def _column_length(span: Span, lanes: int) -> timedelta:
    """How long a column is: whole hours, so that a picture has some hundreds of them."""
    hours = -(-(span.ends_at - span.starts_at) // HOUR) + 1
    columns = max(FEWEST_COLUMNS, COLUMNS // lanes)
    return HOUR * max(1, -(-hours // columns))


def _full_run_lane(facts: RunFacts, span: Span, step: timedelta) -> RunLane:
    spent = spent_of(facts.hours)
    columns = _lane_columns(facts.hours, (span.starts_at, span.until), span, step)
    good = [moment for moment in facts.moments if moment.kind == "good_checkpoint"]
    notes = [f"{counted(len(facts.jobs), 'job')}, {counted(len(facts.attempts), 'attempt')}"]
    if good:
        notes.append(counted(len(good), "good checkpoint"))
    return RunLane(
        name=ALL,
        notes=tuple(notes),
        words=_spent_words(spent),
        patches=_patches_of(columns, spent),
        marks=(*_good_marks(good, span), *_cut_marks(facts.attempts, span)),
    )


def _job_lane(
    job: CarryingJob,
    hours: Sequence[ClockHour],
    facts: RunFacts,
    span: Span,
    step: timedelta,
) -> RunLane:
    own_attempts = [attempt for attempt in facts.attempts if attempt.job_id == job.fact.id]
    lifetime = (job.starts_at, job.ends_at or facts.at)
    spent = spent_of(hours)
    lasted = duration(_truncate_to_seconds(lifetime[1] - lifetime[0]))
    notes = [f"{job.fact.cluster}, {lasted}" if job.is_seen else lasted]
    submitted_at = job.fact.submitted_at
    if submitted_at is not None and job.starts_at - submitted_at >= timedelta(minutes=1):
        notes.append(f"queued {duration(_truncate_to_seconds(job.starts_at - submitted_at))}")
    return RunLane(
        name=f"Job {job.fact.raw_id}" if job.is_seen else "Another team’s job",
        href=reverse("costs-job", args=[job.fact.id]) if job.is_seen else "",
        notes=tuple(notes),
        words=_spent_words(spent),
        patches=_patches_of(_lane_columns(hours, lifetime, span, step), spent),
        attempts=tuple(_attempt_mark(attempt, span) for attempt in own_attempts),
        marks=_cut_marks(own_attempts, span),
    )


def _in_one_lane(run_lane: RunLane, job: RunLane) -> RunLane:
    return RunLane(
        name=job.name,
        href=job.href,
        notes=(*job.notes, *run_lane.notes[1:]),
        words=job.words,
        patches=job.patches,
        attempts=job.attempts,
        marks=run_lane.marks,
    )


def _lane_columns(
    hours: Iterable[ClockHour], lifetime: Stretch, span: Span, step: timedelta
) -> list[tuple[float, float, ByBucket]]:
    """Columns from left to right, of WIDE in all: each with its buckets' milliseconds."""
    first = hour_of(span.starts_at)
    sums: dict[int, ByBucket] = {}
    for hour in hours:
        column = sums.setdefault((hour.hour - first) // step, {})
        for bucket, milliseconds in zip(Bucket, hour.bucket_ms, strict=False):
            if milliseconds:
                column[bucket] = column.get(bucket, 0) + milliseconds
    lane_columns = []
    for place, spent in sorted(sums.items()):
        begins, ends = first + place * step, first + (place + 1) * step
        starts_at, ends_at = span.cut(max(begins, lifetime[0]), min(ends, lifetime[1]))
        if spent and ends_at > starts_at:
            left, right = span.left(starts_at) * WIDE / 100, span.left(ends_at) * WIDE / 100
            lane_columns.append((left, right, spent))
    return lane_columns


def _patches_of(
    columns: Sequence[tuple[float, float, ByBucket]], spent: ByBucket
) -> tuple[Patch, ...]:
    """Each bucket's rectangles over all columns; in a column they stack to its full height."""
    drawn: dict[Bucket, list[tuple[float, float, float, float]]] = {}
    for left, right, of_column in columns:
        total, floor = sum(of_column.values()), 0
        for bucket in BUCKETS:
            part = of_column.get(bucket, 0)
            if part:
                top = HIGH * (total - floor - part) / total
                drawn.setdefault(bucket, []).append((left, right, top, HIGH * part / total))
                floor += part
    return tuple(
        Patch(BUCKETS[bucket], _describe_bucket(bucket, spent), **_shape_of(bucket, drawn[bucket]))
        for bucket in BUCKETS
        if bucket in drawn
    )


def _shape_of(
    bucket: Bucket, boxes: Sequence[tuple[float, float, float, float]]
) -> Mapping[str, Any]:
    """One path; a hatch would be stretched with its box, so what is hatched is in per cent."""
    if BUCKETS[bucket].is_hatched:
        return {
            "rectangles": tuple(
                (f"{left / 10:.2f}%", f"{(right - left) / 10:.2f}%", f"{top:.1f}%", f"{high:.1f}%")
                for left, right, top, high in boxes
            )
        }
    parts = (
        f"M{left:.1f} {top:.1f}H{right:.1f}V{top + high:.1f}H{left:.1f}Z"
        for left, right, top, high in boxes
    )
    return {"path": "".join(parts)}


def _describe_bucket(bucket: Bucket, spent: ByBucket) -> str:
    part = per_cent(share(spent[bucket], sum(spent.values())))
    return f"{BUCKETS[bucket].label}: {duration(_length_of(spent[bucket]))}, {part}"


def _spent_words(spent: ByBucket) -> str:
    total = sum(spent.values())
    if not total:
        return "nothing is known of where its time went"
    return joined(
        [
            f"{BUCKETS[bucket].label} {per_cent(share(spent[bucket], total))}"
            for bucket in BUCKETS
            if spent.get(bucket)
        ]
    )


def _attempt_mark(attempt: PicturedAttempt, span: Span) -> LaneMark:
    starts_at, ends_at = span.cut(attempt.starts_at, attempt.ends_at or attempt.heard_at)
    left, right = span.left(starts_at), span.left(max(ends_at, starts_at))
    status_text = status_of(attempt.status).label.lower()
    steps = "" if attempt.last_step is None else f", up to step {attempt.last_step:,}"
    lasted = duration(_truncate_to_seconds(ends_at - starts_at))
    return LaneMark(
        left=f"{left:.3f}%",
        width=f"{max(0.15, right - left):.3f}%",
        kind=f"attempt-{attempt.status}" if attempt.status else "attempt",
        said=f"Attempt, {status_text}: {instant(starts_at, span.zone)}, {lasted}{steps}",
    )


def _good_marks(good: Sequence[PicturedMoment], span: Span) -> tuple[LaneMark, ...]:
    """At most MOST_MARKS of them, evenly through the run, the first and the last among them."""
    every = max(1, -(-len(good) // MOST_MARKS))
    shown = [
        moment for place, moment in enumerate(good) if place % every == 0 or moment is good[-1]
    ]
    return tuple(
        LaneMark(
            left=f"{span.left(moment.at):.3f}%",
            kind="good",
            said=f"Good checkpoint, {instant(moment.at, span.zone)}"
            + ("" if moment.step is None else f", step {moment.step:,}"),
        )
        for moment in shown
        if span.starts_at <= moment.at <= span.until
    )


def _cut_marks(attempts: Sequence[PicturedAttempt], span: Span) -> tuple[LaneMark, ...]:
    cut = [
        attempt
        for attempt in attempts
        if attempt.status in {"interrupted", "failed"} and attempt.ends_at
    ]
    return tuple(
        LaneMark(
            left=f"{span.left(min(attempt.ends_at, span.until)):.3f}%",
            kind="cut",
            said=f"{status_of(attempt.status).label}, {instant(attempt.ends_at, span.zone)}",
        )
        for attempt in cut[-MOST_MARKS:]
        if attempt.ends_at is not None
    )


def _tick_words(at: datetime, span: Span) -> str:
    length = span.ends_at - span.starts_at
    local = at.astimezone(span.zone)
    if length >= timedelta(days=TICKS):
        return short_day(local.date())
    if length >= timedelta(days=1):
        return f"{short_day(local.date())} {local:%H:%M}"
    return f"{local:%H:%M}"


def _time_finding(spent: ByBucket, facts: RunFacts) -> str:
    total = sum(spent.values())
    if not total:
        return "When its jobs ran is known; what they did in that time is not."
    productive = per_cent(share(spent.get(Bucket.PRODUCTIVE, 0), total))
    cuts = sum(attempt.status in {"interrupted", "failed"} for attempt in facts.attempts)
    sentence = f"{productive} of the time was kept training steps"
    if cuts:
        sentence += f"; it was interrupted or failed {'once' if cuts == 1 else f'{cuts:,} times'}"
    untold = share(spent.get(Bucket.UNTOLD, 0), total)
    return f"{sentence}; {per_cent(untold)} was not reported." if untold else f"{sentence}."


def _left_out(count: int) -> str:
    if count <= 0:
        return ""
    return f"{counted(count, 'later job')} {'is' if count == 1 else 'are'} in the whole run’s lane alone."


def _length_of(milliseconds: int) -> timedelta:
    return _truncate_to_seconds(timedelta(milliseconds=milliseconds))


def _truncate_to_seconds(span: timedelta) -> timedelta:
    return span - span % timedelta(seconds=1) if span >= timedelta(minutes=1) else span
