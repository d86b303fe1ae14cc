"""How often a run saves checkpoints, how often it should, and what the difference costs a week."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.accounts import queries as accounts
from apps.economics.checkpoints import (
    Hazard,
    best_cadence,
    cadence_excess,
    hazard,
    is_worth_saying,
    young,
)
from apps.ledger.queries.windows import Window
from apps.show.money import rounded_amount
from apps.show.time import duration
from apps.unit_economics.models import RunFigures
from apps.unit_economics.queries.runs.habits import MeasuredSaves, measured_saves
from apps.unit_economics.queries.runs.list import run_rows
from apps.unit_economics.queries.runs.page import usual_numbers
from apps.unit_economics.queries.runs.spent import runs_of_window
from apps.unit_economics.queries.runs.values import RunRow
from apps.workloads.queries.run_facts import clock_hours
from apps.workloads.queries.run_picture import run_record
from apps.workloads.queries.run_reports import (
    CheckpointSave,
    RunHistory,
    checkpoint_saves,
    history_of_runs,
)

SECONDS_PER_HOUR = 3600
SECONDS_PER_WEEK = 7 * 24 * SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True)
class Failures:
    """Interruptions of all runs of a workload, and the GPU-hours in which they could happen."""

    count: int
    exposed_gpu_hours: float

    @property
    def hazard(self) -> Hazard | None:
        """Failures in an hour of a GPU; None where nothing was exposed."""
        return hazard(self.count, self.exposed_gpu_hours) if self.exposed_gpu_hours > 0 else None


@dataclass(frozen=True, slots=True)
class CheckpointAdvice:
    """All times in seconds; None is what was not measured.

    `write_seconds` is what a checkpoint holds training up, `cadence_seconds` the training between
    two, `best_seconds` the exact optimum and `young_seconds` √(2δM) beside it. `hazard` is failures
    in an hour of a GPU; `mtbf_seconds` of the whole run, the least it can be where none failed yet.
    `weekly_micros` is what a week of the run costs, `weekly_excess_micros` what of it today's
    cadence costs more than the best would. `restored_at` is when a run of the workload last went on
    from a checkpoint. `words` is None unless the cadence is off by more than three times.
    """

    run_id: int | None
    gpus: int | None
    saves: int
    write_seconds: float | None
    cadence_seconds: float | None
    best_seconds: float | None
    young_seconds: float | None
    failures: Failures
    hazard: Hazard | None
    mtbf_seconds: float | None
    weekly_micros: int | None
    weekly_excess_micros: int | None
    restored_at: datetime | None
    words: str | None


def checkpoint_advice_of_run(run_id: int) -> CheckpointAdvice:
    """Of a run, with the failures of all its workload's runs: one estimate for all of them."""
    return _advice_for_run(run_id, run_rows([run_id]).get(run_id), run_record(run_id).saves)


def checkpoint_advice_of_workload(workload_id: int, *, window: Window) -> CheckpointAdvice:
    """Of the last run of a workload in a window that saved checkpoints, else of its last one."""
    runs = runs_of_window(workload_id, window)
    saved = checkpoint_saves([run.run_id for run in runs])
    chosen = next((run for run in runs if run.run_id in saved), next(iter(runs), None))
    run_id = None if chosen is None else chosen.run_id
    return _advice_for_run(run_id, chosen, saved.get(run_id or 0, []))


def failures_of(history: RunHistory) -> Failures:
    """Of the leading ranks' starts whose GPUs are known: those that ended as they should not have."""
    count, exposed = 0, 0.0
    for attempt in history.attempts:
        gpu_hours = attempt.gpu_hours
        if gpu_hours is not None:
            exposed += gpu_hours
            count += attempt.is_interrupted
    return Failures(count, exposed)


def _advice_for_run(
    run_id: int | None, run: RunFigures | RunRow | None, saves: Sequence[CheckpointSave]
) -> CheckpointAdvice:
    workload_id = None if run is None else run.workload_id
    history = history_of_runs(_runs_alike(run_id, workload_id))
    failures = failures_of(history)
    hours = clock_hours([run_id]) if run_id is not None and saves else []
    measured = measured_saves(saves, hours)
    gpus = None if run is None else run.gpus
    mtbf = _mtbf_seconds(failures.hazard, gpus)
    best = best_cadence(measured.write_seconds, mtbf) if measured.write_seconds and mtbf else None
    weekly = _weekly_micros(run)
    excess = None if weekly is None else _weekly_excess(measured, best, mtbf, weekly)
    return CheckpointAdvice(
        run_id=run_id,
        gpus=gpus,
        saves=measured.saves,
        write_seconds=measured.write_seconds,
        cadence_seconds=measured.cadence_seconds,
        best_seconds=best,
        young_seconds=young(measured.write_seconds, mtbf)
        if measured.write_seconds and mtbf
        else None,
        failures=failures,
        hazard=failures.hazard,
        mtbf_seconds=mtbf,
        weekly_micros=weekly,
        weekly_excess_micros=excess,
        restored_at=history.restored_at,
        words=_advice_words(measured.cadence_seconds, best, failures, excess),
    )


def _runs_alike(run_id: int | None, workload_id: int | None) -> list[int]:
    """The run and all others of its workload."""
    if workload_id is None:
        return [] if run_id is None else [run_id]
    return usual_numbers(workload_id, without=run_id or 0).run_ids


def _mtbf_seconds(failure_rate: Hazard | None, gpus: int | None) -> float | None:
    """Of the whole run; where nothing failed yet, by the highest rate that is still likely."""
    if failure_rate is None or not gpus:
        return None
    rate = failure_rate.high if failure_rate.rate is None else failure_rate.rate
    return SECONDS_PER_HOUR / (rate * gpus)


def _weekly_micros(run: RunFigures | RunRow | None) -> int | None:
    if run is None or run.effective_micros is None or not run.wall_seconds:
        return None
    return round(run.effective_micros / run.wall_seconds * SECONDS_PER_WEEK)


def _weekly_excess(
    measured: MeasuredSaves, best: float | None, mtbf: float | None, weekly: int
) -> int | None:
    """Return the part of a week's cost that goes beyond the best cadence's."""
    cadence, write = measured.cadence_seconds, measured.write_seconds
    if cadence is None or write is None or best is None or mtbf is None:
        return None
    return round(weekly * cadence_excess(cadence, write, mtbf))


def _advice_words(
    cadence: float | None, best: float | None, failures: Failures, excess: int | None
) -> str | None:
    if cadence is None or best is None or not is_worth_saying(cadence, best):
        return None
    if not failures.count and cadence > best:
        # Nothing failed yet: that it saves too rarely is not known.
        return None
    often = "rarely" if cadence > best else "often"
    cost = (
        ""
        if excess is None
        else f"; that costs {rounded_amount(excess, accounts.organisation().currency)} a week"
    )
    return (
        f"Saves checkpoints too {often}: every {_duration_words(cadence)} of training, "
        f"where every {_duration_words(best)} is best{cost}."
    )


def _duration_words(seconds: float) -> str:
    return duration(timedelta(seconds=round(seconds)))
