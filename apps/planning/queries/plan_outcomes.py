"""Outcomes of what-if plans on the newest forecast, prices and GPUs: by week, by month and in all, with the band."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import numpy as np

from apps.accounts.queries import organisation
from apps.accounts.queries.reading import once
from apps.economics.gates import Gate, read_gates
from apps.economics.hours import HOUR, first_hour
from apps.economics.money import MICROS
from apps.economics.plan_gates import PlanGrounds, plan_gates
from apps.economics.planned_work import (
    WEEK,
    Floats,
    Ints,
    PlanBand,
    bands_of,
    carried_days,
    ends_of_spans,
    fluid_backlog,
    launch_days,
    month_starts,
    spread_shares,
    sums_of_spans,
    training_days,
    training_gpu_hours,
    week_starts,
)
from apps.economics.purchase import PurchaseOption
from apps.ledger.queries.calendar import day_span, local_day
from apps.ledger.queries.windows import DAY, Window
from apps.planning.models import Forecast, Granularity
from apps.planning.queries.capacity_places import (
    GpuHourPrice,
    forecast_paths,
    gpus_there,
    newest_forecast,
    place_series,
    pools_of,
    price_of_pools,
)
from apps.planning.queries.forecasts import BacktestFact, backtests_of
from apps.planning.queries.job_waits import waiting_price
from apps.planning.queries.plan_items import LaunchWork, PriceChange, TrainingWork, training_peak
from apps.planning.queries.plans import PlanFact, PlannedItemFact
from apps.planning.queries.room import RoomAhead

COMMITTED = frozenset({PurchaseOption.OWNED, PurchaseOption.RESERVED})
"""How GPUs are bought that are there whether they are used or not."""
PRICED_DAYS = timedelta(days=28)


@dataclass(frozen=True, slots=True)
class PlanSpan:
    """A week or month of a plan, or all of it: GPU-hours and micro-units; None without a forecast or a price.

    `forecast_share` of its days lie in the forecast, on the others its level is carried on. `capacity` is what owned and
    reserved GPUs have in it, by its real hours. What of `total` is `above`
    the committed capacity is the sum of its days, what is `waiting` for it is at the end of the last. Each band is of
    its own scenarios: bands of spans do not add up.
    """

    first_day: date
    days: int
    forecast_share: float
    price_factor: float
    capacity: float
    planned: PlanBand
    expected: PlanBand | None
    total: PlanBand | None
    above: PlanBand | None
    waiting: PlanBand | None
    wait_hours: PlanBand | None
    planned_cost: PlanBand | None
    total_cost: PlanBand | None

    @property
    def month(self) -> date:
        """The first day of the month that it lies in."""
        return self.first_day.replace(day=1)


@dataclass(frozen=True, slots=True)
class PlaceNow:
    """The facts that all plans of a place stand on; `totals` are its forecast's days by scenario from the local `first_day` on.

    One row of them is its middle alone. `coverage` is how the forecast did before, by days ahead; `gates` is what it was held
    against, None without one, and `history_days` what it was made from.
    """

    first_day: date | None
    totals: Floats | None
    made_at: datetime | None
    coverage: tuple[BacktestFact, ...]
    committed_gpus: int
    price: GpuHourPrice | None
    gates: tuple[Gate, ...] | None
    history_days: float | None

    @property
    def end_day(self) -> date | None:
        """The first day that is not in the forecast."""
        if self.first_day is None or self.totals is None:
            return None
        return self.first_day + len(self.totals[0]) * DAY

    @property
    def has_scenarios(self) -> bool:
        """Whether more than its middle is known."""
        return self.totals is not None and len(self.totals) > 1


@dataclass(frozen=True)
class PlanOutcome:
    """A plan in all, by week and by month. `by_item` are GPU-hours of each item in its weeks.

    `longest_wait` is the longest at the end of a day, in hours; None without a forecast, or where nothing is owned or
    reserved. `queue_chance` is the share of scenarios in which work waits at all. `gates` is what it was held against.
    """

    plan: PlanFact
    place: PlaceNow
    whole: PlanSpan
    weeks: tuple[PlanSpan, ...]
    months: tuple[PlanSpan, ...]
    by_item: Mapping[str, PlanBand]
    longest_wait: PlanBand | None
    queue_chance: float | None
    gates: tuple[Gate, ...] = ()

    @property
    def has_band(self) -> bool:
        """Whether what is expected and planned has a low and a high."""
        return self.place.has_scenarios


@dataclass(frozen=True, slots=True)
class _PlanDays:
    """Of each scenario and day: GPU-hours, what waits at its end, and cost; one row where nothing is uncertain."""

    planned: Floats
    expected: Floats | None
    total: Floats | None
    capacity: Floats
    above: Floats | None
    waiting: Floats | None
    factors: Floats
    planned_cost: Floats | None
    total_cost: Floats | None


def plan_outcome(plan: PlanFact, at: datetime) -> PlanOutcome:
    """Return what comes of a plan by the forecast, the prices and the GPUs of `at`.

    Refuses a Refusal where a training's GPU has no known peak.
    """
    zone = organisation().zone
    place = _place_now(plan.pool_id, plan.gpu_model, at)
    day_hours = np.array(
        [day_span(plan.first_day + day * DAY, zone).hours for day in range(plan.weeks * WEEK)],
        dtype=np.float64,
    )
    by_item = {item.name: _item_days(item, plan, day_hours, zone) for item in plan.items}
    days = _days_of(plan, place, by_item, day_hours)
    length, waits = len(day_hours), _waits(days.waiting, place.committed_gpus)
    (total_span,) = _spans(plan, place, days, np.zeros(1, dtype=np.int64))
    weeks = _spans(plan, place, days, week_starts(length))
    begins = [first_hour(plan.first_day + day * DAY, zone) for day in range(length + 1)]
    wanted = None if days.total is None else _middle(days.total)[0]
    there = np.array(
        []
        if wanted is None
        else _rooms_ahead(at).of_days(place_series(plan.pool_id, plan.gpu_model), begins)
    )
    return PlanOutcome(
        plan=plan,
        place=place,
        whole=total_span,
        weeks=weeks,
        months=_spans(plan, place, days, month_starts(plan.first_day, length)),
        by_item={
            item.name: bands_of(by_item[item.name].sum(axis=1, keepdims=True))[0]
            for item in plan.items
            if not isinstance(item.inputs, PriceChange)
        },
        longest_wait=None if waits is None else bands_of(waits.max(axis=1, keepdims=True))[0],
        queue_chance=None
        if days.waiting is None or not place.has_scenarios
        else float((days.waiting > 0).any(axis=1).mean()),
        gates=plan_gates(
            PlanGrounds(
                forecast=place.gates,
                history_days=place.history_days,
                wanted=wanted,
                there=there,
                hours=day_hours,
                waiting_price=_waiting_price(plan, wanted, there),
                currency=organisation().currency,
                whole=(total_span.total or total_span.planned).likely,
                parts=[(week.total or week.planned).likely for week in weeks],
            )
        ),
    )


def _waiting_price(plan: PlanFact, wanted: Floats | None, there: Floats) -> float | None:
    """Return the price of waiting that policies say, where anything is beyond what is there; else nobody needs to be asked."""
    if wanted is None or not len(there) or not (wanted > there).any():
        return None
    price = waiting_price(pools_of(plan.pool_id, plan.gpu_model))
    return None if price is None else price / MICROS


@once
def _rooms_ahead(at: datetime) -> RoomAhead:
    """Of all plans."""
    return RoomAhead(at)


def priced_window(at: datetime) -> Window:
    """The 28 complete local days before a moment, of which measured figures are."""
    zone = organisation().zone
    end_day = local_day(at, zone)
    return Window("", end_day - PRICED_DAYS, end_day, zone)


@once
def _place_now(pool_id: int | None, gpu_model: str, at: datetime) -> PlaceNow:
    """The forecast is the newest by the day, which is of 18 months and has scenarios, else by the hour."""
    zone = organisation().zone
    series, pool_ids = place_series(pool_id, gpu_model), pools_of(pool_id, gpu_model)
    forecast = newest_forecast(series, at, Granularity.DAY) or newest_forecast(series, at)
    first_day, totals = None, None
    if forecast is not None:
        first_day, totals = _days_of_forecast(forecast, zone)
    return PlaceNow(
        first_day=first_day,
        totals=totals,
        made_at=None if forecast is None else forecast.made_at,
        coverage=()
        if forecast is None or forecast.granularity != Granularity.DAY
        else backtests_of(forecast),
        committed_gpus=gpus_there(pool_ids, at, COMMITTED),
        price=price_of_pools(pool_ids, priced_window(at), at),
        gates=None if forecast is None else read_gates(forecast.gates),
        history_days=None
        if forecast is None
        else (forecast.starts_at - forecast.history_from) / DAY,
    )


def _days_of_forecast(forecast: Forecast, zone: str) -> tuple[date, Floats]:
    """Its first local day, and its days by scenario; of one by the hour those that it has whole, in one row."""
    first = local_day(forecast.starts_at, zone)
    if forecast.granularity == Granularity.DAY:
        paths = forecast_paths(forecast)
        middle = forecast.expected or forecast.points
        return first, np.array([middle]) if paths is None else paths
    span = day_span(first, zone)
    if span.starts_at < forecast.starts_at:
        first, span = first + DAY, day_span(first + DAY, zone)
    totals, ends_at = [], forecast.starts_at + len(forecast.points) * HOUR
    while span.ends_at <= ends_at:
        begin = (span.starts_at - forecast.starts_at) // HOUR
        hours = forecast.expected or forecast.points
        totals.append(sum(hours[begin : begin + span.hours]))
        span = day_span(first + len(totals) * DAY, zone)
    return first, np.array([totals])


def _item_days(item: PlannedItemFact, plan: PlanFact, day_hours: Floats, zone: str) -> Floats:
    """GPU-hours by scenario and day of an item; none of a price change."""
    inputs, shares = item.inputs, spread_shares(item.name, item.spread)
    if isinstance(inputs, TrainingWork):
        peak = training_peak(plan.gpu)
        hours = training_gpu_hours(inputs.parameters, inputs.tokens, peak, inputs.mfu)
        begins = (first_hour(item.starts_on, zone) - first_hour(plan.first_day, zone)) / HOUR
        return training_days(hours * shares, inputs.gpus, begins, day_hours)
    if isinstance(inputs, LaunchWork):
        per_request = inputs.tokens_per_request / inputs.tokens_per_gpu_hour
        begins_on = (item.starts_on - plan.first_day).days
        days = launch_days(inputs.requests_by_week, per_request, begins_on, len(day_hours))
        return shares[:, None] * days
    return np.zeros((1, len(day_hours)))


def _days_of(
    plan: PlanFact, place: PlaceNow, by_item: Mapping[str, Floats], day_hours: Floats
) -> _PlanDays:
    """Of a forecast without scenarios the work is added as entered: a band of work alone would be too narrow."""
    length = len(day_hours)
    planned = sum(by_item.values(), np.zeros((1, length)))
    factors = _factors_of(plan, length)
    micros = None if place.price is None else float(place.price.micros)
    capacity = place.committed_gpus * day_hours
    expected = total = above = waiting = None
    if place.totals is not None and place.first_day is not None:
        begins_on = (place.first_day - plan.first_day).days
        expected = carried_days(place.totals, begins_on, length, plan.growth_per_month)
        is_certain = len(expected) == 1
        total = expected + (_middle(planned) if is_certain else planned)
        above, waiting = np.maximum(0.0, total - capacity), fluid_backlog(total, capacity)
    paid = _middle(factors) if total is not None and len(total) == 1 else factors
    return _PlanDays(
        planned=planned,
        expected=expected,
        total=total,
        capacity=capacity[None, :],
        above=above,
        waiting=waiting,
        factors=factors,
        planned_cost=None if micros is None else planned * factors * micros,
        total_cost=None if micros is None or total is None else total * paid * micros,
    )


def _middle(amounts: Floats) -> Floats:
    """Of each day the median of the scenarios, in one row."""
    middle: Floats = np.median(amounts, axis=0, keepdims=True)
    return middle


def _factors_of(plan: PlanFact, days: int) -> Floats:
    """By what the price of each day is multiplied, by scenario: all factors that hold."""
    factors = np.ones((1, days))
    for item in plan.items:
        if isinstance(item.inputs, PriceChange):
            holds = np.arange(days) >= (item.starts_on - plan.first_day).days
            by = item.inputs.factor * spread_shares(item.name, item.spread)
            factors = factors * np.where(holds, by[:, None], 1.0)
    return factors


def _waits(waiting: Floats | None, gpus: int) -> Floats | None:
    """How long what waits takes on all GPUs that are there."""
    return None if waiting is None or not gpus else waiting / gpus


def _spans(plan: PlanFact, place: PlaceNow, days: _PlanDays, starts: Ints) -> tuple[PlanSpan, ...]:
    lengths = np.diff(np.append(starts, days.planned.shape[1]))
    is_known = np.zeros((1, days.planned.shape[1]))
    if place.first_day is not None and place.end_day is not None:
        begin, end = ((day - plan.first_day).days for day in (place.first_day, place.end_day))
        is_known[0, max(0, begin) : max(0, end)] = 1.0
    shares = sums_of_spans(is_known, starts)[0] / lengths
    factors = sums_of_spans(_middle(days.factors), starts)[0] / lengths
    there = sums_of_spans(days.capacity, starts)[0]
    waiting = None if days.waiting is None else ends_of_spans(days.waiting, starts)
    planned = bands_of(sums_of_spans(days.planned, starts))
    bands = zip(
        *(_span_bands(amounts, starts) for amounts in (days.expected, days.total, days.above)),
        *(
            _bands(amounts, len(starts))
            for amounts in (waiting, _waits(waiting, place.committed_gpus))
        ),
        *(_span_bands(costs, starts) for costs in (days.planned_cost, days.total_cost)),
        strict=True,
    )
    return tuple(
        PlanSpan(
            plan.first_day + int(starts[number]) * DAY,
            int(lengths[number]),
            float(shares[number]),
            float(factors[number]),
            float(there[number]),
            planned[number],
            *figures,
        )
        for number, figures in enumerate(bands)
    )


def _span_bands(amounts: Floats | None, starts: Ints) -> list[PlanBand | None]:
    return _bands(None if amounts is None else sums_of_spans(amounts, starts), len(starts))


def _bands(amounts: Floats | None, count: int) -> list[PlanBand | None]:
    return [None] * count if amounts is None else [*bands_of(amounts)]
