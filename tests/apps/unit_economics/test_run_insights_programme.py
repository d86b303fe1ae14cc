"""What a programme brought for its money: failed runs are in it, and nothing is divided by nothing."""

from dataclasses import replace
from datetime import timedelta

import pytest

from apps.economics.run_time import Bucket
from apps.unit_economics.queries.runs.programme import programme
from apps.workloads.models import WorkloadChange
from tests.apps.unit_economics.planted_runs import (
    HOUR,
    MICROS,
    TEN,
    WEEK,
    make_programme,
    plant_day,
    plant_hour,
    plant_run,
)

pytestmark = pytest.mark.django_db
AFTER = WEEK.ends_at


def ship(workload_id: int, name: str, run_id: int | None = None, **given: object) -> None:
    values = {"kind": "model", "at": TEN + 5 * HOUR} | given
    WorkloadChange.objects.create(workload_id=workload_id, name=name, run_id=run_id, **values)


def test_four_versions_for_12000_and_1800_of_failed_runs_cost_3450_each() -> None:
    workload_id = make_programme()
    good = plant_run("good", workload_id)
    job_id = plant_day(good, {Bucket.PRODUCTIVE: 4800})
    plant_hour(good, job_id, {Bucket.PRODUCTIVE: 60}, tokens=6_000_000_000)
    plant_day(plant_run("bad", workload_id, status="failed"), {Bucket.FAILED: 720})
    for name in ("v1", "v2", "v3"):
        ship(workload_id, name)
    ship(workload_id, "v4", good)
    ship(workload_id, "a prompt", kind="prompt")
    ship(workload_id, "v0, before", at=WEEK.starts_at - HOUR)

    told = programme(workload_id, window=WEEK, at=AFTER)

    assert told.micros == 13_800 * MICROS
    assert told.version_micros == 3_450 * MICROS
    assert [each.name for each in told.versions] == ["v1", "v2", "v3", "v4"]
    assert told.versions[-1].run_id == good
    assert (told.tokens, told.million_tokens_micros) == (6_000_000_000, 2_300_000)
    assert (told.failed_runs, told.failed_micros) == (1, 1_800 * MICROS)
    assert told.failed_share == pytest.approx(1800 / 13_800)
    assert told.goodput_ratio == pytest.approx(4800 / 5520)
    assert (told.told_ratio, told.runs, told.experiments_per_week) == (1.0, 2, 2.0)


def test_what_an_attempt_that_failed_cost_is_failed_in_a_run_that_went_on() -> None:
    workload_id = make_programme()
    plant_day(plant_run("went on", workload_id), {Bucket.PRODUCTIVE: 60, Bucket.FAILED: 40})
    told = programme(workload_id, window=WEEK, at=AFTER)
    assert (told.failed_runs, told.failed_micros) == (0, 100 * MICROS)


def test_without_versions_tokens_or_prices_there_is_no_cost_of_one() -> None:
    workload_id = make_programme()
    nothing = programme(workload_id, window=WEEK, at=AFTER)
    assert (nothing.micros, nothing.version_micros, nothing.million_tokens_micros) == (None,) * 3
    assert (nothing.goodput_ratio, nothing.failed_micros, nothing.failed_share) == (None,) * 3
    assert (nothing.runs, nothing.experiments_per_week, nothing.trend) == (0, None, ())

    plant_day(plant_run("unpriced", workload_id), {Bucket.PRODUCTIVE: 10}, price=None)
    ship(workload_id, "v1")
    told = programme(workload_id, window=WEEK, at=AFTER)
    assert (told.micros, told.version_micros) == (None, None)
    assert told.unpriced_milliseconds == told.unit_milliseconds == 36_000_000


def test_a_week_that_is_under_way_counts_as_far_as_it_has_come() -> None:
    workload_id = make_programme()
    plant_run("first", workload_id)
    plant_run("begun before", workload_id, began_at=TEN - timedelta(days=7))
    half = WEEK.starts_at + timedelta(days=3.5)
    assert programme(workload_id, window=WEEK, at=half).experiments_per_week == 2.0
    ahead = programme(workload_id, window=WEEK, at=WEEK.starts_at)
    assert ahead.experiments_per_week is None


def test_experiments_a_week_are_of_the_time_in_which_runs_were_known() -> None:
    workload_id = make_programme()
    for count in range(8):
        plant_run(f"run {count}", workload_id, began_at=TEN + count * HOUR)
    quarter = replace(WEEK, first_day=WEEK.end_day - timedelta(days=90))
    told = programme(workload_id, window=quarter, at=AFTER)
    assert (told.experiments_per_week, told.told_days) == (8.0, 7.0)
    # Somebody else's runs were known all the time: then these are 8 in 90 days.
    plant_run("of another", make_programme("other"), began_at=quarter.starts_at)
    told = programme(workload_id, window=quarter, at=AFTER)
    assert told.experiments_per_week == pytest.approx(8 * 7 / 90)


def test_the_trend_is_by_when_runs_began_and_tells_what_is_not_known() -> None:
    workload_id = make_programme()
    plant_run("second", workload_id, began_at=TEN + HOUR, mfu_ratio=0.4, scaling_ratio=0.9)
    plant_run("first", workload_id, mfu_doubt="peak unknown", tensor_active_ratio=0.3)
    plant_run("of another", make_programme("other"))
    plant_run("too late", workload_id, began_at=WEEK.ends_at)

    trend = programme(workload_id, window=WEEK, at=AFTER).trend

    assert [each.key for each in trend] == ["first", "second"]
    assert (trend[0].mfu_ratio, trend[0].mfu_doubt, trend[0].tensor_active_ratio) == (
        None,
        "peak unknown",
        0.3,
    )
    assert (trend[1].mfu_ratio, trend[1].scaling_ratio) == (0.4, 0.9)
