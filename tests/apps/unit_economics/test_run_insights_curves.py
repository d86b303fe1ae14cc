"""What more GPUs would bring is told from a workload's own runs, or refused in words."""

from datetime import timedelta
from typing import Any

import pytest

from apps.economics.scaling import ScalingLaw
from apps.unit_economics.queries.runs.curves import ScalingAnswer, ScalingRefusal, scaling_of
from tests.apps.unit_economics.planted_runs import MARCH, MICROS, TEN, make_programme, plant_run

pytestmark = pytest.mark.django_db
LAW = ScalingLaw(speed=1e5, contention=2 / 1.8 - 1, coherence=0.0, largest=64)
"""By it two GPUs are 1.8 times as fast as one."""
TOKENS = 36 * 10**9


def plant_size(workload_id: int, gpus: int, by: float = 1.0, days: int = 0, **given: Any) -> int:
    """A run of so many GPUs that trained at the law's rate (times `by`) and paid $2 a GPU-hour."""
    rate = given.pop("law", LAW).rate(gpus) * by
    gpu_seconds = TOKENS / rate * gpus
    figures = {
        "gpus": gpus,
        "tokens": TOKENS,
        "tokens_per_second": rate,
        "unit_milliseconds": round(gpu_seconds * 1000),
        "effective_micros": round(gpu_seconds / 3600 * 2 * MICROS),
        "began_at": TEN + timedelta(days=days),
        "ended_at": TEN + timedelta(days=days + 1),
    } | given
    return plant_run(f"run {gpus} {by} {days}", workload_id, **figures)


def test_twice_the_gpus_are_1_8_times_as_fast_and_cost_a_ninth_more() -> None:
    workload_id = make_programme()
    for days, gpus in enumerate((4, 2, 1)):
        plant_size(workload_id, gpus, days=days)

    answer = scaling_of(workload_id, window=MARCH)

    assert isinstance(answer, ScalingAnswer)
    assert (answer.gpus, answer.more) == (1, 2)
    assert answer.speed_up.value == pytest.approx(1.8)
    assert answer.cost_multiplier.value == pytest.approx(1.1111, abs=5e-5)
    # 36 G tokens at 100,000 a second are 100 hours of one GPU: $200, and $222.22 on two.
    assert answer.hours_now is not None
    assert answer.hours_now.value == pytest.approx(100)
    assert answer.micros_now is not None
    assert answer.micros_now.value == pytest.approx(200 * MICROS)
    assert answer.micros is not None
    assert answer.micros.value == pytest.approx(222.2222 * MICROS, rel=1e-5)
    assert answer.words == (
        "2.00\xa0× GPUs (1 → 2): 1.80\xa0× as fast, costs 1.11\xa0× as much; "
        "a model version then costs $222."
    )


def test_the_range_is_of_the_runs_drawn_anew_and_holds_the_answer() -> None:
    workload_id = make_programme()
    for days, gpus in enumerate((8, 16, 32, 64)):
        for by in (0.93, 1.0, 1.07):
            plant_size(workload_id, gpus, by, days)

    answer = scaling_of(workload_id, window=MARCH, gpus=100)

    assert isinstance(answer, ScalingAnswer)
    assert answer.micros is not None
    assert answer.micros.low is not None
    assert answer.micros.high is not None
    assert answer.micros.low < answer.micros.value < answer.micros.high
    assert answer.words.endswith(").")
    assert len(answer.runs) == 12
    shown = [point.gpus for point in answer.points]
    assert (shown[0], shown[-1]) == (8, 128)
    assert {8, 16, 32, 64, 100} <= set(shown)
    hours = [point.hours.value for point in answer.points if point.hours]
    assert hours == sorted(hours, reverse=True)


def test_what_runs_paid_beside_their_steps_is_in_a_versions_cost() -> None:
    workload_id = make_programme()
    for days, gpus in enumerate((4, 2, 1)):
        twice = round(2 * TOKENS / LAW.rate(gpus) * gpus * 1000)
        cost = round(twice / 3_600_000 * 2 * MICROS)
        plant_size(workload_id, gpus, days=days, unit_milliseconds=twice, effective_micros=cost)

    answer = scaling_of(workload_id, window=MARCH)

    assert isinstance(answer, ScalingAnswer)
    assert answer.hours_now is not None
    assert answer.hours_now.value == pytest.approx(200)
    assert answer.micros_now is not None
    assert answer.micros_now.value == pytest.approx(400 * MICROS)


