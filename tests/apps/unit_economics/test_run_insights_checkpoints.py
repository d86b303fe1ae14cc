"""How often a run should save its checkpoints is told where it is far off, with what that costs."""

from datetime import timedelta

import pytest

from apps.economics.run_time import Bucket
from apps.unit_economics.queries.runs.checkpoints import (
    checkpoint_advice_of_run,
    checkpoint_advice_of_workload,
)
from apps.workloads.models import Job, RunAttempt
from tests.apps.unit_economics.planted_runs import (
    HOUR,
    MICROS,
    MINUTE,
    TEN,
    WEEK,
    make_programme,
    plant_attempt,
    plant_day,
    plant_hour,
    plant_job,
    plant_restore,
    plant_run,
    plant_save,
    plant_steps,
)

pytestmark = pytest.mark.django_db
SECONDS_PER_HOUR = 3600


def plant_saving(
    key: str, workload_id: int | None, *, every: float, failures: int = 2, begins: int = 0
) -> int:
    """Eight hours of eight GPUs that saves for 5 min after `every` hours; so many attempts failed."""
    began_at = TEN + begins * HOUR
    run_id = plant_run(
        key,
        workload_id,
        gpus=8,
        began_at=began_at,
        ended_at=began_at + 8 * HOUR,
        wall_seconds=8 * 3600.0,
        effective_micros=800 * MICROS,
    )
    job_id = plant_day(run_id, {Bucket.PRODUCTIVE: 64})
    for count in range(8):
        plant_hour(run_id, job_id, {Bucket.PRODUCTIVE: 60}, began_at + count * HOUR)
    span = 8 * HOUR / (failures + 1)
    for part in range(failures + 1):
        attempt = plant_attempt(
            run_id,
            job_id=plant_job(f"{key} {part}", began_at),
            began_at=began_at + part * span,
            ended_at=began_at + (part + 1) * span,
            status="finished" if part == failures else "interrupted",
        )
    for count in range(int(8 / every)):
        plant_save(attempt, began_at + count * every * HOUR, 300.0)
    return run_id


def test_the_best_cadence_is_the_exact_one_of_the_worked_example() -> None:
    # Two failures in 64 GPU-hours of eight GPUs: one in four hours of the run; a save takes 5 min.
    run_id = plant_saving("steady", make_programme(), every=1)

    advice = checkpoint_advice_of_run(run_id)

    assert (advice.saves, advice.write_seconds, advice.cadence_seconds) == (8, 300.0, 3600.0)
    assert (advice.failures.count, advice.failures.exposed_gpu_hours) == (2, 64.0)
    assert advice.mtbf_seconds == 4 * SECONDS_PER_HOUR
    assert advice.best_seconds == pytest.approx(45.7147 * 60, abs=0.01)
    assert advice.young_seconds == pytest.approx(48.9898 * 60, abs=0.01)
    assert advice.words is None


def test_a_cadence_more_than_three_times_off_is_said_with_what_it_costs_a_week() -> None:
    run_id = plant_saving("rare", make_programme(), every=4)

    advice = checkpoint_advice_of_run(run_id)

    # $800 in eight hours are $16,800 a week; by the closed form 4 h between saves take
    # (e^((4 + 1/12)/4) − 1)/4 against (e^((τ* + 5 min)/4 h) − 1)/τ*: 0.444 against 0.309.
    assert advice.weekly_micros == 16_800 * MICROS
    assert advice.weekly_excess_micros is not None
    assert advice.weekly_excess_micros / MICROS == pytest.approx(5110, rel=0.02)
    assert advice.words is not None
    assert advice.words.startswith(
        "Saves checkpoints too rarely: every 4 h of training, where every 45 min 43 s is best; "
        "that costs $5,"
    )


def test_saving_far_too_often_is_said_even_where_nothing_failed_yet() -> None:
    workload_id = make_programme()
    often = plant_saving("often", workload_id, every=0.1, failures=0)
    advice = checkpoint_advice_of_run(often)
    assert advice.hazard is not None
    assert (advice.hazard.rate, advice.failures.count) == (None, 0)
    # Three failures in 64 GPU-hours are still likely: that is one in 2 h 40 min of eight GPUs.
    assert advice.mtbf_seconds == pytest.approx(64 / 3 / 8 * SECONDS_PER_HOUR)
    assert advice.words is not None
    assert advice.words.startswith("Saves checkpoints too often: every 6 min of training")


def test_that_a_run_saves_too_rarely_is_not_said_while_nothing_failed() -> None:
    rare = plant_saving("rare", make_programme(), every=8, failures=0)
    advice = checkpoint_advice_of_run(rare)
    assert advice.best_seconds is not None
    assert advice.cadence_seconds is not None
    assert advice.cadence_seconds > 3 * advice.best_seconds
    assert advice.words is None


def test_failures_of_the_whole_programme_are_one_estimate() -> None:
    workload_id = make_programme()
    run_id = plant_saving("calm", workload_id, every=1, failures=0)
    plant_saving("rough", workload_id, every=1, failures=7)
    plant_saving("of another", make_programme("other"), every=1, failures=7)

    failures = checkpoint_advice_of_run(run_id).failures

    assert (failures.count, failures.exposed_gpu_hours) == (7, 128.0)


@pytest.mark.parametrize(
    ("state", "count"), [("TIMEOUT", 0), ("CANCELLED", 0), ("NODE_FAIL", 2), ("PREEMPTED", 2)]
)
def test_limits_of_time_and_cancels_are_no_failures(state: str, count: int) -> None:
    workload_id = make_programme()
    run_id = plant_saving("rough", workload_id, every=1, failures=2)
    Job.objects.filter(raw_id__startswith="rough").update(state=state)
    assert checkpoint_advice_of_run(run_id).failures.count == count


def test_a_restart_within_a_job_that_was_cancelled_later_is_a_failure() -> None:
    run_id = plant_saving("rough", make_programme(), every=1, failures=2)
    first = Job.objects.get(raw_id="rough 0")
    RunAttempt.objects.filter(run_id=run_id).update(job=first, status="interrupted")
    Job.objects.filter(id=first.id).update(state="CANCELLED")
    assert checkpoint_advice_of_run(run_id).failures.count == 2


def test_a_run_without_saves_or_with_nothing_told_has_no_advice() -> None:
    workload_id = make_programme()
    silent = checkpoint_advice_of_run(plant_run("silent", workload_id))
    unknown = checkpoint_advice_of_run(10**6)
    assert (silent.saves, silent.best_seconds, silent.hazard, silent.words) == (0, None, None, None)
    assert (unknown.gpus, unknown.saves, unknown.words) == (None, 0, None)
    assert silent.restored_at is None


def test_a_workload_is_advised_by_its_last_run_that_saved_and_tells_the_last_restore() -> None:
    workload_id = make_programme()
    assert checkpoint_advice_of_workload(workload_id, window=WEEK).run_id is None
    saved = plant_saving("saved", workload_id, every=1)
    plant_saving("earlier", workload_id, every=2, begins=-24)
    plant_run("later, saved nothing", workload_id, began_at=TEN + HOUR)
    restored = plant_attempt(saved)
    plant_restore(restored, TEN + MINUTE)
    plant_steps(restored, [1.0], starts_at=TEN + 2 * MINUTE)
    plant_restore(plant_attempt(saved), TEN + 3 * MINUTE)

    advice = checkpoint_advice_of_workload(workload_id, window=WEEK)

    assert (advice.run_id, advice.restored_at) == (saved, TEN + MINUTE)
    assert advice.cadence_seconds == timedelta(hours=1).total_seconds()
