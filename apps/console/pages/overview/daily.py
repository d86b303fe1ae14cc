"""Each day's cost by state: the chart, the sentence it comes down to, and its table."""

from collections.abc import Sequence
from datetime import date, timedelta

from apps.console.pages.overview.periods import until
from apps.console.pages.overview.question import Question
from apps.console.pages.overview.sums import Sums, sums_of
from apps.console.pages.overview.values import DailyChart, DayRow
from apps.ledger.queries import OverviewFacts
from apps.show.amounts import per_cent, share
from apps.show.charts import DailySeries, daily_cost_by_state
from apps.show.money import whole_amount
from apps.show.time import weekday
from apps.show.words import StateWords, basis_words

NOTHING = Sums({}, {}, None, 0, 0)


def daily_chart(asked: Question, facts: OverviewFacts, sums: Sums) -> DailyChart | None:
    """From the first day with a charge to the last that has begun; None where no cost is known."""
    if sums.total is None:
        return None
    known = {each.day: sums_of(each.states) for each in facts.days}
    days = days_between(min(known), until(asked.chosen.window, asked.today))
    by_day = [known.get(day, NOTHING) for day in days]
    basis = basis_words(str(asked.chosen.basis)).label.lower()
    return DailyChart(
        title="What each day cost, by what it bought",
        unit=f"{asked.currency} a day, {basis} cost",
        finding=_finding(days, by_day, sums, asked.currency),
        figure=daily_cost_by_state(
            days, [_series(state, by_day) for state in sums.states], asked.currency
        ),
        states=sums.states,
        rows=tuple(
            DayRow(
                label=weekday(day),
                micros=_amounts(of_day, sums.states),
                total_micros=of_day.total,
                is_provisional=bool(of_day.provisional_total),
            )
            for day, of_day in zip(days, by_day, strict=True)
        ),
        total=DayRow("Total", _amounts(sums, sums.states), sums.total),
        csv_href=asked.href("overview-days"),
        has_provisional=any(of_day.provisional_total for of_day in by_day),
    )


def days_between(first: date, end: date) -> list[date]:
    """`[first, end)`, at least the first."""
    return [first + timedelta(days=ahead) for ahead in range(max(1, (end - first).days))]


def _series(state: StateWords, by_day: Sequence[Sums]) -> DailySeries:
    micros = [_amount(of_day, state) for of_day in by_day]
    provisional = [of_day.provisional.get(state.key) for of_day in by_day]
    settled = [
        None if amount is None else amount - (later or 0)
        for amount, later in zip(micros, provisional, strict=True)
    ]
    return DailySeries(state, tuple(settled), tuple(provisional))


def _amounts(of_day: Sums, states: Sequence[StateWords]) -> tuple[int | None, ...]:
    return tuple(_amount(of_day, state) for state in states)


def _amount(of_day: Sums, state: StateWords) -> int | None:
    """A state that did not occur on a day with charges cost nothing; a day without is unknown."""
    return of_day.by_state.get(state.key, 0 if of_day.by_state else None)


def _finding(days: Sequence[date], by_day: Sequence[Sums], sums: Sums, currency: str) -> str:
    totals = [(of_day.total or 0, day) for day, of_day in zip(days, by_day, strict=True)]
    most, dearest = max(totals)
    largest = max(sums.states, key=lambda state: sums.by_state[state.key] or 0, default=None)
    said = f"The dearest day was {weekday(dearest)} with {whole_amount(most, currency)}"
    part = share(sums.by_state[largest.key], sums.total) if largest else None
    if largest is None or part is None:
        return f"{said}."
    return f"{said}; {per_cent(part)} of the whole was {largest.label.lower()}."
