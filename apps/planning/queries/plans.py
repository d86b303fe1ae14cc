"""What-if plans: what was entered, and what comes of it on the newest forecast and prices."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property

from apps.accounts.queries import organisation, person_names, trail
from apps.accounts.queries.reading import once
from apps.accounts.queries.trail import TrailChange
from apps.economics.hours import HOUR, first_hour
from apps.economics.planned_work import (
    WEEK_HOURS,
    QueueWeek,
    WorkSpread,
    fluid_queue,
    forecast_weeks,
    launch_weeks,
    months_of_weeks,
    price_factors,
    training_gpu_hours,
    training_weeks,
)
from apps.economics.purchase import PurchaseOption
from apps.fleet import queries as fleet
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.windows import Window
from apps.planning.models import Forecast, Granularity, PlannedItem, WhatIfPlan
from apps.planning.queries.capacity_places import (
    GpuHourPrice,
    gpus_there,
    newest_forecast,
    place_series,
    pools_of,
    price_of_pools,
)
from apps.planning.queries.plan_items import (
    LaunchWork,
    NewPlannedItem,
    PlannedInputs,
    PriceChange,
    TrainingWork,
    inputs_from_json,
    training_peak,
)

COMMITTED = frozenset({PurchaseOption.OWNED, PurchaseOption.RESERVED})
"""How GPUs are bought that are there whether they are used or not."""
PRICED_DAYS = timedelta(days=28)


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
        """What would make it."""
        return NewPlannedItem(self.name, self.starts_on, self.inputs, self.spread)


@dataclass(frozen=True, slots=True)
class PlanFact:
    """A plan as it was entered; `pool` or `gpu_model` names where, the other is empty.

    `owner_id` is None where a token made it, `variant_of` where it was not copied from a plan that is still kept.
    """

    id: int
    name: str
    description: str
    variant_of: int | None
    owner_id: int | None
    owner: str
    pool_id: int | None
    pool: str
    gpu_model: str
    first_day: date
    weeks: int
    growth_per_month: float
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


@dataclass(frozen=True, slots=True)
class PlanWeek:
    """A week of a plan: GPU-hours and micro-units; None where there is no forecast or no price.

    `forecast_share` of the week lies in the forecast, the rest is its level carried on. `queue` is
    what of `total` is above the committed capacity, and waits for it.
    """

    first_day: date
    expected: float | None
    forecast_share: float
    planned: float
    total: float | None
    queue: QueueWeek | None
    price_factor: float
    planned_micros: int | None
    total_micros: int | None


@dataclass(frozen=True, slots=True)
class MonthOfPlan:
    """What falls into a month, in micro-units; None where it is not known."""

    month: date
    planned_micros: int | None
    total_micros: int | None


@dataclass(frozen=True)
class PlanOutcome:
    """A plan by week. `committed_gpus` are there now, owned or reserved; `by_item` GPU-hours of each by week."""

    plan: PlanFact
    weeks: tuple[PlanWeek, ...]
    by_item: Mapping[str, tuple[float, ...]]
    committed_gpus: int
    price: GpuHourPrice | None
    forecast_from: datetime | None
    forecast_until: datetime | None

    @property
    def committed_hours(self) -> float:
        """GPU-hours a week that are owned or reserved."""
        return self.committed_gpus * WEEK_HOURS

    @property
    def planned(self) -> float:
        """GPU-hours of all planned work in its weeks."""
        return sum(week.planned for week in self.weeks)

    @property
    def planned_micros(self) -> int | None:
        """What the planned work costs in its weeks; None where no price is known."""
        return _sum_or_none([week.planned_micros for week in self.weeks])

    @property
    def total_micros(self) -> int | None:
        """What forecast and planned work cost together."""
        return _sum_or_none([week.total_micros for week in self.weeks])

    @property
    def longest_wait(self) -> float | None:
        """The longest wait at the end of a week, in hours; None where there is no queue to know of."""
        waits = [week.queue.wait_hours for week in self.weeks if week.queue is not None]
        known = [wait for wait in waits if wait is not None]
        return max(known, default=None)

    @cached_property
    def months(self) -> tuple[MonthOfPlan, ...]:
        """Costs by month, a seventh of a week to each day."""
        first = self.plan.first_day
        planned = months_of_weeks(first, [week.planned_micros or 0 for week in self.weeks])
        total = months_of_weeks(first, [week.total_micros or 0 for week in self.weeks])
        is_priced, is_whole = self.planned_micros is not None, self.total_micros is not None
        return tuple(
            MonthOfPlan(
                month,
                round(planned[month]) if is_priced else None,
                round(total[month]) if is_whole else None,
            )
            for month in planned
        )


def plans() -> list[PlanFact]:
    """Every plan, by name."""
    rows = WhatIfPlan.objects.prefetch_related("items").order_by("name")
    people = person_names()
    return [_plan_fact(row, people) for row in rows]


def plan_of_id(plan_id: int) -> PlanFact:
    """One plan. Refuses WhatIfPlan.DoesNotExist."""
    return plan_fact(WhatIfPlan.objects.get(pk=plan_id))


def plan_history(plan_id: int) -> list[TrailChange]:
    """What was changed of a plan and of what is planned in it, the newest first."""
    kind, part = trail.KINDS[WhatIfPlan._meta.label], trail.KINDS[PlannedItem._meta.label]
    return trail.changes(kind=kind, of=plan_id, parts={part: "plan_id"})


def plan_outcome(plan: PlanFact, at: datetime) -> PlanOutcome:
    """What comes of a plan by the forecast, the prices and the GPUs of `at`.

    Refuses a Refusal where a training's GPU has no known peak.
    """
    zone = organisation().zone
    by_item = {
        item.name: _item_weeks(item, plan, zone)
        for item in plan.items
        if not isinstance(item.inputs, PriceChange)
    }
    planned = [sum(hours) for hours in zip(*by_item.values(), strict=True)] or [0.0] * plan.weeks
    forecast, committed, price = _place_now(plan.pool_id, plan.gpu_model, at)
    value_hours = 24 if forecast and forecast.granularity == Granularity.DAY else 1
    base: tuple[tuple[float, float], ...] | None = None
    if forecast is not None:
        begins = _hours_after(forecast.starts_at, plan.first_day, zone)
        base = forecast_weeks(
            forecast.points, value_hours, begins, plan.weeks, plan.growth_per_month
        )
    return PlanOutcome(
        plan=plan,
        weeks=_weeks_of(plan, base, planned, committed * WEEK_HOURS, price, zone),
        by_item=by_item,
        committed_gpus=committed,
        price=price,
        forecast_from=None if forecast is None else forecast.starts_at,
        forecast_until=None
        if forecast is None
        else forecast.starts_at + len(forecast.points) * value_hours * HOUR,
    )


@once
def _place_now(
    pool_id: int | None, gpu_model: str, at: datetime
) -> tuple[Forecast | None, int, GpuHourPrice | None]:
    """What all plans of a place stand on: its forecast, the GPUs owned or reserved there, its price.

    The forecast is the newest by the day, which is of 18 months, else by the hour.
    """
    series, pool_ids = place_series(pool_id, gpu_model), pools_of(pool_id, gpu_model)
    by_day = newest_forecast(series, at, Granularity.DAY)
    return (
        newest_forecast(series, at) if by_day is None else by_day,
        gpus_there(pool_ids, at, COMMITTED),
        price_of_pools(pool_ids, priced_window(at), at),
    )


def priced_window(at: datetime) -> Window:
    """The 28 complete local days before a moment, of which measured figures are."""
    zone = organisation().zone
    end_day = local_day(at, zone)
    return Window("", end_day - PRICED_DAYS, end_day, zone)


def _weeks_of(
    plan: PlanFact,
    base: tuple[tuple[float, float], ...] | None,
    planned: list[float],
    capacity: float,
    price: GpuHourPrice | None,
    zone: str,
) -> tuple[PlanWeek, ...]:
    totals = (
        None if base is None else [sum(pair) for pair in zip(planned, _first_of(base), strict=True)]
    )
    queue = None if totals is None else fluid_queue(totals, capacity)
    factors = price_factors(_price_changes(plan, zone), plan.weeks)
    found = []
    for week in range(plan.weeks):
        total = None if totals is None else totals[week]
        found.append(
            PlanWeek(
                first_day=plan.first_day + timedelta(days=7 * week),
                expected=None if base is None else base[week][0],
                forecast_share=0.0 if base is None else base[week][1],
                planned=planned[week],
                total=total,
                queue=None if queue is None else queue[week],
                price_factor=factors[week],
                planned_micros=_cost_of(planned[week], price, factors[week]),
                total_micros=_cost_of(total, price, factors[week]),
            )
        )
    return tuple(found)


def _first_of(pairs: tuple[tuple[float, float], ...]) -> list[float]:
    return [hours for hours, _ in pairs]


def _cost_of(gpu_hours: float | None, price: GpuHourPrice | None, factor: float) -> int | None:
    if gpu_hours is None or price is None:
        return None
    return round(gpu_hours * float(price.micros) * factor)


def _item_weeks(item: PlannedItemFact, plan: PlanFact, zone: str) -> tuple[float, ...]:
    begins = _hours_between(plan.first_day, item.starts_on, zone)
    inputs = item.inputs
    if isinstance(inputs, TrainingWork):
        hours = training_gpu_hours(
            inputs.parameters, inputs.tokens, training_peak(plan.gpu), inputs.mfu
        )
        return training_weeks(hours, inputs.gpus, begins, plan.weeks)
    if isinstance(inputs, LaunchWork):
        per_request = inputs.tokens_per_request / inputs.tokens_per_gpu_hour
        return launch_weeks(inputs.requests_by_week, per_request, begins, plan.weeks)
    return (0.0,) * plan.weeks


def _price_changes(plan: PlanFact, zone: str) -> list[tuple[float, float]]:
    return [
        (_hours_between(plan.first_day, item.starts_on, zone), item.inputs.factor)
        for item in plan.items
        if isinstance(item.inputs, PriceChange)
    ]


def _hours_between(first_day: date, day: date, zone: str) -> float:
    return _hours_after(first_hour(day, zone), first_day, zone)


def _hours_after(moment: datetime, first_day: date, zone: str) -> float:
    return (moment - first_hour(first_day, zone)) / HOUR


def _sum_or_none(amounts: list[int | None]) -> int | None:
    return None if None in amounts else sum(amount for amount in amounts if amount is not None)


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
