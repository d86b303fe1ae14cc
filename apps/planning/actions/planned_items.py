"""Items of a what-if plan: added, changed, removed; the audit trail keeps what they were."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from django.db import transaction

from apps.accounts.actions.removal import delete_locked
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.planning.models import PlannedItem, WhatIfPlan
from apps.planning.queries.plan_items import (
    MOST_WEEKS,
    PRICE,
    LaunchWork,
    NewPlannedItem,
    TrainingWork,
    inputs_as_json,
    training_peak,
)
from apps.planning.queries.plans import PlanFact, plan_fact

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
LEAST_LOW, MOST_HIGH = 0.01, 10.0
LONGEST_NAME = 200


class PlannedWorkRefused(Refusal):
    """No such plan can be kept: says which field is wrong."""


def check_item(item: NewPlannedItem, gpu_model: str, at: datetime) -> None:
    """Refuse PlannedWorkRefused at the field that is wrong; a Refusal where the GPU has no known peak."""
    if not 0 < len(item.name.strip()) <= LONGEST_NAME:
        raise PlannedWorkRefused("name", "say what it is called")
    refuse_far_day("starts_on", item.starts_on, at)
    inputs = item.inputs
    if isinstance(inputs, TrainingWork):
        training_peak(gpu_model)
        _check_training(inputs)
    elif isinstance(inputs, LaunchWork):
        _check_launch(inputs)
    elif not 0 < inputs.factor <= MOST_FACTOR:
        raise PlannedWorkRefused("factor", f"a factor is above 0 and at most {MOST_FACTOR:.0f}")
    _check_spread(item)


def _check_spread(item: NewPlannedItem) -> None:
    if item.spread is None:
        return
    if not LEAST_LOW <= item.spread.low <= 1:
        raise PlannedWorkRefused("low", f"a low is from {LEAST_LOW} to 1, of what was entered")
    if not 1 <= item.spread.high <= MOST_HIGH:
        raise PlannedWorkRefused(
            "high", f"a high is from 1 to {MOST_HIGH:.0f}, of what was entered"
        )


def check_items_together(items: Sequence[NewPlannedItem]) -> None:
    """Refuse PlannedWorkRefused where a plan cannot hold all of these: too many, or of one name."""
    if len(items) > MOST_ITEMS:
        raise PlannedWorkRefused("name", f"a plan has at most {MOST_ITEMS} items")
    ((name, count),) = Counter(item.name.strip() for item in items).most_common(1) or [("", 0)]
    if count > 1:
        raise PlannedWorkRefused("name", f"the plan has an item called {name!r}")
    if sum(item.kind == PRICE for item in items) > MOST_PRICE_CHANGES:
        raise PlannedWorkRefused("factor", f"a plan has at most {MOST_PRICE_CHANGES} price changes")


def check_item_in(
    plan: PlanFact, item: NewPlannedItem, at: datetime, replaced: int | None = None
) -> None:
    """As `check_item` in a plan, with its others; `replaced` is the id of the one it takes the place of."""
    check_item(item, plan.gpu, at)
    check_items_together(
        [*(other.as_entered for other in plan.items if other.id != replaced), item]
    )


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
def add_planned_item(*, plan_id: int, item: NewPlannedItem, at: datetime) -> int:
    """Add one; its id. Refuses as `check_item_in`, and WhatIfPlan.DoesNotExist."""
    row, plan = _touched_plan(plan_id, at)
    check_item_in(plan, item, at)
    return PlannedItem.objects.create(plan=row, **item_columns(item)).pk


@logged_change()
@transaction.atomic
def change_planned_item(*, plan_id: int, item_id: int, item: NewPlannedItem, at: datetime) -> None:
    """Have it say this instead. Refuses as `check_item_in`, another kind, and DoesNotExist of plan and item."""
    row, plan = _touched_plan(plan_id, at)
    item_row = PlannedItem.objects.get(plan=row, pk=item_id)
    if item_row.kind != item.kind:
        raise PlannedWorkRefused("kind", f"it is a {item_row.get_kind_display()}, and stays one")
    check_item_in(plan, item, at, replaced=item_id)
    for name, value in item_columns(item).items():
        setattr(item_row, name, value)
    item_row.save()


@logged_change()
@transaction.atomic
def remove_planned_item(*, plan_id: int, item_id: int, at: datetime) -> None:
    """Take one out of its plan. Refuses DoesNotExist of plan and item."""
    row, _ = _touched_plan(plan_id, at)
    if not delete_locked(PlannedItem.objects.filter(plan=row, pk=item_id)):
        raise PlannedItem.DoesNotExist(f"there is no item {item_id} in plan {plan_id}")


def item_columns(item: NewPlannedItem) -> dict[str, Any]:
    """Return what is kept of an item, by column."""
    return {
        "kind": item.kind,
        "name": item.name.strip(),
        "starts_on": item.starts_on,
        "inputs": inputs_as_json(item.inputs),
        "low": item.spread and item.spread.low,
        "high": item.spread and item.spread.high,
    }


def refuse_far_day(field: str, day: date, at: datetime) -> None:
    """Refuse PlannedWorkRefused beyond FARTHEST."""
    if abs(day - at.date()) > FARTHEST:
        raise PlannedWorkRefused(field, "say a day within five years of today")


def _touched_plan(plan_id: int, at: datetime) -> tuple[WhatIfPlan, PlanFact]:
    row = WhatIfPlan.objects.select_for_update().get(pk=plan_id)
    row.changed_at = at
    row.save(update_fields=["changed_at"])
    return row, plan_fact(row)


def _refuse_amounts(amounts: dict[str, float]) -> None:
    for field, amount in amounts.items():
        if not LEAST_AMOUNT <= amount <= MOST_AMOUNT:
            raise PlannedWorkRefused(field, f"say {LEAST_AMOUNT} to {MOST_AMOUNT:.0e}")
