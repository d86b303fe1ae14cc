"""Each day's cost by state: the chart, the sentence it comes down to, and its file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from django.http import HttpResponse

from apps.console.kit.chart import DailyChart, DayRow
from apps.console.kit.periods import days_between, until
from apps.console.pages.costs.question import AskedCosts
from apps.console.pages.costs.sums import Sums, sums_of
from apps.console.pages.costs.tables import CostRow, cost_table
from apps.ledger.queries import States
from apps.show.amounts import per_cent, share
from apps.show.charts import DailySeries, daily_cost_by_state
from apps.show.money import whole_amount
from apps.show.time import weekday
from apps.show.words import StateWords, basis_words

NO_COST = Sums({}, {}, 0, 0)
LOADED = {"loaded": " with shared idle", "direct": " without shared costs"}


def chart_of_days(
    asked: AskedCosts, found: Mapping[date, States], csv_href: str, on_day: Callable[[date], str]
) -> DailyChart | None:
    """From the first day with a charge to the last that has begun; None where no cost is known.

    A day leads to `on_day`.
    """
    sums = sums_of(each for states in found.values() for each in states)
    if sums.total is None:
        return None
    known = {day: sums_of(states) for day, states in found.items()}
    days = days_between(min(known), until(asked.question.window, asked.context.calendar.today))
    by_day = [known.get(day, NO_COST) for day in days]
    basis = basis_words(str(asked.question.basis)).label.lower()
    loaded = LOADED.get(str(asked.question.loading), "")
    return DailyChart(
        title=_chart_sentence(days, by_day, sums, asked.currency),
        unit=f"each day by state of its GPU time, in {asked.currency}, {basis} cost{loaded}",
        figure=daily_cost_by_state(
            days, [_series_of(state, by_day) for state in sums.states], asked.currency
        ),
        states=sums.states,
        rows=tuple(
            DayRow(
                label=weekday(day),
                micros=_state_amounts(of_day, sums.states),
                total_micros=of_day.total,
                is_provisional=bool(of_day.provisional_total),
                href=on_day(day) if of_day.by_state else "",
            )
            for day, of_day in zip(days, by_day, strict=True)
        ),
        total=DayRow("Total", _state_amounts(sums, sums.states), sums.total),
        csv_href=csv_href,
        has_provisional=any(of_day.provisional_total for of_day in by_day),
    )


def days_file(asked: AskedCosts, name: str, found: Mapping[date, States]) -> HttpResponse:
    """The table behind the chart: a row for each day with a charge, a column for each state."""
    rows = [CostRow((day.isoformat(),), sums_of(states)) for day, states in found.items()]
    table = replace(cost_table(asked, "by-day", "Day", ("day",)), sort="", default_sort="")
    return table.csv(rows, asked.context, name)


def _series_of(state: StateWords, by_day: Sequence[Sums]) -> DailySeries:
    micros = [_state_amount(of_day, state) for of_day in by_day]
    provisional = [of_day.provisional.get(state.key) for of_day in by_day]
    settled = [
        None if amount is None else amount - (later or 0)
        for amount, later in zip(micros, provisional, strict=True)
    ]
    return DailySeries(state, tuple(settled), tuple(provisional))


def _state_amounts(of_day: Sums, states: Sequence[StateWords]) -> tuple[int | None, ...]:
    return tuple(_state_amount(of_day, state) for state in states)


def _state_amount(of_day: Sums, state: StateWords) -> int | None:
    """A state that did not occur on a day with charges cost nothing; a day without is unknown."""
    return of_day.by_state.get(state.key, 0 if of_day.by_state else None)


def _chart_sentence(days: Sequence[date], by_day: Sequence[Sums], sums: Sums, currency: str) -> str:
    most, highest = max((of_day.total or 0, day) for day, of_day in zip(days, by_day, strict=True))
    largest = max(sums.states, key=lambda state: sums.by_state[state.key] or 0, default=None)
    amount = whole_amount(most, currency)
    said = f"Highest day: {weekday(highest)}, {amount}"
    if len(days) == 1:
        said = f"{weekday(highest)} cost {amount}"
    part = share(sums.by_state[largest.key], sums.total) if largest else None
    if largest is None or part is None or len(sums.states) == 1:
        return f"{said}."
    return f"{said}; {per_cent(part)} of the whole was {largest.label.lower()}."
