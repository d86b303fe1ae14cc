"""Forecasts of public series against the best baseline of each, and how long 500 series take."""

import os
import resource
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from math import exp, log
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any

import psutil

from apps.economics.forecast.backtest import ForecastScores, backtest
from apps.economics.forecast.names import RUNRATE
from apps.economics.forecast.rolling import rolled_forecasts
from apps.economics.forecast.scores import DAY, Floats
from bench.calibration import scaled
from bench.forecast_series import BenchSet, made_series, public_sets
from bench.forecast_totals import intermittent_sets, scored_totals
from bench.machine import ROOT

HORIZONS = (24, 168)
PROCESSES = 2
SERIES, DAYS = 500, 60
MOST_RATIO, MOST_RATIO_OF_SET = {24: 1.0, 168: 1.05}, 1.25
MOST_RATIO_OF_SPANS = {"week": 1.02, "month": 1.10}
COVERAGE = (0.72, 0.88)
MOST_SECONDS, MOST_MIB = 240, 1_536
WITHOUT_DATA = "no public series in {}: name their folder with --data; made ones were tried alone"


def run(*, data: Path | None = None) -> dict[str, Any]:
    """Ratios by set and horizon, their geometric means, coverage, totals of weeks and months, seconds and memory of 500 series.

    `best_baseline` is the least mean MASE of one baseline over the set's series and origins, picked in hindsight.
    `skipped` says where the public series are not there: made ones are then tried alone.
    """
    folder = data or ROOT.parent / "shared" / "data"
    figures: dict[str, Any] = {}
    sets = intermittent_sets()
    try:
        sets = public_sets(folder) | sets
    except FileNotFoundError:
        figures["skipped"] = WITHOUT_DATA.format(folder)
    with _processes() as pool:
        figures |= _scored_sets(sets, pool) | scored_totals(sets, pool) | _timed_series(pool)
    return figures | {"load": round(psutil.getloadavg()[0], 1), "misses": list(_misses(figures))}


@contextmanager
def _processes() -> Iterator[ProcessPoolExecutor]:
    """As many as a small installation's worker has, each of one thread."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        yield pool


def _scored_sets(sets: Mapping[str, BenchSet], pool: ProcessPoolExecutor) -> dict[str, Any]:
    asked = {
        (name, horizon): [
            pool.submit(backtest, series, bench_set.first, horizon) for series in bench_set.series
        ]
        for horizon in HORIZONS
        for name, bench_set in sets.items()
    }
    scores = {key: [future.result() for future in futures] for key, futures in asked.items()}
    found = {f"{name}_{horizon}h": _figures_of_set(of) for (name, horizon), of in scores.items()}
    answer: dict[str, Any] = {"sets": found}
    for horizon in HORIZONS:
        ratios = [of["ratio"] for name, of in found.items() if name.endswith(f"_{horizon}h")]
        of_horizon = [
            score for (_, ahead), of in scores.items() if ahead == horizon for score in of
        ]
        answer[f"ratio_{horizon}h"] = round(exp(fmean(map(log, ratios))), 3)
        answer[f"coverage_80_{horizon}h"] = _pooled_coverage(of_horizon)
    return answer


def _figures_of_set(scores: list[ForecastScores]) -> dict[str, Any]:
    mase = {method: fmean(score.mase[method] for score in scores) for method in scores[0].mase}
    ours = mase.pop(RUNRATE)
    baseline = min(mase, key=mase.__getitem__)
    return {
        "ours": round(ours, 3),
        "best_baseline": round(mase[baseline], 3),
        "ratio": round(ours / mase[baseline], 3),
        "baseline": baseline,
        "coverage_80": _pooled_coverage(scores),
        "origins": sum(score.origins for score in scores),
    }


def _pooled_coverage(scores: list[ForecastScores]) -> float:
    """Of all forecasts alike."""
    inside = sum(score.coverage_80 * score.origins for score in scores)
    return round(inside / sum(score.origins for score in scores), 3)


def _timed_series(pool: ProcessPoolExecutor) -> dict[str, Any]:
    """Candidates judged, mixed and forecast a week ahead, of made series, by both processes."""
    series = made_series(SERIES, DAYS)
    began = time.perf_counter()
    spent = list(pool.map(_forecast_one, series, chunksize=5))
    return {
        "seconds_500_series": round(time.perf_counter() - began, 1),
        "cpu_seconds_500_series": round(sum(seconds for seconds, _ in spent), 1),
        "peak_mib": round(max(peak for _, peak in spent)),
    }


def _forecast_one(values: Floats) -> tuple[float, float]:
    """Seconds of a processor that it took, and MiB that this process had at most by then."""
    began = time.process_time()
    rolled_forecasts(values, DAYS * DAY, 1, HORIZONS[-1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    return time.process_time() - began, peak


def _misses(figures: Mapping[str, Any]) -> Iterator[str]:
    """Each target that is not held, in words."""
    yield from _misses_of_errors(figures)
    yield from _misses_of_intervals(figures)
    for name, most in (("seconds_500_series", scaled(MOST_SECONDS)), ("peak_mib", MOST_MIB)):
        if figures[name] > most:
            yield f"{name}: {figures[name]}, over {most}"


def _misses_of_errors(figures: Mapping[str, Any]) -> Iterator[str]:
    for name, of_set in figures["sets"].items():
        if of_set["ratio"] > MOST_RATIO_OF_SET:
            yield f"{name}: {of_set['ratio']} times its best baseline"
    for horizon, most in MOST_RATIO.items():
        if figures[f"ratio_{horizon}h"] > most:
            yield f"{horizon} hours ahead: geometric mean {figures[f'ratio_{horizon}h']}, over {most}"
    for span, most in MOST_RATIO_OF_SPANS.items():
        if figures[f"{span}_ratio"] > most:
            yield f"totals of {span}s: geometric mean {figures[f'{span}_ratio']}, over {most}"


def _misses_of_intervals(figures: Mapping[str, Any]) -> Iterator[str]:
    for name in ("coverage_80_24h", "coverage_80_168h", "week_coverage_80", "month_coverage_80"):
        if not COVERAGE[0] <= figures[name] <= COVERAGE[1]:
            yield f"{name}: {figures[name]}"
    if figures["hours_surely_nothing"]:
        yield f"{figures['hours_surely_nothing']} hours surely nothing where a quarter of weeks had demand"
