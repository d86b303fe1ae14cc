"""What-if plans are kept, changed and removed by finance and platform; nothing else follows from them."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db import transaction

from apps.accounts.actions.constraints import refusing
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.logs.changes import logged_change
from apps.planning.models import PlannedItem, WhatIfPlan
from apps.planning.queries.capacity_places import refuse_unknown_place
from apps.planning.queries.plan_items import (
    PRICE,
    LaunchWork,
    NewPlannedItem,
    TrainingWork,
    inputs_as_json,
    training_peak,
)

MOST_WEEKS = 104
MOST_ITEMS = 50
MOST_GPUS = 1_000_000
LEAST_AMOUNT, MOST_AMOUNT = 1e-6, 1e18
LEAST_MFU = 1e-3
FARTHEST = timedelta(days=5 * 366)
"""So far from the day on which it is entered a plan or an item may begin, before or after."""
MOST_WEEK_HOURS = 1e9
"""GPU-hours that a launch may ask for in a week: more than there are GPUs for."""
MOST_FACTOR = 10.0
MOST_PRICE_CHANGES = 5
LONGEST_NAME = 200


class WhatIfPlanExists(Exception):
    """Another plan has this name."""


class PlannedWorkRefused(Refusal):
    """No such plan can be kept: says which field is wrong."""


@dataclass(frozen=True, slots=True)
class NewPlan:
    """A plan in a pool or on the pools of a GPU model, over so many weeks from a local day, with its items."""

    name: str
    pool_id: int | None
    gpu_model: str
    first_day: date
    weeks: int
    growth_per_month: float = 0.0
    items: tuple[NewPlannedItem, ...] = ()


def check_plan(plan: NewPlan, at: datetime) -> None:
    """Refuse PlannedWorkRefused or PlaceNotKnown at the field that is wrong, and WhatIfPlanExists."""
    if not 0 < len(plan.name.strip()) <= LONGEST_NAME:
        raise PlannedWorkRefused("name", "say what it is called")
    refuse_unknown_place(plan.pool_id, plan.gpu_model)
    _refuse_far_day("first_day", plan.first_day, at)
    if not 1 <= plan.weeks <= MOST_WEEKS:
        raise PlannedWorkRefused("weeks", f"say 1 to {MOST_WEEKS} weeks")
    if not -0.5 <= plan.growth_per_month <= 1:
        raise PlannedWorkRefused("growth_per_month", "a month's growth is from -0.5 to 1")
    if WhatIfPlan.objects.filter(name=plan.name.strip()).exists():
        raise _plan_exists(plan)
    for item in plan.items:
        check_item(item, plan.gpu_model or fleet.pools()[plan.pool_id or 0].gpu_model, at)


def check_item(item: NewPlannedItem, gpu_model: str, at: datetime) -> None:
    """Refuse PlannedWorkRefused at the field that is wrong; a Refusal where the GPU has no known peak."""
    if not 0 < len(item.name.strip()) <= LONGEST_NAME:
        raise PlannedWorkRefused("name", "say what it is called")
    _refuse_far_day("starts_on", item.starts_on, at)
    inputs = item.inputs
    if isinstance(inputs, TrainingWork):
        training_peak(gpu_model)
        _check_training(inputs)
    elif isinstance(inputs, LaunchWork):
        _check_launch(inputs)
    elif not 0 < inputs.factor <= MOST_FACTOR:
        raise PlannedWorkRefused("factor", f"a factor is above 0 and at most {MOST_FACTOR:.0f}")


def _check_training(inputs: TrainingWork) -> None:
    if not 1 <= inputs.gpus <= MOST_GPUS:
        raise PlannedWorkRefused("gpus", f"say 1 to {MOST_GPUS:,} GPUs")
    if not LEAST_MFU <= inputs.mfu <= 1:
        raise PlannedWorkRefused("mfu", f"an MFU is from {LEAST_MFU} to 1")
    _refuse_amounts({"parameters": inputs.parameters, "tokens": inputs.tokens})


def _check_launch(inputs: LaunchWork) -> None:
    weeks = inputs.requests_by_week
    if not 0 < len(weeks) <= MOST_WEEKS:
        raise PlannedWorkRefused("requests_by_week", f"say 1 to {MOST_WEEKS} weeks of requests")
    if not all(0 <= requests <= MOST_AMOUNT for requests in weeks):
        raise PlannedWorkRefused("requests_by_week", "requests are 0 or more")
    _refuse_amounts(
        {
            "tokens_per_request": inputs.tokens_per_request,
            "tokens_per_gpu_hour": inputs.tokens_per_gpu_hour,
        }
    )
    if max(weeks) * inputs.tokens_per_request / inputs.tokens_per_gpu_hour > MOST_WEEK_HOURS:
        raise PlannedWorkRefused(
            "requests_by_week", f"these take more than {MOST_WEEK_HOURS:.0e} GPU-hours a week"
        )


@logged_change()
@transaction.atomic
def keep_plan(*, plan: NewPlan, by: int | None, at: datetime) -> int:
    """Keep it with its items; its id. Refuses as `check_plan`."""
    check_plan(plan, at)
    with refusing({"planning_whatifplan_name_key": _plan_exists(plan)}):
        row = WhatIfPlan.objects.create(
            name=plan.name.strip(),
            owner_id=by,
            pool_id=plan.pool_id,
            gpu_model=plan.gpu_model,
            first_day=plan.first_day,
            weeks=plan.weeks,
            growth_per_month=plan.growth_per_month,
            changed_at=at,
        )
    for item in plan.items:
        _keep_item(row, item)
    return row.pk


@logged_change()
@transaction.atomic
def add_planned_item(*, plan_id: int, item: NewPlannedItem, at: datetime) -> int:
    """Add one; its id. Refuses PlannedWorkRefused and a Refusal where the GPU has no known peak."""
    row = _touched_plan(plan_id, at)
    check_item(item, row.gpu_model or fleet.pools()[row.pool_id or 0].gpu_model, at)
    return _keep_item(row, item)


@logged_change()
@transaction.atomic
def remove_planned_item(*, plan_id: int, item_id: int, at: datetime) -> None:
    """Take one out of its plan."""
    row = _touched_plan(plan_id, at)
    PlannedItem.objects.get(plan=row, pk=item_id).delete()


@logged_change()
@transaction.atomic
def remove_plan(*, plan_id: int) -> None:
    """Forget a plan with its items."""
    WhatIfPlan.objects.get(pk=plan_id).delete()


def _plan_exists(plan: NewPlan) -> WhatIfPlanExists:
    return WhatIfPlanExists(f"there is a plan called {plan.name.strip()!r}")


def _touched_plan(plan_id: int, at: datetime) -> WhatIfPlan:
    row = WhatIfPlan.objects.select_for_update().get(pk=plan_id)
    row.changed_at = at
    row.save(update_fields=["changed_at"])
    return row


def _keep_item(row: WhatIfPlan, item: NewPlannedItem) -> int:
    if row.items.count() >= MOST_ITEMS:
        raise PlannedWorkRefused("name", f"a plan has at most {MOST_ITEMS} items")
    if row.items.filter(name=item.name.strip()).exists():
        raise PlannedWorkRefused("name", f"the plan has an item called {item.name.strip()!r}")
    changes = row.items.filter(kind=PRICE).count() if item.kind == PRICE else 0
    if changes >= MOST_PRICE_CHANGES:
        raise PlannedWorkRefused("factor", f"a plan has at most {MOST_PRICE_CHANGES} price changes")
    made = PlannedItem.objects.create(
        plan=row,
        kind=item.kind,
        name=item.name.strip(),
        starts_on=item.starts_on,
        inputs=inputs_as_json(item.inputs),
    )
    return made.pk


def _refuse_amounts(amounts: dict[str, float]) -> None:
    for field, amount in amounts.items():
        if not LEAST_AMOUNT <= amount <= MOST_AMOUNT:
            raise PlannedWorkRefused(field, f"say {LEAST_AMOUNT} to {MOST_AMOUNT:.0e}")


def _refuse_far_day(field: str, day: date, at: datetime) -> None:
    if abs(day - at.date()) > FARTHEST:
        raise PlannedWorkRefused(field, "say a day within five years of today")
