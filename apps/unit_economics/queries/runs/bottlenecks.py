"""Where the time of a run or a workload went, what that cost, and what held it up."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from apps.accounts import queries as accounts
from apps.economics.run_time import LEAST_TOLD, Bucket
from apps.ledger.queries.windows import Window
from apps.show.amounts import gpu_hours, per_cent
from apps.show.money import rounded_amount
from apps.unit_economics.queries.runs.causes import (
    MAY_CAUSE,
    Resource,
    SaturatedResource,
    causes_of,
)
from apps.unit_economics.queries.runs.spent import (
    BucketCost,
    BucketSpent,
    micros_of,
    runs_of_window,
    spent_of_run,
    spent_of_workload,
    spent_together,
)

__all__ = [
    "Bottleneck",
    "BucketPart",
    "Resource",
    "SaturatedResource",
    "TimeBreakdown",
    "run_time_breakdown",
    "workload_time_breakdown",
]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """From which share on a bucket is a finding, its name, and what it says of that share."""

    threshold: float
    name: str
    said: str


# Shares of GPU time that was told of. Data wait and communication: some is hidden by no one; the
# others are pure loss, and a twentieth of a bill is worth a look.
FINDINGS: dict[Bucket, _Sentence] = {
    Bucket.DATA_WAIT: _Sentence(0.1, "Starved", "waits for data"),
    Bucket.COMMUNICATION: _Sentence(0.25, "Waiting for each other", "is communication"),
    Bucket.CHECKPOINT: _Sentence(0.05, "Saving too much", "is saving checkpoints"),
    Bucket.LOST: _Sentence(0.05, "Redoing work", "was lost to interruptions and done again"),
    Bucket.DIVERGED: _Sentence(0.05, "Diverged", "was training after its loss went wrong"),
    Bucket.RECOVERY: _Sentence(0.05, "Slow to recover", "is recovery after interruptions"),
    Bucket.STARTUP: _Sentence(0.1, "Slow to start", "passes before the first step"),
    Bucket.FAILED: _Sentence(0.05, "Failing", "went into attempts that failed"),
    Bucket.CAPACITY_WAIT: _Sentence(0.05, "Waiting for capacity", "is held until the rest comes"),
    Bucket.IDLE_AFTER_END: _Sentence(0.05, "Holding on", "is held after training was over"),
}


@dataclass(frozen=True, slots=True)
class BucketPart(BucketCost):
    """A bucket of a window: `share` is of all GPU time that was told of (None for UNTOLD)."""

    share: float | None


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """Time that went elsewhere than into training, and more of it than is usual.

    `name` is a word such as *Starved*; `words` the whole sentence. `causes` is empty where the
    counters show nothing; `is_seen` is false where there were none to look at, `asks_counters`
    where counters could say nothing of such a bucket.
    """

    bucket: Bucket
    name: str
    share: float
    micros: int | None
    unit_milliseconds: int
    words: str
    causes: tuple[SaturatedResource, ...]
    is_seen: bool
    asks_counters: bool


@dataclass(frozen=True, slots=True)
class TimeBreakdown:
    """All buckets that have time, in their order, and the verdicts, the dearest first.

    `told_ratio` is of GPU time; None where there was none. `words` say it in one sentence.
    """

    parts: tuple[BucketPart, ...]
    micros: int | None
    unit_milliseconds: int
    told_ratio: float | None
    verdicts: tuple[Bottleneck, ...]
    words: str


def run_time_breakdown(run_id: int, *, window: Window | None = None) -> TimeBreakdown:
    """Of a run; all of it where no window is given."""
    return _time_of_runs([run_id], window, spent_of_run(run_id, window))


def workload_time_breakdown(workload_id: int, *, window: Window) -> TimeBreakdown:
    """Of all runs of a workload."""
    of_failed, of_others = spent_of_workload(workload_id, window)
    run_ids = [run.run_id for run in runs_of_window(workload_id, window)]
    return _time_of_runs(run_ids, window, spent_together([*of_failed, *of_others]))


def _time_of_runs(
    run_ids: Sequence[int], window: Window | None, spent: Sequence[BucketSpent]
) -> TimeBreakdown:
    total_ms = sum(bucket_spent.unit_milliseconds for bucket_spent in spent)
    reported_ms = sum(
        bucket_spent.unit_milliseconds
        for bucket_spent in spent
        if bucket_spent.bucket is not Bucket.UNTOLD
    )
    parts = tuple(
        _bucket_part(bucket_spent, reported_ms)
        for bucket_spent in spent
        if bucket_spent.unit_milliseconds or bucket_spent.micros
    )
    ratio = reported_ms / total_ms if total_ms else None
    judged_parts = parts if ratio is not None and ratio >= LEAST_TOLD else ()
    verdicts = _verdicts_of_parts(judged_parts, run_ids, window)
    return TimeBreakdown(
        parts=parts,
        micros=micros_of(spent),
        unit_milliseconds=total_ms,
        told_ratio=ratio,
        verdicts=verdicts,
        words=_summary_words(ratio, parts, verdicts),
    )


def _bucket_part(spent: BucketSpent, reported_ms: int) -> BucketPart:
    is_told = spent.bucket is not Bucket.UNTOLD and reported_ms
    return BucketPart(
        bucket=spent.bucket,
        micros=spent.micros,
        unit_milliseconds=spent.unit_milliseconds,
        unpriced_milliseconds=spent.unpriced_milliseconds,
        share=spent.unit_milliseconds / reported_ms if is_told else None,
    )


def _verdicts_of_parts(
    parts: Sequence[BucketPart], run_ids: Sequence[int], window: Window | None
) -> tuple[Bottleneck, ...]:
    findings = [part for part in parts if _is_finding(part)]
    if not findings:
        return ()
    currency = accounts.organisation().currency
    thresholds = {part.bucket: threshold_of(part.bucket) for part in findings}
    causes = causes_of(thresholds, run_ids, window)
    dearest = sorted(findings, key=lambda part: (-(part.micros or 0), -part.unit_milliseconds))
    return tuple(
        _verdict_of_part(
            part, causes.get(part.bucket), f"{_cost_words(part, currency)}{_window_words(window)}"
        )
        for part in dearest
    )


def _is_finding(part: BucketPart) -> bool:
    return part.bucket in FINDINGS and (part.share or 0.0) >= threshold_of(part.bucket)


def threshold_of(bucket: Bucket) -> float:
    """From which share on this bucket (one of FINDINGS) is a finding: as settings say, or usual."""
    usual = FINDINGS[bucket].threshold
    return settings.VERDICT_SHARES.get(bucket.name.lower(), usual)


def _cost_words(part: BucketPart, currency: str) -> str:
    if part.micros is None:
        return f"{gpu_hours(part.unit_milliseconds)} GPU-hours without a price"
    return rounded_amount(part.micros, currency)


def _window_words(window: Window | None) -> str:
    """The window in the words of a sentence; empty where it is not of the present."""
    named = {"today": " today", "week": " this week", "month": " this month"}
    return named.get(window.text, "") if window else ""


def _verdict_of_part(
    part: BucketPart, causes: tuple[SaturatedResource, ...] | None, cost: str
) -> Bottleneck:
    sentence, share = FINDINGS[part.bucket], part.share or 0.0
    evidence = "".join(f"; {cause.words}" for cause in causes or ())
    return Bottleneck(
        bucket=part.bucket,
        name=sentence.name,
        share=share,
        micros=part.micros,
        unit_milliseconds=part.unit_milliseconds,
        words=f"{sentence.name}: {per_cent(share)} of GPU time {sentence.said}; {cost}{evidence}.",
        causes=causes or (),
        is_seen=causes is not None,
        asks_counters=part.bucket in MAY_CAUSE,
    )


def _summary_words(
    told_ratio: float | None, parts: Sequence[BucketPart], verdicts: Sequence[Bottleneck]
) -> str:
    if told_ratio is None:
        return "No GPU time was charged in this time."
    if told_ratio < LEAST_TOLD:
        untold = per_cent(1 - told_ratio)
        return f"Not reported: of {untold} of GPU time it is not known what it was spent on."
    if verdicts:
        return verdicts[0].words
    productive = next((part.share for part in parts if part.bucket is Bucket.PRODUCTIVE), None)
    return f"Nothing stands out: {per_cent(productive or 0.0)} of GPU time trains."
