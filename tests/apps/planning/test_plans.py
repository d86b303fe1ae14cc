"""What-if plans: planned work on top of the forecast, priced, with the queue that it causes."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.queries.reading import reading_once
from apps.economics.refusal import Refusal
from apps.planning.actions import plans as actions
from apps.planning.models import PlannedItem, WhatIfPlan
from apps.planning.queries.plan_items import LaunchWork, PriceChange, measured_mfu
from apps.planning.queries.plans import PlanOutcome, plan_of_id, plan_outcome, plans
from tests import make
from tests.apps.ledger import scene
from tests.apps.planning.plan_scene import (
    AT,
    FIRST_DAY,
    cheaper,
    forecast_by_day,
    forecast_by_hour,
    launch,
    planned,
    reserved_pool,
    training,
)
from tests.apps.unit_economics import run_scene

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def outcome_of(plan_id: int) -> PlanOutcome:
    plan = plan_of_id(plan_id)
    assert plan is not None
    return plan_outcome(plan, AT)


def test_planned_work_is_added_to_the_forecast_priced_and_queued() -> None:
    pool_id = reserved_pool()
    outcome = outcome_of(planned(pool_id, training(), launch(), cheaper()))
    assert outcome.by_item["chat"] == (100, 200, 200, 200)
    assert outcome.by_item["pretrain"] == pytest.approx((0, 1344, 0, 0))
    # Four GPUs are 672 GPU-hours a week; two weeks of them are forecast, then the level goes on.
    assert [(week.expected, week.forecast_share) for week in outcome.weeks] == [
        (672, 1), (672, 1), (672, 0), (672, 0),
    ]  # fmt: skip
    assert [week.total for week in outcome.weeks] == pytest.approx([772, 2216, 872, 872])
    queue = [week.queue for week in outcome.weeks if week.queue is not None]
    assert outcome.committed_hours == 1344
    assert [week.backlog for week in queue] == pytest.approx([0, 872, 400, 0])
    assert outcome.longest_wait == pytest.approx(109)
    # Two dollars a GPU-hour, one from the third week on.
    assert [week.total_micros for week in outcome.weeks] == pytest.approx(
        [1544e6, 4432e6, 872e6, 872e6], abs=2
    )
    assert outcome.planned_micros == pytest.approx(200e6 + 3088e6 + 400e6, abs=2)
    assert [(month.month, month.total_micros) for month in outcome.months] == [
        (date(2026, 3, 1), pytest.approx(1544e6 + 4432e6 + 872e6 + 2 / 7 * 872e6, abs=3)),
        (date(2026, 4, 1), pytest.approx(5 / 7 * 872e6, abs=3)),
    ]


def test_without_a_forecast_or_a_price_the_whole_is_unknown_and_not_nothing() -> None:
    pool_id = reserved_pool(expected=None)
    outcome = outcome_of(planned(pool_id, launch()))
    assert {(week.expected, week.total, week.queue) for week in outcome.weeks} == {
        (None, None, None)
    }
    assert (outcome.total_micros, outcome.longest_wait) == (None, None)
    assert outcome.planned_micros == 1400e6
    forecast_by_hour(pool_id, 4.0, method="last_value")
    assert outcome_of(planned(pool_id, name="too early")).longest_wait is None
    nowhere = outcome_of(planned(0, launch(), name="b200", pool_id=None, gpu_model="B200"))
    assert (nowhere.planned, nowhere.planned_micros, nowhere.committed_gpus) == (700, None, 0)


def test_the_forecast_by_the_day_is_taken_where_there_is_one() -> None:
    pool_id = reserved_pool()
    forecast_by_day(pool_id, 6.0)
    weeks = outcome_of(planned(pool_id)).weeks
    assert [(week.expected, week.forecast_share) for week in weeks] == [
        (1008, 1), (1008, 1), (1008, 1), (1008, 0),
    ]  # fmt: skip


def test_of_a_place_all_plans_are_read_together() -> None:
    pool_id = reserved_pool()
    counts = []
    for number in range(4):
        planned(pool_id, launch(), name=f"plan {number}")
        with CaptureQueriesContext(connection) as made, reading_once():
            assert [plan_outcome(each, AT).planned for each in plans()] == [700] * (number + 1)
        counts.append(len(made))
    assert len({*counts}) == 1, counts


def test_an_empty_plan_is_the_forecast() -> None:
    outcome = outcome_of(planned(reserved_pool(), growth_per_month=0.5))
    assert (outcome.planned, outcome.planned_micros, outcome.longest_wait) == (0, 0, 0)
    assert outcome.weeks[1].total == 672
    assert outcome.weeks[3].total is not None
    assert outcome.weeks[3].total > outcome.weeks[2].total > 672


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": " "}, "name"),
        ({"weeks": 0}, "weeks"),
        ({"first_day": date(1, 1, 1)}, "first_day"),
        ({"items": (replace(launch(), starts_on=date(9999, 12, 31)),)}, "starts_on"),
        ({"items": (training(tokens=float("inf")),)}, "tokens"),
        ({"growth_per_month": 2.0}, "growth_per_month"),
        ({"gpu_model": "B200"}, "pool"),
        ({"pool_id": None, "gpu_model": "abacus"}, "gpu_model"),
        ({"items": (training(mfu=1.5),)}, "mfu"),
        ({"items": (training(gpus=0),)}, "gpus"),
        ({"items": (training(tokens=0),)}, "tokens"),
        ({"items": (replace(launch(), inputs=LaunchWork((), 1, 1)),)}, "requests_by_week"),
        ({"items": (replace(launch(), inputs=LaunchWork((-1,), 1, 1)),)}, "requests_by_week"),
        ({"items": (replace(launch(), inputs=LaunchWork((1,), 1, 0)),)}, "tokens_per_gpu_hour"),
        ({"items": (replace(launch(), inputs=LaunchWork((1e18,), 1, 1)),)}, "requests_by_week"),
        ({"items": (replace(launch(), inputs=PriceChange(0)),)}, "factor"),
        ({"items": tuple(replace(cheaper(), name=str(each)) for each in range(6))}, "factor"),
        ({"items": (launch(), launch())}, "name"),
    ],
)
def test_what_cannot_be_planned_is_refused_at_its_field(given, field) -> None:
    with pytest.raises(Refusal) as refused:
        planned(reserved_pool(expected=None), **given)
    assert refused.value.field == field
    assert not PlannedItem.objects.exists()


def test_a_peak_is_never_invented() -> None:
    pool_id = make.make_pool(gpu_model="Abacus 9000")
    with pytest.raises(Refusal, match="Abacus 9000 is not a GPU model that Runrate knows"):
        planned(pool_id, training())


def test_items_come_and_go_and_a_plan_has_one_name() -> None:
    pool_id = reserved_pool(expected=None)
    plan_id = planned(pool_id)
    later = AT + timedelta(hours=1)
    item_id = actions.add_planned_item(plan_id=plan_id, item=launch(), at=later)
    (plan,) = plans()
    assert ([item.id for item in plan.items], plan.changed_at) == ([item_id], later)
    with pytest.raises(actions.WhatIfPlanExists):
        planned(pool_id)
    actions.remove_planned_item(plan_id=plan_id, item_id=item_id, at=later)
    assert not PlannedItem.objects.exists()
    actions.remove_plan(plan_id=plan_id)
    assert not WhatIfPlan.objects.exists()


def test_the_mfu_of_a_run_is_that_which_was_measured() -> None:
    job_id = scene.make_job("1", scene.make_priced_node())
    run_scene.make_run("llama", (job_id, scene.TEN, scene.TEN + scene.HOUR))
    for run in ("llama", "nobody"):
        with pytest.raises(Refusal, match="has a measured MFU"):
            measured_mfu(run)
    assert FIRST_DAY.isoweekday() == 1
