"""The five numbers of a run, with what is to be minded of each."""

from apps.show.amounts import gpu_hours, per_cent
from apps.unit_economics.queries.runs.values import RunFigure, RunNumber, RunRow

MOSTLY = 0.9
"""A run that tells of less than this part of its time says so beside what rests on it."""
NO_TOKENS = "the run reported no tokens"
NO_STEPS = "the run reported no steps"
NO_SCALE = "it takes a workload, tokens, steps and GPUs that are known"
NONE_PASSED = "no checkpoint has passed"
NO_SUBMISSION = "it is not known when it was submitted"
NO_PRICE = "nothing of it has a price"


def five_numbers(run: RunRow) -> tuple[RunNumber, ...]:
    """In the order of RunFigure."""
    return (
        RunNumber(RunFigure.TOKENS_PER_SECOND, run.tokens_per_second, _of_speed(run)),
        RunNumber(RunFigure.MFU, run.mfu_ratio, run.mfu_doubt),
        RunNumber(
            RunFigure.SCALING, run.scaling_ratio, NO_SCALE if run.scaling_ratio is None else ""
        ),
        RunNumber(RunFigure.FIRST_GOOD, run.first_good_seconds, _of_first_good(run)),
        RunNumber(RunFigure.CHECKPOINT_COST, run.checkpoint_micros, _of_cost(run)),
    )


def _of_speed(run: RunRow) -> str:
    if run.tokens is None:
        return NO_TOKENS
    if run.tokens_per_second is None:
        return NO_STEPS
    if run.told_ratio is not None and run.told_ratio < MOSTLY:
        return f"it reported {per_cent(run.told_ratio)} of its time"
    return ""


def _of_first_good(run: RunRow) -> str:
    if run.first_good_seconds is not None:
        return ""
    return NO_SUBMISSION if run.good_checkpoints else NONE_PASSED


def _of_cost(run: RunRow) -> str:
    if not run.good_checkpoints:
        return NONE_PASSED
    if run.checkpoint_micros is None:
        return NO_PRICE
    if run.unpriced_milliseconds:
        return f"{gpu_hours(run.unpriced_milliseconds)} GPU-hours have no price and are not in it"
    return ""
