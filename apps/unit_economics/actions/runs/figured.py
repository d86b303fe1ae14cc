"""A run's figures, worked out of its days, its clock and what it told."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from apps.economics.gpu_catalogue import named_gpu
from apps.economics.money import sum_of_known
from apps.economics.run_figures import (
    ModelUse,
    Trained,
    cost_per,
    gpu_models,
    model_use,
    part_of,
)
from apps.economics.run_time import Bucket, coverage, goodput
from apps.unit_economics.models import RunFigures
from apps.unit_economics.queries.runs.sums import RunSum
from apps.workloads.queries.run_facts import SummaryFact
from apps.workloads.queries.run_totals import RunClock, RunTotals

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class RunInputs:
    """The facts that are known of a run besides its costs."""

    whole: RunTotals
    summary: SummaryFact | None
    clock: RunClock | None
    compute: "Compute | None" = None


@dataclass(frozen=True, slots=True)
class Compute:
    """The compute that a run on MIG slices held at most, in whole GPUs; None: which slices, is not known."""

    gpus: Fraction | None


def figures_of(run_id: int, facts: RunInputs, sums: Sequence[RunSum], at: datetime) -> RunFigures:
    """The run's figures as of `at`, all but its scaling, which is by other runs."""
    run = facts.whole
    return RunFigures(
        run_id=run_id,
        key=run.key,
        team_id=run.owner.team_id,
        workload_id=run.owner.workload_id,
        computed_at=at,
        **_life_figures(facts, at),
        **_cost_figures(sums),
        **_of_clock(facts.clock),
        **_training_figures(facts, sums),
        **_yield_figures(
            facts.summary, sum_of_known([run_sum.effective_micros for run_sum in sums])
        ),
    )


def _life_figures(facts: RunInputs, at: datetime) -> dict[str, Any]:
    summary, run = facts.summary, facts.whole
    began_at = (summary and summary.began_at) or run.began_at
    ended_at = summary.ended_at if summary and summary.began_at else run.ended_at
    wall = None if began_at is None else max(timedelta(0), (ended_at or at) - began_at)
    return {
        "status": summary.status if summary else "",
        "began_at": began_at,
        "ended_at": ended_at,
        "wall_seconds": None if wall is None else wall / timedelta(seconds=1),
        "gpus": summary.gpus if summary else None,
        "jobs": max(run.jobs, summary.jobs if summary else 0),
        "attempts": summary.attempts if summary else 0,
        "folded_at": summary.folded_at if summary else None,
    }


def _cost_figures(sums: Sequence[RunSum]) -> dict[str, Any]:
    of_bucket = {
        bucket: [run_sum for run_sum in sums if run_sum.bucket is bucket] for bucket in Bucket
    }
    micros = {
        b: sum_of_known([run_sum.effective_micros for run_sum in of]) for b, of in of_bucket.items()
    }
    times = {b: sum(run_sum.unit_milliseconds for run_sum in of) for b, of in of_bucket.items()}
    held_ms = sum(run_sum.held_milliseconds for run_sum in sums)
    models = gpu_models((run_sum.gpu_model, run_sum.unit_milliseconds) for run_sum in sums)
    return {
        "gpu_model": models[0] if models else "",
        "effective_micros": sum_of_known(list(micros.values())),
        "unpriced_milliseconds": sum(run_sum.unpriced_milliseconds for run_sum in sums),
        "unit_milliseconds": sum(times.values()),
        "energy_joules": sum_of_known(run_sum.energy_joules for run_sum in sums),
        "observed_ratio": part_of(sum(run_sum.observed_milliseconds for run_sum in sums), held_ms),
        "bucket_micros": list(micros.values()) if sums else [],
        "bucket_unit_ms": list(times.values()) if sums else [],
    }


def _of_clock(clock: RunClock | None) -> dict[str, Any]:
    spent = clock.bucket_ms if clock else {}
    reported_ms = sum(spent.values()) - spent.get(Bucket.UNTOLD, 0)
    return {
        "told_ratio": coverage(spent),
        "goodput_ratio": goodput(spent),
        "data_wait_ratio": part_of(spent.get(Bucket.DATA_WAIT, 0), reported_ms),
    }


def _training_figures(facts: RunInputs, sums: Sequence[RunSum]) -> dict[str, Any]:
    """Speed and MFU are of the time of its steps: waits between them show in goodput."""
    summary = facts.summary
    seconds = facts.clock.step_ms / 1_000 if facts.clock else None
    tokens = (summary and summary.tokens) or None
    models = gpu_models((run_sum.gpu_model, run_sum.unit_milliseconds) for run_sum in sums)
    use = _model_use(
        Trained(
            tokens=tokens,
            flops=summary.flops if summary else None,
            seconds=seconds,
            gpus=summary.gpus if summary else None,
            gpu_models=models,
            told=summary.model if summary else {},
        ),
        facts.compute,
    )
    worked = [run_sum for run_sum in sums if run_sum.tensor_observed_seconds]
    watched = sum(run_sum.tensor_observed_seconds or 0.0 for run_sum in worked)
    return {
        "tokens": tokens,
        "examples": (summary and summary.examples) or None,
        "tokens_per_second": tokens / seconds if tokens and seconds else None,
        "mfu_ratio": use.ratio,
        "mfu_doubt": use.doubt,
        "tensor_active_ratio": part_of(
            sum(run_sum.tensor_seconds or 0.0 for run_sum in worked), watched
        ),
    }


def _model_use(trained: Trained, compute: Compute | None) -> ModelUse:
    """Of MIG slices the compute that they come to, unless its pool is named by its slices."""
    is_named_by_slice = any(named_gpu(name).part < 1 for name in trained.gpu_models)
    if compute is None or is_named_by_slice:
        return model_use(trained)
    if compute.gpus is None:
        return ModelUse(None, "it ran on MIG slices, and what part of a GPU they are is not known")
    return model_use(replace(trained, gpus=float(compute.gpus)))


def _yield_figures(summary: SummaryFact | None, micros: int | None) -> dict[str, Any]:
    """A run is all its attempts, so what failed of it and what it recovered is in its cost."""
    if summary is None:
        return {}
    first_good = None
    if summary.first_good_at is not None and summary.submitted_at is not None:
        first_good = (summary.first_good_at - summary.submitted_at) / timedelta(seconds=1)
    return {
        "first_good_seconds": first_good,
        "good_checkpoints": summary.good_checkpoints,
        "checkpoint_micros": cost_per(micros, summary.good_checkpoints),
        "million_tokens_micros": cost_per(micros, summary.tokens, MILLION),
    }
