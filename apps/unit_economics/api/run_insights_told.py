"""Bottlenecks, ranks, checkpoints, curves and programmes as they are answered."""

from dataclasses import asdict
from typing import Any

from apps.economics.hours import HOUR_MS
from apps.ledger.rest.answers import money_of
from apps.unit_economics.queries.runs.bottlenecks import BucketPart, Verdict, WhereTimeWent
from apps.unit_economics.queries.runs.checkpoints import CheckpointAdvice
from apps.unit_economics.queries.runs.curves import CurvePoint, Range, ScalingAnswer, ScalingRefusal
from apps.unit_economics.queries.runs.programme import Programme, ProgrammeRun
from apps.unit_economics.queries.runs.stragglers import Stragglers

Told = dict[str, Any]


def told_bottlenecks(found: WhereTimeWent, currency: str) -> Told:
    """Where time went."""
    return {
        "words": found.words,
        "cost": money_of(found.micros, currency),
        "gpu_hours": _hours(found.unit_milliseconds),
        "told_ratio": _ratio(found.told_ratio),
        "verdicts": [_verdict(each, currency) for each in found.verdicts],
        "buckets": [_bucket(each, currency) for each in found.parts],
    }


def told_stragglers(found: Stragglers, currency: str) -> Told:
    """Which rank is slow."""
    unit_ms = found.unit_milliseconds
    return {
        "words": found.words,
        "ranks": found.ranks,
        "steps": found.steps,
        "looked_from": found.looked_from,
        "looked_to": found.looked_to,
        "slowdown_factor": _ratio(found.factor),
        "wasted_ratio": _ratio(found.wasted),
        "wasted_cost": money_of(found.micros, currency),
        "wasted_gpu_hours": None if unit_ms is None else _hours(unit_ms),
        "slow_ranks": [
            {
                "rank": each.rank,
                "slow_ratio": _ratio(each.share),
                "median_seconds": each.median_seconds,
                "usual_seconds": each.usual_seconds,
                "hosts": list(each.hosts),
            }
            for each in found.slow
        ],
    }


def told_checkpoints(found: CheckpointAdvice, currency: str) -> Told:
    """How often a run saves, and should."""
    hazard = found.hazard
    return {
        "advice": found.words,
        "gpus": found.gpus,
        "saves": found.saves,
        "write_seconds": found.write_seconds,
        "cadence_seconds": found.cadence_seconds,
        "best_cadence_seconds": found.best_seconds,
        "young_cadence_seconds": found.young_seconds,
        "mtbf_seconds": found.mtbf_seconds,
        "hazard": {
            "failures": found.failures.count,
            "exposed_gpu_hours": found.failures.exposed_gpu_hours,
            "per_gpu_hour": None if hazard is None else hazard.rate,
            "low_per_gpu_hour": None if hazard is None else hazard.low,
            "high_per_gpu_hour": None if hazard is None else hazard.high,
        },
        "weekly_cost": money_of(found.weekly_micros, currency),
        "weekly_excess_cost": money_of(found.weekly_excess_micros, currency),
        "restore_tested_at": found.restored_at,
    }


def told_scaling(found: ScalingAnswer | ScalingRefusal, currency: str) -> Told:
    """The two curves, or why there are none."""
    runs = [
        {
            "id": each.run_id,
            "key": each.key,
            "gpus": each.gpus,
            "tokens_per_second": each.tokens_per_second,
        }
        for each in found.runs
    ]
    if isinstance(found, ScalingRefusal):
        return {"words": found.words, "answer": None, "runs": runs, "points": []}
    answer = {
        "from_gpus": found.gpus,
        "to_gpus": found.more,
        "speed_up": asdict(found.speed_up),
        "cost_multiplier": asdict(found.cost_multiplier),
        "version_tokens": found.version_tokens,
        "version_hours": _range(found.hours),
        "version_cost": _money_range(found.micros, currency),
        "peak_gpus": found.peak_gpus,
        "gpu_model": found.gpu_model,
        "model": found.model,
        "other_runs": found.others,
    }
    points = [_point(each, currency) for each in found.points]
    return {"words": found.words, "answer": answer, "runs": runs, "points": points}


def told_programme(found: Programme, currency: str) -> Told:
    """What a programme brought for its money."""
    return {
        "cost": money_of(found.micros, currency),
        "gpu_hours": _hours(found.unit_milliseconds),
        "unpriced_hours": _hours(found.unpriced_milliseconds),
        "energy_joules": found.energy_joules,
        "cost_per_version": money_of(found.version_micros, currency),
        "cost_per_million_tokens": money_of(found.million_tokens_micros, currency),
        "tokens": found.tokens,
        "runs": found.runs,
        "experiments_per_week": _ratio(found.experiments_per_week),
        "goodput_ratio": _ratio(found.goodput_ratio),
        "told_ratio": _ratio(found.told_ratio),
        "failed_runs": found.failed_runs,
        "failed_cost": money_of(found.failed_micros, currency),
        "failed_ratio": _ratio(found.failed_share),
        "versions": [
            {"name": each.name, "shipped_at": each.at, "run_id": each.run_id}
            for each in found.versions
        ],
        "trend": [_trend(each, currency) for each in found.trend],
    }


def _verdict(found: Verdict, currency: str) -> Told:
    return {
        "bucket": found.bucket.name.lower(),
        "name": found.name,
        "share_ratio": _ratio(found.share),
        "cost": money_of(found.micros, currency),
        "gpu_hours": _hours(found.unit_milliseconds),
        "words": found.words,
        "causes_looked_for": found.is_seen,
        "causes": [
            {"resource": str(each.resource), "ratio": _ratio(each.ratio), "words": each.words}
            for each in found.causes
        ],
    }


def _bucket(part: BucketPart, currency: str) -> Told:
    return {
        "bucket": part.bucket.name.lower(),
        "cost": money_of(part.micros, currency),
        "gpu_hours": _hours(part.unit_milliseconds),
        "unpriced_hours": _hours(part.unpriced_milliseconds),
        "share_ratio": _ratio(part.share),
    }


def _point(point: CurvePoint, currency: str) -> Told:
    return {
        "gpus": point.gpus,
        "tokens_per_second": asdict(point.tokens_per_second),
        "hours": _range(point.hours),
        "cost": _money_range(point.micros, currency),
    }


def _trend(run: ProgrammeRun, currency: str) -> Told:
    own = asdict(run)
    kept = ("status", "began_at", "gpus", "tokens_per_second", "mfu_ratio", "mfu_doubt")
    more = ("tensor_active_ratio", "scaling_ratio", "first_good_seconds")
    return {
        "run": {"id": run.run_id, "name": run.key},
        "cost": money_of(run.micros, currency),
        "checkpoint_cost": money_of(run.checkpoint_micros, currency),
        **{name: own[name] for name in (*kept, *more)},
    }


def _range(figure: Range | None) -> Told | None:
    return None if figure is None else asdict(figure)


def _money_range(figure: Range | None, currency: str) -> Told | None:
    if figure is None:
        return None
    bounds = {"value": figure.value, "low": figure.low, "high": figure.high}
    return {
        name: None if bound is None else money_of(round(bound), currency)
        for name, bound in bounds.items()
    }


def _hours(milliseconds: int) -> float:
    return round(milliseconds / HOUR_MS, 6)


def _ratio(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
