"""A run folded by the hour: what its attempts told, put into the time that its jobs held."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from apps.economics.hours import HOUR_MS
from apps.economics.minutes import minutes_of, packed
from apps.economics.run_time import Bucket, ReportedTime, stretches_of
from apps.economics.spans import joined_spans, spans_without
from apps.economics.split import largest_remainder

NO_JOB = 0
"""The job of what is on none that is known."""
BUCKET_OF_PHASE = {
    "startup": Bucket.STARTUP,
    "data": Bucket.DATA_WAIT,
    "communication": Bucket.COMMUNICATION,
    "checkpoint_save": Bucket.CHECKPOINT,
    "checkpoint_restore": Bucket.CHECKPOINT,
    "evaluation": Bucket.PRODUCTIVE,
    "recovery": Bucket.RECOVERY,
    "capacity_wait": Bucket.CAPACITY_WAIT,
}
OF_A_RESTART = frozenset({"startup", "checkpoint_restore"})
"""Phases that are recovery where the run had been under way before."""
REDONE = frozenset({Bucket.PRODUCTIVE, Bucket.COMMUNICATION, Bucket.DATA_WAIT})
"""What was spent in vain with a step that was done again."""
IN_VAIN = REDONE | {Bucket.CHECKPOINT, Bucket.LOST}
"""What was spent in vain while the run was wrong: its steps, done again or not, and saving them."""
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ReportedWindow:
    """Some seconds of an attempt, summed up. Moments in milliseconds since 1970."""

    start_ms: int
    end_ms: int
    steps: int = 0
    first_step: int | None = None
    last_step: int | None = None
    tokens: int = 0
    examples: int = 0
    flops: float = 0.0
    productive_ms: int = 0
    phases: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReportedAttempt:
    """The leading rank's part in a run, from its start to its end or to the last heard of it.

    `job` is NO_JOB where none is known. `first_told_ms` is when its first window began; None: it
    told none. `windows` are those at hand, maybe not all.
    """

    id: int
    job: int
    start_ms: int
    end_ms: int
    is_ended: bool
    first_told_ms: int | None
    windows: Sequence[ReportedWindow] = ()


@dataclass(frozen=True, slots=True)
class Rewind:
    """From this moment on the run went on from this step; `attempt` is which one said so."""

    at_ms: int
    step: int
    attempt: int


@dataclass(frozen=True, slots=True)
class CarrierSpan:
    """A job carried the run in this time."""

    job: int
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run as far as it is known.

    `attempts` in the order of their starts. `waits` are when its jobs were queued. From
    `failed_after_ms` on what it did was in vain, for it failed and was not taken up again; in
    `diverged` too, for it was wrong then, by its own loss.
    """

    attempts: Sequence[ReportedAttempt]
    held: Sequence[CarrierSpan]
    rewinds: Sequence[Rewind] = ()
    waits: Sequence[Span] = ()
    failed_after_ms: int | None = None
    diverged: Sequence[Span] = ()


@dataclass(slots=True)
class HourSums:
    """An hour of a run on a job: time by Bucket, and what was done in its windows.

    `minutes` are those of each bucket, packed (apps.economics.minutes).
    """

    bucket_ms: list[int] = field(default_factory=lambda: [0] * len(Bucket))
    minutes: bytes = b""
    tokens: int = 0
    redone_tokens: int = 0
    examples: int = 0
    flops: float = 0.0
    steps: int = 0
    step_ms: int = 0


