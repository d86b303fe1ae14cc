"""A slow rank is named with its host and its cost; one that is slow by chance is not."""

from datetime import timedelta

import pytest

from apps.economics.run_time import Bucket
from apps.unit_economics.queries.runs.stragglers import slow_ranks
from tests.apps.unit_economics.planted_runs import (
    HOUR,
    MICROS,
    TEN,
    WEEK,
    make_programme,
    plant_attempt,
    plant_day,
    plant_run,
    plant_steps,
)

pytestmark = pytest.mark.django_db
# The slowest of each step take 4.4 s together, the median ranks 3.075 s.
EXAMPLE = [(1, 1, 1), (1, 1.1, 1), (1, 1, 1.05), (1.5, 1.4, 1.5)]


def plant_ranks(run_id: int, times: dict[int, list[float]], host: str = "gpu-0{}") -> None:
    for rank, seconds in times.items():
        attempt = plant_attempt(run_id, rank=rank, world_size=len(times), host=host.format(rank))
        plant_steps(attempt, seconds)


def test_the_worked_example_wastes_30_per_cent_of_what_training_cost() -> None:
    run_id = plant_run("held up", make_programme())
    plant_day(run_id, {Bucket.PRODUCTIVE: 400, Bucket.COMMUNICATION: 144, Bucket.DATA_WAIT: 96})
    plant_ranks(run_id, {rank: list(times) for rank, times in enumerate(EXAMPLE)})

    found = slow_ranks(run_id)

    assert (found.ranks, found.steps) == (4, 3)
    assert found.factor == pytest.approx(1.4309, abs=5e-5)
    assert found.wasted == pytest.approx(0.3011, abs=5e-5)
    # Of 544 GPU-hours at $2.50 that trained: waiting for data is not the slow rank's.
    assert found.micros == pytest.approx(1360 * MICROS * 0.301136, rel=1e-5)
    assert found.unit_milliseconds == pytest.approx(544 * 3_600_000 * 0.301136, rel=1e-5)


def test_a_rank_that_stays_slow_is_named_with_its_host() -> None:
    run_id = plant_run("one slow", make_programme())
    plant_day(run_id, {Bucket.PRODUCTIVE: 100})
    times = {rank: [1 + rank / 1000] * 150 for rank in range(8)}
    times[5] = [1.3] * 150
    plant_ranks(run_id, times)

    found = slow_ranks(run_id)

    (slow,) = found.slow
    assert (slow.rank, slow.share, slow.hosts) == (5, 1.0, ("gpu-05",))
    assert (slow.median_seconds, slow.usual_seconds) == pytest.approx((1.3, 1.004), abs=1e-3)
    assert found.words == (
        "Rank 5 on gpu-05 holds every step up: 23\xa0% of training time, $57.02."
    )


def test_a_rank_that_did_not_say_where_it_ran_is_named_alone() -> None:
    run_id = plant_run("unhosted", make_programme())
    plant_ranks(run_id, {rank: [1.0 + rank / 100 + (rank == 3)] * 60 for rank in range(4)}, host="")
    found = slow_ranks(run_id)
    assert [each.hosts for each in found.slow] == [()]
    assert found.words == "Rank 3 holds every step up: 50\xa0% of training time."


def test_where_another_rank_is_slow_each_time_hardware_is_not_blamed() -> None:
    run_id = plant_run("taking turns", make_programme())
    plant_day(run_id, {Bucket.PRODUCTIVE: 100})
    times = {
        rank: [2.0 if step // 50 == rank else 1 + rank / 1000 for step in range(200)]
        for rank in range(4)
    }
    plant_ranks(run_id, times)

    found = slow_ranks(run_id)

    assert found.slow == ()
    assert found.words.startswith(
        "Waiting for the slowest rank takes 50\xa0% of training time, $125"
    )
    assert "another one each time" in found.words


def test_ranks_that_keep_step_waste_next_to_nothing() -> None:
    run_id = plant_run("even", make_programme())
    plant_ranks(run_id, {rank: [1.0] * 100 for rank in range(4)})
    assert slow_ranks(run_id).words == (
        "All ranks keep step: waiting for the slowest takes 0\xa0% of training time."
    )


def test_one_rank_alone_and_none_at_all_say_nothing() -> None:
    workload_id = make_programme()
    run_id = plant_run("alone", workload_id)
    plant_ranks(run_id, {0: [1.0, 2.0]})
    alone, silent = slow_ranks(run_id), slow_ranks(plant_run("silent", workload_id))
    assert (alone.ranks, alone.factor, alone.wasted, alone.micros) == (1, None, None, None)
    assert alone.words.startswith("Only one rank tells its steps")
    assert silent.words == "No rank reported its steps in this time."
    assert slow_ranks(run_id + 1000).words == silent.words


def test_steps_done_again_count_by_their_last_times_and_others_days_not_at_all() -> None:
    run_id = plant_run("restarted", make_programme(), ended_at=TEN + 24 * HOUR)
    for rank, seconds in enumerate((1.0, 1.0, 3.0)):
        first = plant_attempt(run_id, rank=rank)
        plant_steps(first, [seconds] * 3)
        again = plant_attempt(run_id, rank=rank, began_at=TEN + HOUR)
        plant_steps(again, [1.0] * 3, starts_at=TEN + HOUR)
        progress = plant_attempt(run_id, rank=rank, began_at=TEN + 2 * HOUR)
        plant_steps(progress, [9.0 * seconds] * 3, starts_at=WEEK.ends_at, first=7)

    found = slow_ranks(run_id, window=WEEK)

    assert (found.steps, found.factor) == (3, 1.0)
    assert found.looked_to == TEN + HOUR + timedelta(seconds=3)
