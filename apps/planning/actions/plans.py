"""Changes of what-if plans: kept, changed, copied and removed by finance and platform; the audit trail keeps what they were."""

from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.actions.constraints import refusing
from apps.accounts.actions.entered import replace
from apps.accounts.actions.removal import delete_locked
from apps.accounts.queries import managers
from apps.fleet import queries as fleet
from apps.logs.changes import logged_change
from apps.planning.actions.planned_items import (
    LONGEST_NAME,
    PlannedWorkRefused,
    check_item,
    check_items_together,
    item_columns,
    refuse_far_day,
)
from apps.planning.models import PlannedItem, WhatIfPlan
from apps.planning.queries.capacity_places import refuse_unknown_place
from apps.planning.queries.plan_items import MOST_WEEKS
from apps.planning.queries.plans import (
    EnteredPlan,
    PlanEdit,
    PlanFact,
    PlanTerms,
    plan_fact,
    terms_of,
)

LONGEST_DESCRIPTION = 2_000


class WhatIfPlanExists(Exception):
    """Another plan has this name."""


def check_plan(plan: EnteredPlan, at: datetime) -> None:
    """Refuse PlannedWorkRefused or PlaceNotKnown at the field that is wrong, and WhatIfPlanExists."""
    refuse_unknown_place(plan.pool_id, plan.gpu_model)
    _check_terms(plan, at, replaced=None)
    gpu_model = plan.gpu_model or fleet.pools()[plan.pool_id or 0].gpu_model
    for item in plan.items:
        check_item(item, gpu_model, at)
    check_items_together(plan.items)


def check_edit(plan: PlanFact, edit: PlanEdit, at: datetime) -> None:
    """Refuse PlannedWorkRefused at the field that is wrong, and WhatIfPlanExists."""
    _check_terms(edit, at, replaced=plan.id)
    if edit.owner_id != plan.owner_id and edit.owner_id not in managers():
        raise PlannedWorkRefused("owner", "say a person of finance or platform who may sign in")


def _check_terms(terms: PlanTerms, at: datetime, replaced: int | None) -> None:
    if not 0 < len(terms.name.strip()) <= LONGEST_NAME:
        raise PlannedWorkRefused("name", "say what it is called")
    if len(terms.description) > LONGEST_DESCRIPTION:
        raise PlannedWorkRefused("description", f"say it in {LONGEST_DESCRIPTION:,} characters")
    refuse_far_day("first_day", terms.first_day, at)
    if not 1 <= terms.weeks <= MOST_WEEKS:
        raise PlannedWorkRefused("weeks", f"say 1 to {MOST_WEEKS} weeks")
    if not -0.5 <= terms.growth_per_month <= 1:
        raise PlannedWorkRefused("growth_per_month", "a month's growth is from -0.5 to 1")
    same_name = WhatIfPlan.objects.filter(name=terms.name.strip()).values_list("pk", flat=True)
    if set(same_name) - {replaced}:
        raise _plan_exists(terms.name)


@logged_change()
@transaction.atomic
def keep_plan(*, plan: EnteredPlan, by: int | None, at: datetime) -> int:
    """Keep it with its items; its id. Refuses as `check_plan`."""
    check_plan(plan, at)
    with refusing({"planning_whatifplan_name_key": _plan_exists(plan.name)}):
        row = WhatIfPlan.objects.create(
            **_columns_of(plan),
            variant_of_id=plan.variant_of,
            owner_id=by,
            pool_id=plan.pool_id,
            gpu_model=plan.gpu_model,
            changed_at=at,
        )
    for item in plan.items:
        PlannedItem.objects.create(plan=row, **item_columns(item))
    return row.pk


@logged_change()
@transaction.atomic
def change_plan(*, plan_id: int, edit: PlanEdit, at: datetime) -> None:
    """Call it, own it and lay it out so; its items stay. Refuses as `check_edit`, and WhatIfPlan.DoesNotExist."""
    row = WhatIfPlan.objects.select_for_update().get(pk=plan_id)
    check_edit(plan_fact(row), edit, at)
    columns = _columns_of(edit) | {"owner_id": edit.owner_id, "changed_at": at}
    replace(row, columns, {"planning_whatifplan_name_key": _plan_exists(edit.name)})


def variant_of(plan: PlanFact, name: str, pool_id: int | None, gpu_model: str) -> EnteredPlan:
    """Return the plan under another name, there or elsewhere, with all that is planned in it."""
    return EnteredPlan(
        **terms_of(plan) | {"name": name},
        pool_id=pool_id,
        gpu_model=gpu_model,
        items=tuple(item.as_entered for item in plan.items),
        variant_of=plan.id,
    )


@logged_change()
@transaction.atomic
def remove_plan(*, plan_id: int) -> None:
    """Forget a plan with its items; the audit trail keeps what they were."""
    if not delete_locked(WhatIfPlan.objects.filter(pk=plan_id)):
        raise WhatIfPlan.DoesNotExist(f"there is no plan {plan_id}")


def _columns_of(terms: PlanTerms) -> dict[str, Any]:
    texts = {"name": terms.name.strip(), "description": terms.description.strip()}
    return terms_of(terms) | texts


def _plan_exists(name: str) -> WhatIfPlanExists:
    return WhatIfPlanExists(f"there is a plan called {name.strip()!r}")