def folded(run: ReportedRun, from_ms: int) -> dict[tuple[int, int], HourSums]:
    """The hours of a run from `from_ms` on, which begins one, by job and by the hour's beginning.

    Each job's hours sum to the time that it held the run exactly; NO_JOB has what was told with no
    job known, and the time in the queue while no job carried the run.
    """
    sums_by_hour: dict[tuple[int, int], HourSums] = {}
    homeless = joined_spans((a.start_ms, a.end_ms) for a in run.attempts if a.job == NO_JOB)
    held_spans = [(hold.start_ms, hold.end_ms) for hold in run.held]
    waits = spans_without(joined_spans(run.waits), joined_spans([*held_spans, *homeless]))
    lost = {attempt.id: _undoing_rewinds(attempt, run) for attempt in run.attempts}
    marks = {
        attempt.id: list(_marks_of(attempt, run, lost[attempt.id])) for attempt in run.attempts
    }
    spans: dict[int, list[Span]] = {NO_JOB: [*homeless, *waits]}
    for job_hold in run.held:
        spans.setdefault(job_hold.job, []).append((job_hold.start_ms, job_hold.end_ms))
    for job, of_job in spans.items():
        reported_times = _reported_times(job, joined_spans(of_job), run, marks)
        if job == NO_JOB:
            reported_times += [ReportedTime(*wait, Bucket.CAPACITY_WAIT) for wait in waits]
        for hour, stretches in _by_hour(joined_spans(of_job), reported_times, from_ms).items():
            _set_buckets(_hour_sums(sums_by_hour, job, hour), hour, stretches)
    _count_windows(sums_by_hour, run, lost, from_ms)
    return sums_by_hour


def _set_buckets(sums: HourSums, hour: int, stretches: Iterable[tuple[int, int, Bucket]]) -> None:
    of_bucket: dict[int, list[Span]] = {}
    for start, end, bucket in stretches:
        sums.bucket_ms[bucket] += end - start
        of_bucket.setdefault(int(bucket), []).append((start - hour, end - hour))
    sums.minutes = packed({bucket: minutes_of(spans) for bucket, spans in of_bucket.items()})


def _count_windows(
    sums_by_hour: dict[tuple[int, int], HourSums],
    run: ReportedRun,
    lost: Mapping[int, Sequence[tuple[int, int]]],
    from_ms: int,
) -> None:
    for attempt in run.attempts:
        for window in attempt.windows:
            if window.start_ms >= from_ms:
                sums = _hour_sums(sums_by_hour, attempt.job, window.start_ms)
                _count_window(sums, window, _lost_steps(window, lost[attempt.id]))


def _hour_sums(sums_by_hour: dict[tuple[int, int], HourSums], job: int, moment: int) -> HourSums:
    return sums_by_hour.setdefault((job, moment - moment % HOUR_MS), HourSums())


def _undoing_rewinds(attempt: ReportedAttempt, run: ReportedRun) -> list[tuple[int, int]]:
    """The rewinds that undo steps of this attempt: its own, and of those that began after it."""
    starts = {other.id: other.start_ms for other in run.attempts}
    return [
        (rewind.at_ms, rewind.step)
        for rewind in run.rewinds
        if rewind.attempt == attempt.id or starts.get(rewind.attempt, 0) >= attempt.end_ms
    ]


def _lost_steps(window: ReportedWindow, rewinds: Sequence[tuple[int, int]]) -> int:
    first = min((step for at, step in rewinds if at >= window.end_ms), default=None)
    if first is None or window.last_step is None or window.first_step is None:
        return 0
    return max(0, min(window.steps, window.last_step - max(first, window.first_step) + 1))


def _count_window(sums: HourSums, window: ReportedWindow, lost_steps: int) -> None:
    kept_steps = window.steps - lost_steps
    all_steps = window.steps or 1
    redone = window.tokens * lost_steps // all_steps
    sums.redone_tokens += redone
    sums.tokens += window.tokens - redone
    sums.examples += window.examples - window.examples * lost_steps // all_steps
    sums.flops += window.flops * (kept_steps / all_steps if window.steps else 1)
    sums.steps += kept_steps
    sums.step_ms += max(0, window.productive_ms) + window.phases.get("communication", 0)


def _marks_of(
    attempt: ReportedAttempt, run: ReportedRun, rewinds: Sequence[tuple[int, int]]
) -> Iterator[ReportedTime]:
    """Yield the times that an attempt's windows tell, laid one after the other into each window's time."""
    is_first = attempt is run.attempts[0]
    start = Bucket.STARTUP if is_first else Bucket.RECOVERY
    if attempt.first_told_ms is not None:
        yield ReportedTime(attempt.start_ms, attempt.first_told_ms, start)
    for window in attempt.windows:
        at = window.start_ms
        for bucket, length in _window_pieces(
            window, _lost_steps(window, rewinds), is_first=is_first
        ):
            yield ReportedTime(at, at + length, bucket)
            if bucket is Bucket.PRODUCTIVE and run.failed_after_ms is not None:
                yield ReportedTime(max(at, run.failed_after_ms), at + length, Bucket.FAILED)
            if bucket in IN_VAIN:
                yield from _diverged_marks((at, at + length), run.diverged)
            at += length


