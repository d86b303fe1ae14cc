"""How often a run saves checkpoints, how often it should, and what the difference costs a week."""

from dataclasses import dataclass
from datetime import datetime

from apps.economics.checkpoints import Hazard
from apps.ledger.queries.windows import Window


@dataclass(frozen=True, slots=True)
class CheckpointAdvice:
    """All times in seconds; None is what was not measured.

    `write_seconds` is what a checkpoint holds training up, `cadence_seconds` the training between
    two, `best_seconds` the exact optimum and `young_seconds` √(2δM) beside it. `hazard` is failures
    in an hour of a GPU; `mtbf_seconds` of the whole run. `weekly_micros` is what a week costs today,
    `weekly_excess_micros` what of it today's cadence costs more than the best would. `words` is None
    unless the cadence is off by more than three times.
    """

    gpus: int | None
    saves: int
    write_seconds: float | None
    cadence_seconds: float | None
    best_seconds: float | None
    young_seconds: float | None
    failures: int
    exposed_gpu_hours: float
    hazard: Hazard | None
    mtbf_seconds: float | None
    restart_seconds: float | None
    weekly_micros: int | None
    weekly_excess_micros: int | None
    restored_at: datetime | None
    restored_step: int | None
    words: str | None


def checkpoint_advice_of_run(run_id: int, *, at: datetime) -> CheckpointAdvice:
    """Of a run, with the failures of all its workload's runs: one estimate for all of them."""
    raise NotImplementedError


def checkpoint_advice_of_workload(
    workload_id: int, *, window: Window, at: datetime
) -> CheckpointAdvice:
    """Of the runs of a workload in a window, as of its last one."""
    raise NotImplementedError
