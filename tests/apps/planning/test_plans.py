"""What-if plans: planned work on top of the forecast, priced, with the queue that it causes."""

from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.actions.audit import changes_by
from apps.accounts.actions.people import deactivate_person
from apps.accounts.models import Organisation
from apps.accounts.queries.reading import reading_once
from apps.economics.forecast.names import SCENARIOS
from apps.economics.planned_work import PlanBand, WorkSpread
from apps.economics.refusal import Refusal
from apps.planning.actions import planned_items as items
from apps.planning.actions import plans as actions
from apps.planning.models import PlannedItem, WhatIfPlan
from apps.planning.queries.plan_items import LaunchWork, PriceChange, measured_mfu
from apps.planning.queries.plan_outcomes import PlanOutcome, plan_outcome
from apps.planning.queries.plans import PlanFact, plan_history, plan_of_id, plans
from tests import make
from tests.apps.ledger import scene
from tests.apps.planning.plan_scene import (
    AT,
    FIRST_DAY,
    TWO_TO_TWELVE,
    cheaper,
    forecast_by_day,
    forecast_by_hour,
    forecast_by_scenarios,
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


@pytest.fixture
def berlin() -> None:
    Organisation.objects.update(zone="Europe/Berlin")


def outcome_of(plan_id: int) -> PlanOutcome:
    return plan_outcome(plan_of_id(plan_id), AT)


def likely(bands: Iterable[PlanBand | None]) -> list[float | None]:
    return [None if band is None else band.likely for band in bands]


def test_planned_work_is_added_to_the_forecast_priced_and_queued() -> None:
    pool_id = reserved_pool()
    outcome = outcome_of(planned(pool_id, training(), launch(), cheaper()))
    weeks, whole = outcome.weeks, outcome.whole
    assert outcome.by_item["chat"].likely == pytest.approx(700)
    assert outcome.by_item["pretrain"].likely == pytest.approx(1344)
    assert likely(week.planned for week in weeks) == pytest.approx([100, 1544, 200, 200])
    # Four GPUs are 672 GPU-hours a week; two weeks of them are forecast, then the level goes on.
    assert likely(week.expected for week in weeks) == pytest.approx([672] * 4)
    assert [week.forecast_share for week in weeks] == [1, 1, 0, 0]
    assert likely(week.total for week in weeks) == pytest.approx([772, 2216, 872, 872])
    assert [week.capacity for week in weeks] == [1344] * 4
    assert likely(week.above for week in weeks) == pytest.approx([0, 872, 0, 0])
    assert likely(week.waiting for week in weeks) == pytest.approx([0, 872, 400, 0])
    assert outcome.longest_wait == PlanBand(None, pytest.approx(109), None)
    # Two dollars a GPU-hour, one from the third week on.
    assert likely(week.total_cost for week in weeks) == pytest.approx(
        [1544e6, 4432e6, 872e6, 872e6]
    )
    assert likely([whole.planned_cost]) == pytest.approx([200e6 + 3088e6 + 400e6])
    assert [month.first_day for month in outcome.months] == [FIRST_DAY, date(2026, 4, 1)]
    assert likely(month.total_cost for month in outcome.months) == pytest.approx(
        [1544e6 + 4432e6 + 872e6 + 2 / 7 * 872e6, 5 / 7 * 872e6]
    )
    assert likely(month.waiting for month in outcome.months) == pytest.approx(
        [265 + 1 / 7, 0], abs=1
    )
    assert not outcome.has_band


def test_without_a_forecast_or_a_price_the_whole_is_unknown_and_not_nothing() -> None:
    pool_id = reserved_pool(expected=None)
    outcome = outcome_of(planned(pool_id, launch()))
    for span in (*outcome.weeks, *outcome.months, outcome.whole):
        assert {span.expected, span.total, span.above, span.waiting, span.total_cost} == {None}
    assert (outcome.longest_wait, outcome.queue_chance) == (None, None)
    assert likely([outcome.whole.planned_cost]) == pytest.approx([1400e6])
    forecast_by_hour(pool_id, 4.0, method="last_value")
    assert outcome_of(planned(pool_id, name="too early")).longest_wait is None
    nowhere = outcome_of(planned(0, launch(), name="b200", pool_id=None, gpu_model="B200"))
    assert likely([nowhere.whole.planned]) == pytest.approx([700])
    assert (nowhere.whole.planned_cost, nowhere.place.committed_gpus) == (None, 0)


def test_the_forecast_by_the_day_is_taken_where_there_is_one() -> None:
    pool_id = reserved_pool()
    forecast_by_day(pool_id, 6.0)
    weeks = outcome_of(planned(pool_id)).weeks
    assert likely(week.expected for week in weeks) == pytest.approx([1008] * 4)
    assert [week.forecast_share for week in weeks] == [1, 1, 1, 0]


def test_the_mean_of_a_week_that_stands_in_for_a_forecast_is_nothing_to_plan_by() -> None:
    pool_id = reserved_pool(expected=None)
    forecast_by_day(pool_id, 6.0, method="last_week")
    assert outcome_of(planned(pool_id)).whole.expected is None
    forecast_by_hour(pool_id, 4.0)
    assert likely([outcome_of(planned(pool_id, name="by hour")).weeks[0].expected]) == [672]


def test_a_plan_has_the_band_of_the_scenarios_below_it() -> None:
    pool_id = reserved_pool(expected=None)
    # Of 2 to 12 GPUs; eight are reserved, and a training holds eight for a week.
    forecast_by_scenarios(pool_id, TWO_TO_TWELVE)
    outcome = outcome_of(planned(pool_id, training()))
    first, second = outcome.weeks[0], outcome.weeks[1]
    assert first.expected == PlanBand(*(pytest.approx(gpus * 168) for gpus in (3, 7, 11)))
    assert second.total == PlanBand(*(pytest.approx((gpus + 8) * 168) for gpus in (3, 7, 11)))
    assert second.planned == PlanBand(None, pytest.approx(1344), None)
    # Nobody waits in the first week below eight GPUs: two scenarios of five are above.
    assert first.waiting == PlanBand(0, 0, pytest.approx(3 * 168))
    assert outcome.queue_chance == 1
    assert outcome.has_band
    cost, hours = outcome.whole.total_cost, outcome.whole.total
    assert cost is not None
    assert hours is not None
    assert cost.high == pytest.approx(2e6 * (hours.high or 0)), "two dollars a GPU-hour"


def test_the_chance_of_a_queue_is_the_share_of_scenarios_with_one() -> None:
    pool_id = reserved_pool(expected=None)
    forecast_by_scenarios(pool_id, [6.0] * 7 + [10.0] * 3)
    assert outcome_of(planned(pool_id)).queue_chance == pytest.approx(0.3)


def test_the_low_and_the_high_of_an_item_widen_what_is_planned_and_what_it_costs() -> None:
    pool_id = reserved_pool(expected=None)
    forecast_by_scenarios(pool_id, [4.0] * SCENARIOS)
    wide = replace(launch(), spread=WorkSpread(0.5, 3))
    outcome = outcome_of(planned(pool_id, wide))
    assert outcome.by_item["chat"] == PlanBand(
        pytest.approx(350, rel=0.02), pytest.approx(700, rel=0.02), pytest.approx(2100, rel=0.02)
    )
    assert outcome.whole.total == PlanBand(
        *(pytest.approx(2688 + hours, rel=0.02) for hours in (350, 700, 2100))
    )
    dearer = replace(cheaper(), spread=WorkSpread(0.5, 2))
    cost = outcome_of(planned(pool_id, launch(), dearer, name="price")).weeks[3].total_cost
    assert cost == PlanBand(*(pytest.approx(872e6 * share, rel=0.02) for share in (0.5, 1, 2)))


def test_without_scenarios_of_the_forecast_the_work_alone_makes_no_band_of_the_whole() -> None:
    pool_id = reserved_pool()
    outcome = outcome_of(planned(pool_id, replace(launch(), spread=WorkSpread(0.5, 3))))
    assert outcome.whole.planned.high == pytest.approx(2100, rel=0.02)
    assert outcome.whole.total == PlanBand(None, pytest.approx(2688 + 700, rel=0.01), None)


@pytest.mark.usefixtures("berlin")
def test_days_on_which_clocks_are_turned_have_their_real_hours() -> None:
    pool_id = reserved_pool(expected=None)
    # 29 March 2026 has 23 hours in Berlin: the week from the 23rd has 167.
    eight = training(tokens=8 * 167 * 3600 * 989.4e12 * 0.4 / 6 / 7e9)
    week = replace(eight, starts_on=date(2026, 3, 23))
    outcome = outcome_of(planned(pool_id, week))
    assert likely(each.planned for each in outcome.weeks) == pytest.approx([0, 0, 1336, 0])
    assert [each.capacity for each in outcome.weeks] == [1344, 1344, 1336, 1344]


@pytest.mark.usefixtures("berlin")
def test_a_day_of_a_forecast_by_the_hour_is_the_sum_of_its_real_hours() -> None:
    pool_id = reserved_pool()
    # From one in the morning of the 9th, in Berlin: the 10th is its first whole day, the 22nd its last.
    outcome = outcome_of(planned(pool_id))
    assert (outcome.place.first_day, outcome.place.end_day) == (
        date(2026, 3, 10),
        date(2026, 3, 23),
    )
    assert outcome.weeks[0].forecast_share == pytest.approx(6 / 7)


def test_of_a_place_all_plans_are_read_together() -> None:
    pool_id = reserved_pool()
    counts = []
    for number in range(4):
        planned(pool_id, launch(), name=f"plan {number}")
        with CaptureQueriesContext(connection) as made, reading_once():
            all_planned = likely(plan_outcome(each, AT).whole.planned for each in plans())
        assert all_planned == pytest.approx([700] * (number + 1))
        counts.append(len(made))
    assert len({*counts}) == 1, counts


def test_an_empty_plan_is_the_forecast() -> None:
    outcome = outcome_of(planned(reserved_pool(), growth_per_month=0.5))
    assert likely([outcome.whole.planned, outcome.whole.planned_cost]) == [0, 0]
    assert likely([outcome.longest_wait]) == [0]
    _, second, third, fourth = likely(week.total for week in outcome.weeks)
    assert second == 672
    assert 672 < (third or 0) < (fourth or 0)


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
        ({"items": (replace(launch(), spread=WorkSpread(0, 2)),)}, "low"),
        ({"items": (replace(launch(), spread=WorkSpread(1.1, 2)),)}, "low"),
        ({"items": (replace(launch(), spread=WorkSpread(0.5, 0.9)),)}, "high"),
        ({"items": (replace(launch(), spread=WorkSpread(0.5, float("nan"))),)}, "high"),
        ({"growth_per_month": float("nan")}, "growth_per_month"),
        ({"description": "x" * 2001}, "description"),
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


def test_items_come_change_and_go_and_a_plan_has_one_name() -> None:
    pool_id = reserved_pool(expected=None)
    plan_id = planned(pool_id)
    later = AT + timedelta(hours=1)
    item_id = items.add_planned_item(plan_id=plan_id, item=launch(), at=later)
    longer = replace(launch(), name="chat, later", starts_on=FIRST_DAY + timedelta(days=7))
    items.change_planned_item(plan_id=plan_id, item_id=item_id, item=longer, at=later)
    plan = plan_of_id(plan_id)
    assert [(item.id, item.as_entered) for item in plan.items] == [(item_id, longer)]
    assert plan.changed_at == later
    with pytest.raises(actions.WhatIfPlanExists):
        planned(pool_id)
    items.remove_planned_item(plan_id=plan_id, item_id=item_id, at=later)
    assert not PlannedItem.objects.exists()
    actions.remove_plan(plan_id=plan_id)
    assert not WhatIfPlan.objects.exists()


def test_an_item_stays_of_its_kind_and_in_its_plan() -> None:
    pool_id = reserved_pool(expected=None)
    plan_id, other_id = planned(pool_id, launch(), cheaper()), planned(pool_id, name="other")
    item_id = PlannedItem.objects.get(name="chat").id
    for refused, item in (("kind", training()), ("name", replace(launch(), name="renewal"))):
        with pytest.raises(Refusal) as refusal:
            items.change_planned_item(plan_id=plan_id, item_id=item_id, item=item, at=AT)
        assert refusal.value.field == refused
    with pytest.raises(PlannedItem.DoesNotExist):
        items.change_planned_item(plan_id=other_id, item_id=item_id, item=launch(), at=AT)
    assert plan_of_id(plan_id).items[0].as_entered == launch()


def edit_of(plan: PlanFact, **given: Any) -> actions.PlanEdit:
    values = {field.name: getattr(plan, field.name) for field in fields(actions.PlanEdit)}
    return actions.PlanEdit(**values | given)


def test_a_plan_is_renamed_described_laid_out_anew_and_handed_over() -> None:
    plan_id = planned(reserved_pool(expected=None), launch())
    finn = make.make_person("finn@example.com", name="Finn", role="finance")
    edit = edit_of(
        plan_of_id(plan_id), name=" autumn ", description="Later.", owner_id=finn, weeks=2, growth_per_month=0.1
    )  # fmt: skip
    actions.change_plan(plan_id=plan_id, edit=edit, at=AT)
    plan = plan_of_id(plan_id)
    assert (plan.name, plan.description, plan.owner, plan.weeks) == ("autumn", "Later.", "Finn", 2)
    assert [item.as_entered for item in plan.items] == [launch()], "what is planned stays"
    actions.change_plan(plan_id=plan_id, edit=edit_of(plan), at=AT)
    assert plan_of_id(plan_id).owner == "Finn", "a name that it has already is no other's"


def test_nobody_owns_a_plan_who_cannot_see_it() -> None:
    plan_id = planned(reserved_pool(expected=None))
    gone = make.make_person("gone@example.com", role="finance")
    deactivate_person(person_id=gone)
    lead = make.make_person("dee@example.com", role="lead")
    for person_id in (gone, lead, 10**9):
        edit = edit_of(plan_of_id(plan_id), owner_id=person_id)
        with pytest.raises(Refusal) as refused:
            actions.change_plan(plan_id=plan_id, edit=edit, at=AT)
        assert refused.value.field == "owner"
    assert plan_of_id(plan_id).owner == "a token"


def test_a_variant_is_the_same_work_and_leaves_its_plan_alone() -> None:
    pool_id = reserved_pool(expected=None)
    plan_id = planned(pool_id, training(), launch(), cheaper(), description="The quarter.")
    plan = plan_of_id(plan_id)
    wider = make.make_pool("h200", gpu_model="H200")
    copy_id = actions.keep_plan(
        plan=actions.variant_of(plan, "spring on h200", wider, ""), by=None, at=AT
    )
    copied = plan_of_id(copy_id)
    assert (copied.variant_of, copied.pool, copied.description) == (plan_id, "h200", "The quarter.")
    assert [item.as_entered for item in copied.items] == [item.as_entered for item in plan.items]
    items.remove_planned_item(plan_id=copy_id, item_id=copied.items[0].id, at=AT)
    assert plan_of_id(plan_id) == plan
    actions.remove_plan(plan_id=plan_id)
    assert plan_of_id(copy_id).variant_of is None


def test_the_history_of_a_plan_is_its_own_and_of_what_is_planned_in_it() -> None:
    pool_id = reserved_pool(expected=None)
    plan_id, _ = planned(pool_id, launch()), planned(pool_id, cheaper(), name="another")
    ada = make.make_person("ada@example.com", name="Ada", role="platform")
    item_id = PlannedItem.objects.get(name="chat").id
    slower = replace(launch(), inputs=LaunchWork((1e6, 2e6), 1e3, 5e6))
    with changes_by(person=ada):
        items.change_planned_item(plan_id=plan_id, item_id=item_id, item=slower, at=AT)
        actions.change_plan(
            plan_id=plan_id, edit=edit_of(plan_of_id(plan_id), name="summer"), at=AT
        )
        items.remove_planned_item(plan_id=plan_id, item_id=item_id, at=AT)
    history = plan_history(plan_id)
    # All in one transaction of the test, and so of one moment: by what they are of.
    assert sorted((each.who, each.verb, each.kind, each.name) for each in history) == [
        ("Ada", "changed", "planned work", "chat"),
        ("Ada", "changed", "what-if plan", "summer"),
        ("Ada", "removed", "planned work", "chat"),
        ("nobody named", "added", "planned work", "chat"),
        ("nobody named", "added", "what-if plan", "spring"),
    ]
    moved = {
        (field.name, field.old, field.new)
        for each in history
        if each.verb == "changed"
        for field in each.fields
    }
    assert moved == {
        ("tokens per gpu hour", "10000000.0", "5000000.0"),
        ("name", "spring", "summer"),
    }


def test_the_mfu_of_a_run_is_that_which_was_measured() -> None:
    job_id = scene.make_job("1", scene.make_priced_node())
    run_scene.make_run("llama", (job_id, scene.TEN, scene.TEN + scene.HOUR))
    for run in ("llama", "nobody"):
        with pytest.raises(Refusal, match="has a measured MFU"):
            measured_mfu(run)
    assert FIRST_DAY.isoweekday() == 1
