"""Reading of what-if plans as they were entered, and of what was changed of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated, Any

from apps.accounts.queries import person_names, trail
from apps.accounts.queries.facts import field_names
from apps.accounts.queries.trail import TrailChange
from apps.economics.planned_work import WorkSpread
from apps.fleet import queries as fleet
from apps.planning.models import PlannedItem, WhatIfPlan
from apps.planning.queries.plan_items import (
    MOST_WEEKS,
    NewPlannedItem,
    PlannedInputs,
    inputs_from_json,
)
from apps.show.entries import Entry, Ratio


@dataclass(frozen=True, slots=True)
class PlannedItemFact:
    """An item as it was entered."""

    id: int
    kind: str
    name: str
    starts_on: date
    inputs: PlannedInputs
    spread: WorkSpread | None = None

    @property
    def as_entered(self) -> NewPlannedItem:
        """Return the new item that would make this one."""
        return NewPlannedItem(self.name, self.starts_on, self.inputs, self.spread)


@dataclass(frozen=True, slots=True)
class PlanTerms:
    """The terms of a plan: its name, its weeks from a local day on, its growth beyond the forecast, and what it is for."""

    name: Annotated[str, Entry("Name", needed="Say what it is called.")]
    first_day: Annotated[
        date, Entry("From", "Its weeks begin on this weekday.", "its weeks begin on this weekday")
    ]
    weeks: Annotated[int, Entry("For how many weeks", initial="26", least=1, most=MOST_WEEKS)]
    growth_per_month: Annotated[Ratio, Entry(help="beyond the forecast")] = 0.0
    description: Annotated[str, Entry(help="what it is for")] = ""


def terms_of(plan: PlanTerms) -> dict[str, Any]:
    """Return the terms of a plan by name."""
    return {name: getattr(plan, name) for name in field_names(PlanTerms)}


@dataclass(frozen=True, slots=True, kw_only=True)
class EnteredPlan(PlanTerms):
    """A plan in a pool or on the pools of a GPU model, with its items.

    `variant_of` is the id of the plan that it is copied from.
    """

    pool_id: int | None
    gpu_model: str = ""
    items: tuple[NewPlannedItem, ...] = ()
    variant_of: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEdit(PlanTerms):
    """An edit of a plan: its terms, and whose it is (None: a token's, as it was)."""

    owner_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFact(PlanTerms):
    """A plan as it was entered; `pool` or `gpu_model` names where, the other is empty.

    `owner_id` is None where a token made it, `variant_of` where it was not copied from a plan that is still kept.
    """

    id: int
    variant_of: Annotated[int | None, Entry(help="the plan it was copied from")]
    owner_id: int | None
    owner: str
    pool_id: int | None
    pool: str
    gpu_model: Annotated[str, Entry(help="empty where a pool is named")]
    changed_at: datetime
    items: tuple[PlannedItemFact, ...]

    @property
    def where(self) -> str:
        """The pool's name, or the model's."""
        return self.pool or self.gpu_model

    @property
    def gpu(self) -> str:
        """The GPU model that trainings are computed for."""
        return self.gpu_model or fleet.pools()[self.pool_id or 0].gpu_model


def plans() -> list[PlanFact]:
    """Every plan, by name."""
    rows = WhatIfPlan.objects.prefetch_related("items").order_by("name")
    people = person_names()
    return [_plan_fact(row, people) for row in rows]


def plan_of_id(plan_id: int) -> PlanFact:
    """One plan. Refuses WhatIfPlan.DoesNotExist."""
    return plan_fact(WhatIfPlan.objects.get(pk=plan_id))


def plan_history(plan_id: int) -> list[TrailChange]:
    """Return what was changed of a plan and of what is planned in it, the newest first."""
    kind, part = trail.KINDS[WhatIfPlan._meta.label], trail.KINDS[PlannedItem._meta.label]
    return trail.changes(kind=kind, of=plan_id, parts={part: "plan_id"})


def plan_fact(row: WhatIfPlan) -> PlanFact:
    """A plan as it is kept."""
    return _plan_fact(row, person_names())


def _plan_fact(row: WhatIfPlan, people: Mapping[int, str]) -> PlanFact:
    items = sorted(row.items.all(), key=lambda item: (item.starts_on, item.pk))
    return PlanFact(
        id=row.pk,
        name=row.name,
        description=row.description,
        variant_of=row.variant_of_id,
        owner_id=row.owner_id,
        owner="a token" if row.owner_id is None else people[row.owner_id],
        pool_id=row.pool_id,
        pool="" if row.pool_id is None else fleet.pools()[row.pool_id].name,
        gpu_model=row.gpu_model,
        first_day=row.first_day,
        weeks=row.weeks,
        growth_per_month=row.growth_per_month,
        changed_at=row.changed_at.astimezone(UTC),
        items=tuple(
            PlannedItemFact(
                item.pk,
                item.kind,
                item.name,
                item.starts_on,
                inputs_from_json(item.kind, item.inputs),
                None if item.low is None or item.high is None else WorkSpread(item.low, item.high),
            )
            for item in items
        ),
    )
