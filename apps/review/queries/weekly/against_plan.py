"""The week against what was planned of it: its part of the budget, and the forecast from before it began."""

from datetime import datetime, timedelta

from apps.economics.budgets import Chance
from apps.economics.hours import HOUR_MS
from apps.economics.money import MICROS
from apps.economics.variance import CapacityCell, CapacityCost, PeriodCost, cost_variance
from apps.ledger.queries.calendar import local_day
from apps.planning.queries.budget_figures import BudgetFigures, figures_of
from apps.planning.queries.budgets import MONEY, ORGANISATION, RUNNING, BudgetFact, budgets_as_of
from apps.planning.queries.forecast_of_span import SpanForecast, forecast_of_span
from apps.planning.queries.series import GPU_HOURS, SPEND, SeriesKey
from apps.review.queries.weekly.content import (
    BudgetsWeek,
    ForecastAgainstWeek,
    ReviewedBudget,
    WeekCost,
    WeekVariance,
)
from apps.review.queries.weekly.weeks import ReviewWeek
from apps.workloads import queries as workloads


def budgets_week(week: ReviewWeek, zone: str, cost_and_time: tuple[WeekCost, int]) -> BudgetsWeek:
    """Budgets as they were set and stood at the end of the week, with the amounts of then; its cost and the GPU-milliseconds that jobs held (`cost_and_time`) against plan and forecast."""
    at = week.window(zone).ends_at
    facts = budgets_as_of(at)
    figures = figures_of(facts, at)
    planned = _week_budget(facts, week)
    return BudgetsWeek(
        budgets=tuple(
            _reviewed(figure, at, zone) for figure in figures if figure.status == RUNNING
        ),
        week_budget_micros=planned,
        against_budget=None if planned is None else _difference(planned, cost_and_time[0].micros),
        forecast=_forecast(week, zone, cost_and_time),
    )


def _reviewed(figures: BudgetFigures, at: datetime, zone: str) -> ReviewedBudget:
    budget = figures.budget
    chance = figures.chance or Chance(-1, -1)
    exceeds_at = figures.exceeds_at(at)
    return ReviewedBudget(
        budget_id=budget.id,
        name=budget.name,
        measure=budget.measure,
        team_ids=tuple(sorted(_teams_of(budget))),
        period=f"{figures.first_day}/{figures.end_day}",
        amount=figures.amount,
        spent=figures.spent.amount,
        expected=figures.expected,
        headroom=figures.headroom,
        chance_low=None if chance.low < 0 else round(chance.low, 6),
        chance_high=None if chance.high < 0 else round(chance.high, 6),
        method=figures.rest.method,
        exceeds_on="" if exceeds_at is None else local_day(exceeds_at, zone).isoformat(),
        is_hard=budget.is_hard,
    )


def _teams_of(budget: BudgetFact) -> frozenset[int]:
    """Return the teams of a budget: of a workload its team."""
    if budget.team_ids or not budget.key.isdecimal():
        return budget.team_ids
    workload = workloads.workloads().get(int(budget.key))
    return frozenset() if workload is None else frozenset({workload.team_id})


def _week_budget(facts: list[BudgetFact], week: ReviewWeek) -> int | None:
    """The days' even parts of the organisation's budget of money; of several the first by name, as they overlap."""
    organisation_budgets = [
        fact for fact in facts if fact.scope == ORGANISATION and fact.measure == MONEY
    ]
    days = [week.first_day + timedelta(days=place) for place in range(7)]
    for fact in organisation_budgets:
        if all(fact.status_on(day) == RUNNING for day in days):
            parts = 0
            for day in days:
                first, end = fact.period_on(day)
                parts += fact.amount_on(first) // (end - first).days
            return parts
    return None


def _difference(planned: int, actual: int | None) -> WeekVariance:
    """A budget has an amount and no hours: all that differs is one difference."""
    causes = {} if actual is None else {"difference": actual - planned}
    return WeekVariance(planned, actual, causes)


def _forecast(
    week: ReviewWeek, zone: str, cost_and_time: tuple[WeekCost, int]
) -> ForecastAgainstWeek:
    span = week.window(zone)
    spend = forecast_of_span(SeriesKey(SPEND), span.starts_at, span.ends_at)
    hours = forecast_of_span(SeriesKey(GPU_HOURS), span.starts_at, span.ends_at)
    cost, held_ms = cost_and_time
    if spend is None:
        return ForecastAgainstWeek(came_micros=cost.micros)
    micros = round(spend.expected * MICROS)
    low, high = spend.interval or (None, None)
    return ForecastAgainstWeek(
        made_at=spend.made_at.isoformat(),
        method=spend.method,
        forecast_micros=micros,
        low_micros=None if low is None else round(low * MICROS),
        high_micros=None if high is None else round(high * MICROS),
        came_micros=cost.micros,
        error_ratio=round(cost.micros / micros - 1, 6)
        if cost.micros is not None and micros
        else None,
        variance=forecast_variance(micros, hours, cost.micros, held_ms),
    )


def forecast_variance(
    forecast: int, hours: SpanForecast | None, actual: int | None, held_ms: int
) -> WeekVariance:
    """Price and capacity of what came against what was forecast; they sum to the difference exactly.

    A forecast tells spend and the GPU-hours that jobs hold, not by pool and not what of them is
    useful: mix and what nobody held are within price, the cost of an hour held. Without forecast GPU-hours it is one difference.
    """
    if actual is None:
        return WeekVariance(forecast, None)
    forecast_ms = 0 if hours is None else round(hours.expected * HOUR_MS)
    if min(forecast, actual, forecast_ms, held_ms) <= 0:
        return _difference(forecast, actual)
    before, after = (
        PeriodCost({CapacityCell("gpu", ""): CapacityCost(micros, ms, ms)}, 0, 0)
        for micros, ms in ((forecast, forecast_ms), (actual, held_ms))
    )
    causes = cost_variance(before, after)
    return WeekVariance(forecast, actual, {name: causes[name] for name in ("price", "capacity")})
