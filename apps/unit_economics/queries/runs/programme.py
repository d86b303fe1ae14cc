"""Results of a training programme for its money: versions, tokens, experiments, and the trend."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.economics.hours import first_hour
from apps.economics.money import sum_of_known
from apps.economics.run_time import Bucket, coverage, goodput, goodput_if_reported
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.windows import Window
from apps.unit_economics.models import RunFigures
from apps.unit_economics.queries.runs.spent import (
    FAILED,
    BucketSpent,
    first_began_at,
    micros_of,
    runs_of_window,
    spent_of_workload,
)
from apps.workloads.queries.requests import changes_of
from apps.workloads.queries.run_facts import retained_tokens

MODEL = "model"
DAYS_PER_WEEK, SECONDS_PER_DAY = 7, 86_400
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class ProgrammeRun:
    """The five numbers of one run; None where not known.

    `mfu_doubt` says why an MFU is not to be believed; `tensor_active_ratio` is shown under its own
    name where no MFU is known. `micros` is all that the run cost, also outside the window.
    """

    run_id: int
    key: str
    status: str
    began_at: datetime
    gpus: int | None
    micros: int | None
    tokens_per_second: float | None
    mfu_ratio: float | None
    mfu_doubt: str
    tensor_active_ratio: float | None
    scaling_ratio: float | None
    first_good_seconds: float | None
    checkpoint_micros: int | None


@dataclass(frozen=True, slots=True)
class Version:
    """A model version that was shipped, and the run that made it, where that was told."""

    name: str
    at: datetime
    run_id: int | None


@dataclass(frozen=True, slots=True)
class Programme:
    """A workload's runs in a window, failed ones among them.

    `micros` is all that its runs cost; `unpriced_milliseconds` of their GPU time has no price.
    `version_micros` is that for each version shipped (None: none was), `million_tokens_micros` for
    each million tokens that were trained and kept. `experiments_per_week` counts runs that began,
    in the part of the window since the organisation's first run, of `told_days` days.
    `goodput_ratio` is productive time of what was told of, None where that is not most of it; `told_ratio` says how much it is.
    `failed_micros` is what runs that failed and the failed attempts of others cost. `trend` is by
    when runs began.
    """

    workload_id: int
    micros: int | None
    unit_milliseconds: int
    unpriced_milliseconds: int
    energy_joules: float | None
    versions: tuple[Version, ...]
    version_micros: int | None
    tokens: int
    million_tokens_micros: int | None
    runs: int
    experiments_per_week: float | None
    told_days: float | None
    goodput_ratio: float | None
    told_ratio: float | None
    failed_runs: int
    failed_micros: int | None
    failed_share: float | None
    trend: tuple[ProgrammeRun, ...]


def programme(workload_id: int, *, window: Window, at: datetime) -> Programme:
    """The numbers of a workload's runs in a window, of which what lies after `at` is not counted."""
    runs = runs_of_window(workload_id, window)
    run_ids = [run.run_id for run in runs]
    of_failed, of_others = spent_of_workload(workload_id, window)
    spent = [*of_failed, *of_others]
    micros = micros_of(spent)
    versions = _versions_shipped(workload_id, window)
    tokens = retained_tokens(run_ids, window.starts_at, window.ends_at)
    failed = _failed_micros(of_failed, of_others)
    began = sum(1 for run in runs if run.began_at and run.began_at >= window.starts_at)
    told_days = _recorded_days(first_began_at(runs), window, at)
    by_bucket = dict.fromkeys(Bucket, 0)
    for of_other in spent:
        by_bucket[of_other.bucket] += of_other.unit_milliseconds
    return Programme(
        workload_id=workload_id,
        micros=micros,
        unit_milliseconds=sum(bucket_spent.unit_milliseconds for bucket_spent in spent),
        unpriced_milliseconds=sum(bucket_spent.unpriced_milliseconds for bucket_spent in spent),
        energy_joules=sum_of_known(bucket_spent.energy_joules for bucket_spent in spent),
        versions=versions,
        version_micros=_micros_per(micros, len(versions)),
        tokens=tokens,
        million_tokens_micros=_micros_per(micros, tokens / MILLION),
        runs=len(runs),
        experiments_per_week=began / told_days * DAYS_PER_WEEK if told_days else None,
        told_days=told_days,
        goodput_ratio=goodput_if_reported(goodput(by_bucket), coverage(by_bucket)),
        told_ratio=coverage(by_bucket),
        failed_runs=sum(run.status == FAILED for run in runs),
        failed_micros=failed,
        failed_share=failed / micros if micros and failed is not None else None,
        trend=_trend_of_runs(runs),
    )


def _versions_shipped(workload_id: int, window: Window) -> tuple[Version, ...]:
    changes = changes_of(workload_id, (window.starts_at, window.ends_at))
    return tuple(
        Version(change.name, change.at, change.run_id) for change in changes if change.kind == MODEL
    )


def _failed_micros(
    of_failed: Sequence[BucketSpent], of_others: Sequence[BucketSpent]
) -> int | None:
    """All of the runs that failed, and of the others what their failed attempts cost."""
    parts = [*of_failed, *(of_other for of_other in of_others if of_other.bucket is Bucket.FAILED)]
    if parts:
        return micros_of(parts)
    return None if micros_of(of_others) is None else 0


def _micros_per(micros: int | None, count: float) -> int | None:
    return None if micros is None or not count else round(micros / count)


def _recorded_days(first: datetime | None, window: Window, at: datetime) -> float | None:
    """Days of the window in which runs were known: from the local day of the first one, until now.

    A window that reaches back to before anybody told of runs is no measure of how often they begin.
    None where no such time is in it.
    """
    if first is None:
        return None
    since = max(window.starts_at, first_hour(local_day(first, window.zone), window.zone))
    seconds = (min(at, window.ends_at) - since).total_seconds()
    return seconds / SECONDS_PER_DAY if seconds > 0 else None


def _trend_of_runs(runs: Sequence[RunFigures]) -> tuple[ProgrammeRun, ...]:
    same = [name for name in ProgrammeRun.__slots__ if name != "micros"]
    return tuple(
        ProgrammeRun(**{name: getattr(run, name) for name in same}, micros=run.effective_micros)
        for run in reversed(runs)
        if run.began_at is not None
    )