def _diverged_marks(piece: Span, diverged: Sequence[Span]) -> Iterator[ReportedTime]:
    for since, until in diverged:
        yield ReportedTime(max(piece[0], since), min(piece[1], until), Bucket.DIVERGED)


def _window_pieces(
    window: ReportedWindow, lost_steps: int, *, is_first: bool
) -> Iterator[tuple[Bucket, int]]:
    """How long what took in the window; what is told beyond its own length is cut in proportion."""
    spent: dict[Bucket, int] = {Bucket.PRODUCTIVE: max(0, window.productive_ms)}
    for phase, milliseconds in window.phases.items():
        bucket = BUCKET_OF_PHASE.get(phase, Bucket.UNTOLD)
        if phase in OF_A_RESTART and not is_first:
            bucket = Bucket.RECOVERY
        spent[bucket] = spent.get(bucket, 0) + max(0, milliseconds)
    if lost_steps:
        for bucket in REDONE & spent.keys():
            lost = spent[bucket] * lost_steps // window.steps
            spent[bucket] -= lost
            spent[Bucket.LOST] = spent.get(Bucket.LOST, 0) + lost
    length = window.end_ms - window.start_ms
    ordered = sorted(spent, reverse=True)
    lengths = [spent[bucket] for bucket in ordered]
    if sum(lengths) > length:
        lengths = largest_remainder(length, lengths)
    yield from (
        (bucket, bucket_ms) for bucket, bucket_ms in zip(ordered, lengths, strict=True) if bucket_ms
    )


def _reported_times(
    job: int, spans: Sequence[Span], run: ReportedRun, marks: Mapping[int, Sequence[ReportedTime]]
) -> list[ReportedTime]:
    """Return the told times of a job: by its own attempts, or the run's where it has none."""
    own_attempts = [attempt for attempt in run.attempts if attempt.job == job]
    speaking = own_attempts or (list(run.attempts) if job != NO_JOB else [])
    reported_times = [mark for attempt in speaking for mark in marks[attempt.id]]
    for span in spans:
        reported_times += _untold_gaps(span, speaking, run)
    return reported_times


def _untold_gaps(
    span: Span, speaking: Sequence[ReportedAttempt], run: ReportedRun
) -> Iterator[ReportedTime]:
    """The time of a job in which no attempt was under way: before, between and after them."""
    start, end = span
    inside = sorted(
        (
            candidate
            for candidate in speaking
            if candidate.start_ms < end and candidate.end_ms > start
        ),
        key=lambda attempt: (attempt.start_ms, attempt.end_ms),
    )
    at = start
    for attempt in inside:
        if attempt.start_ms > at:
            is_first = attempt is run.attempts[0]
            yield ReportedTime(
                at, attempt.start_ms, Bucket.STARTUP if is_first else Bucket.RECOVERY
            )
        at = max(at, attempt.end_ms)
    last = max(inside, key=lambda attempt: attempt.end_ms, default=None)
    if last is not None and last.is_ended and at < end:
        yield ReportedTime(at, end, Bucket.IDLE_AFTER_END)


def _by_hour(
    spans: Sequence[Span], reported_times: Iterable[ReportedTime], from_ms: int
) -> dict[int, list[tuple[int, int, Bucket]]]:
    spans_of: dict[int, list[Span]] = {}
    told_of: dict[int, list[ReportedTime]] = {}
    for start, end in spans:
        for hour, since, until in _cut_by_hour(max(start, from_ms), end):
            spans_of.setdefault(hour, []).append((since, until))
    for time in reported_times:
        for hour, since, until in _cut_by_hour(max(time.start_ms, from_ms), time.end_ms):
            told_of.setdefault(hour, []).append(ReportedTime(since, until, time.bucket))
    return {hour: stretches_of(span, told_of.get(hour, ())) for hour, span in spans_of.items()}


def _cut_by_hour(start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The hours that a span touches, with the part of it in each."""
    while start < end:
        hour = start - start % HOUR_MS
        until = min(end, hour + HOUR_MS)
        yield hour, start, until
        start = until
