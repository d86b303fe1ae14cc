"""The slow rank of a run, where it ran, and what waiting for it costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from apps.accounts import queries as accounts
from apps.economics.run_time import Bucket
from apps.economics.step_times import Slowness, slowness, stragglers
from apps.ledger.queries.windows import Window
from apps.show.amounts import counted, per_cent
from apps.show.money import rounded_amount
from apps.show.words import joined
from apps.unit_economics.queries.runs.list import run_rows
from apps.unit_economics.queries.runs.spent import (
    BucketSpent,
    micros_of,
    spent_of_run,
)
from apps.workloads.queries.run_reports import RankWindow, last_step_times

MOST_WINDOWS = 5_000
"""Of a larger run a shorter time is looked at, its last."""
WINDOW_SECONDS = 10
LEAST_SECONDS = 600
MOST_TOLD_TIMES = 256
"""A report has the times of so many steps of its window, the first ones."""
WORTH_SAYING = 0.05
UNTOLD = "No rank reported its steps in this time."
STEPPING = frozenset({Bucket.PRODUCTIVE, Bucket.COMMUNICATION})
MS_PER_SECOND = 1000


@dataclass(frozen=True, slots=True)
class SlowRank:
    """A rank that is slow in most windows of 50 steps: in `share` of them.

    `hosts` are where it said it ran, one after the other; empty where it did not say.
    """

    rank: int
    share: float
    median_seconds: float
    usual_seconds: float
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stragglers:
    """The effect on a run of waiting for the slowest rank, from its last steps.

    `factor` is slowest ÷ median time of all steps, `wasted` the share of training time lost to it;
    both None where fewer than two ranks told of a step. `micros` and `unit_milliseconds` are that
    share of what the run's training and communication cost.
    """

    run_id: int
    ranks: int
    steps: int
    looked_from: datetime | None
    looked_to: datetime | None
    factor: float | None
    wasted: float | None
    micros: int | None
    unit_milliseconds: int | None
    slow: tuple[SlowRank, ...]
    words: str


def slow_ranks(run_id: int, *, window: Window | None = None) -> Stragglers:
    """Of a run's step times by rank; of all of it where no window is given.

    S = Σ slowest ÷ Σ median, waste 1 − 1/S; a rank is slow by a robust z over 3.5 in 60 % or more of
    the windows of 50 steps.
    """
    windows = _reported_windows(run_id, window)
    by_rank = _seconds_by_step(windows)
    steps = [step for step in by_rank.values() if len(step) > 1]
    rank_slowness = slowness([list(step.values()) for step in steps])
    slow = _slow_ranks(steps, windows)
    spent = [
        bucket_spent
        for bucket_spent in spent_of_run(run_id, window)
        if bucket_spent.bucket in STEPPING
    ]
    micros, unit_ms = _wasted_cost(rank_slowness, spent)
    return Stragglers(
        run_id=run_id,
        ranks=len({rank_window.rank for rank_window in windows}),
        steps=len(steps),
        looked_from=min((rank_window.starts_at for rank_window in windows), default=None),
        looked_to=max((rank_window.ends_at for rank_window in windows), default=None),
        factor=None if rank_slowness is None else rank_slowness.factor,
        wasted=None if rank_slowness is None else rank_slowness.wasted,
        micros=micros,
        unit_milliseconds=unit_ms,
        slow=slow,
        words=_waiting_words(rank_slowness, slow, micros) if windows else UNTOLD,
    )


def _reported_windows(run_id: int, window: Window | None) -> list[RankWindow]:
    """Return what ranks told last, of as long as can be looked at while somebody waits."""
    run = run_rows([run_id]).get(run_id)
    if run is None or run.began_at is None:
        return []
    starts_at, before = run.began_at, run.ended_at or run.computed_at
    if window is not None:
        starts_at, before = max(starts_at, window.starts_at), min(before, window.ends_at)
    seconds = max(LEAST_SECONDS, MOST_WINDOWS * WINDOW_SECONDS / max(1, run.gpus or 1))
    return last_step_times(run_id, starts_at, before, seconds)


def _seconds_by_step(windows: Sequence[RankWindow]) -> dict[int, dict[int, float]]:
    """Seconds by step and rank; of a step that was done again, its last times."""
    steps: dict[int, dict[int, float]] = {}
    for window in windows:
        # Times of which it is not known which step each is of are left aside.
        if window.first_step is None or len(window.step_times_ms) not in {
            window.steps,
            MOST_TOLD_TIMES,
        }:
            continue
        for place, milliseconds in enumerate(window.step_times_ms):
            step = steps.setdefault(window.first_step + place, {})
            step[window.rank] = milliseconds / MS_PER_SECOND
    return dict(sorted(steps.items()))


def _slow_ranks(
    steps: Sequence[Mapping[int, float]], windows: Sequence[RankWindow]
) -> tuple[SlowRank, ...]:
    shares = stragglers(steps)
    if not shares:
        return ()
    usual = median([seconds for step in steps for seconds in step.values()])
    hosts = {rank: dict.fromkeys(_hosts_of_rank(windows, rank)) for rank in shares}
    return tuple(
        SlowRank(
            rank=rank,
            share=share,
            median_seconds=median([step[rank] for step in steps if rank in step]),
            usual_seconds=usual,
            hosts=tuple(hosts[rank]),
        )
        for rank, share in shares.items()
    )


def _hosts_of_rank(windows: Sequence[RankWindow], rank: int) -> list[str]:
    return [window.host for window in windows if window.rank == rank and window.host]


def _wasted_cost(
    rank_slowness: Slowness | None, spent: Sequence[BucketSpent]
) -> tuple[int | None, int | None]:
    if rank_slowness is None:
        return None, None
    micros = micros_of(spent)
    unit_ms = sum(bucket_spent.unit_milliseconds for bucket_spent in spent)
    return None if micros is None else round(micros * rank_slowness.wasted), round(
        unit_ms * rank_slowness.wasted
    )


def _waiting_words(
    rank_slowness: Slowness | None, slow: Sequence[SlowRank], micros: int | None
) -> str:
    if rank_slowness is None:
        return (
            "Only one rank tells its steps: begin the run with per_rank=True to see which is slow."
        )
    cost = "" if micros is None else f", {rounded_amount(micros, accounts.organisation().currency)}"
    lost = f"{per_cent(rank_slowness.wasted)} of training time{cost}"
    if slow:
        named = joined([_rank_words(rank) for rank in slow[:3]])
        more = f" and {counted(len(slow) - 3, 'more rank')}" if len(slow) > 3 else ""
        return f"{named}{more} holds every step up: {lost}."
    if rank_slowness.wasted >= WORTH_SAYING:
        return (
            f"Waiting for the slowest rank takes {lost}, and it is another one each time: look at "
            "the data and at garbage collection before the hardware."
        )
    return f"All ranks keep step: waiting for the slowest takes {lost}."


def _rank_words(slow: SlowRank) -> str:
    where = f" on {joined(slow.hosts)}" if slow.hosts else ""
    return f"Rank {slow.rank}{where}"
