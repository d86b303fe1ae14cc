"""What-if plans: planned work on top of the forecast, priced, with the queue that it causes."""

from dataclasses import fields, replace
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.actions.audit import changes_by
from apps.accounts.actions.people import deactivate_person
from apps.accounts.queries.reading import reading_once
from apps.economics.refusal import Refusal
from apps.planning.actions import planned_items as items
from apps.planning.actions import plans as actions
from apps.planning.models import PlannedItem, WhatIfPlan
from apps.planning.queries.plan_items import LaunchWork, PriceChange, measured_mfu
from apps.planning.queries.plans import (
    PlanFact,
    PlanOutcome,
    plan_history,
    plan_of_id,
    plan_outcome,
    plans,
)
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
    return plan_outcome(plan_of_id(plan_id), AT)


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
