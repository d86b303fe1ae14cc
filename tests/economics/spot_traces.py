"""Recorded availability made up for tests: square waves, coins with a memory, and a job on them."""

from collections.abc import Sequence

import numpy as np

from apps.economics.spot.hazards import zone_history
from apps.economics.spot.job import Indexes, SpotJob
from apps.economics.spot.offers import SpotOffers, spot_offers
from apps.economics.spot.replay import Decide, Replayed, replay, window_ticks
from apps.economics.spot.trace import SpotTrace

SQUARE_JOB = SpotJob(work=48, deadline=60, restart=0.2, on_demand=3.0, spot=1.0)
FROM_START = np.array([0])


def trace_of(counts: Sequence[float | bool], tick: float = 0.1, name: str = "zone") -> SpotTrace:
    return SpotTrace(name, tick, np.array(counts, np.float64))


def square_wave(ticks: int = 600) -> SpotTrace:
    """3 h up, 2 h down."""
    return trace_of([(tick // 10) % 5 < 3 for tick in range(ticks)])


def coin_trace(seed: int, ticks: int, tick: float = 0.1) -> SpotTrace:
    """Up and down, each ended by a coin of its own; the coins are drawn first."""
    draw = np.random.default_rng(seed)
    ending = draw.uniform(0.02, 0.6, 2)
    up, seen = True, []
    for _ in range(ticks):
        up = up ^ bool(draw.random() < ending[int(not up)])
        seen.append(up)
    return trace_of(seen, tick, f"coins {seed}")


def offers_of(*traces: SpotTrace) -> SpotOffers:
    return spot_offers(traces, [zone_history(trace) for trace in traces])


def run_once(job: SpotJob, trace: SpotTrace, decide: Decide) -> Replayed:
    return replay(job, offers_of(trace), FROM_START, decide)


def coin_windows(
    job: SpotJob, count: int, seed: int, tick: float = 0.1
) -> tuple[SpotTrace, Indexes]:
    """So many traces of coins as long as the job's deadline, one after the other, and where each begins."""
    ticks = window_ticks(job, tick)
    parts = [coin_trace(seed + place, ticks, tick).counts for place in range(count)]
    return trace_of(np.concatenate(parts), tick), np.arange(count) * ticks