def test_runs_of_another_model_or_gpu_are_left_out_and_counted() -> None:
    workload_id = make_programme()
    for days, gpus in enumerate((4, 2, 1)):
        plant_size(workload_id, gpus, days=days)
    plant_size(workload_id, 8, 0.1, 0, model={"active_parameters": 70e9})
    plant_size(workload_id, 8, 3.0, 0, gpu_model="B200")
    plant_run("tells nothing", workload_id)

    answer = scaling_of(workload_id, window=MARCH)

    assert isinstance(answer, ScalingAnswer)
    assert answer.speed_up.value == pytest.approx(1.8)
    assert [run.gpus for run in answer.runs] == [1, 2, 4]
    assert (answer.others, answer.model, answer.gpu_model) == (2, "7.00B parameters", "H100 SXM")


def test_two_sizes_are_too_few_and_a_question_far_beyond_is_refused() -> None:
    workload_id = make_programme()
    assert scaling_of(workload_id, window=MARCH) == ScalingRefusal(
        workload_id, "No run of this time reported how many tokens it trained.", ()
    )
    for days, gpus in enumerate((4, 2)):
        plant_size(workload_id, gpus, days=days)
    few = scaling_of(workload_id, window=MARCH)
    assert isinstance(few, ScalingRefusal)
    assert few.words == (
        "Runs on 3 different numbers of GPUs are needed to say what more would bring; "
        "runs like run 2 1.0 1 were on 2 numbers: 2 and 4."
    )
    plant_size(workload_id, 8)

    far = scaling_of(workload_id, window=MARCH, gpus=17)

    assert isinstance(far, ScalingRefusal)
    assert far.words.startswith("17 GPUs are over twice the largest run seen, 8")
    assert isinstance(scaling_of(workload_id, window=MARCH, gpus=16), ScalingAnswer)


def test_without_a_finished_run_or_a_price_no_cost_is_told() -> None:
    workload_id = make_programme()
    for days, gpus in enumerate((4, 2, 1)):
        plant_size(workload_id, gpus, days=days, status="failed")
    failed = scaling_of(workload_id, window=MARCH)
    assert isinstance(failed, ScalingAnswer)
    assert (failed.version_tokens, failed.hours, failed.micros) == (None, None, None)

    other = make_programme("unpriced")
    for days, gpus in enumerate((4, 2, 1)):
        plant_size(other, gpus, 1.0, days + 10, effective_micros=None)
    unpriced = scaling_of(other, window=MARCH)
    assert isinstance(unpriced, ScalingAnswer)
    assert unpriced.hours is not None
    assert unpriced.micros is None
    assert unpriced.words.endswith("as much.")


def test_the_worked_example_of_the_law_is_found_again_in_its_runs() -> None:
    workload_id = make_programme()
    # σ 0.02 and κ 10⁻⁴ make 64 GPUs 1.2911 times as fast as 32, and 99 the most of use;
    # what $3.4384 buy on 32 of them costs $5.3264 on 64, and $10.3312 on 128.
    law = ScalingLaw(speed=1e5, contention=0.02, coherence=1e-4, largest=128)
    for days, gpus in enumerate((128, 64, 16, 32)):
        plant_size(workload_id, gpus, days=days, law=law)

    answer = scaling_of(workload_id, window=MARCH)

    assert isinstance(answer, ScalingAnswer)
    assert (answer.gpus, answer.more) == (32, 64)
    assert answer.speed_up.value == pytest.approx(1.2911, abs=5e-5)
    assert answer.cost_multiplier.value == pytest.approx(5.3264 / 3.4384, abs=5e-5)
    assert answer.peak_gpus == pytest.approx(98.99, abs=5e-3)
    cost = {each.gpus: each.micros.value for each in answer.points if each.micros}
    assert cost[128] / cost[32] == pytest.approx(10.3312 / 3.4384, abs=5e-5)
