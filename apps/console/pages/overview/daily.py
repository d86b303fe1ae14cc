"""Each day's cost by state: the chart, the sentence it comes down to, and its table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from apps.console.kit.chart import DailyChart, DayRow
from apps.console.kit.periods import until
from apps.console.pages.overview.question import Question
from apps.console.pages.overview.sums import Sums, sums_of
from apps.ledger.queries import Basis, DaySum, OverviewFacts, Window
from apps.show.amounts import per_cent, share
from apps.show.charts import DailySeries, daily_cost_by_state
from apps.show.money import whole_amount
from apps.show.time import weekday
from apps.show.words import StateWords, basis_words

NOTHING = Sums({}, {}, 0, 0)


@dataclass(frozen=True, slots=True)
class DaysAsked:
    """What a chart of days is of, and where its days and their CSV are."""

    window: Window
    today: date
    basis: Basis
    currency: str
    csv_href: str
    on_day: Callable[[date], str]


def daily_chart(asked: Question, facts: OverviewFacts, sums: Sums) -> DailyChart | None:
    """The Overview's days; None where no cost is known."""
    days = DaysAsked(
        window=asked.chosen.window,
        today=asked.today,
        basis=asked.chosen.basis,
        currency=asked.currency,
        csv_href=asked.href("overview-days"),
        on_day=lambda day: asked.href(window=day.isoformat()),
    )
    return chart_of_days(days, facts.days, sums)


def chart_of_days(asked: DaysAsked, found: Sequence[DaySum], sums: Sums) -> DailyChart | None:
    """From the first day with a charge to the last that has begun; None where no cost is known."""
    if sums.total is None:
        return None
    known = {each.day: sums_of(each.states) for each in found}
    days = days_between(min(known), until(asked.window, asked.today))
    by_day = [known.get(day, NOTHING) for day in days]
    basis = basis_words(str(asked.basis)).label.lower()
    return DailyChart(
        title=_finding(days, by_day, sums, asked.currency),
        unit=f"each day by state of its GPU time, in {asked.currency}, {basis} cost",
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
                href=asked.on_day(day) if of_day.by_state else "",
            )
            for day, of_day in zip(days, by_day, strict=True)
        ),
        total=DayRow("Total", _amounts(sums, sums.states), sums.total),
        csv_href=asked.csv_href,
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
    most, highest = max(totals)
    largest = max(sums.states, key=lambda state: sums.by_state[state.key] or 0, default=None)
    amount = whole_amount(most, currency)
    said = f"Highest day: {weekday(highest)}, {amount}"
    if len(days) == 1:
        said = f"{weekday(highest)} cost {amount}"
    part = share(sums.by_state[largest.key], sums.total) if largest else None
    if largest is None or part is None or len(sums.states) == 1:
        return f"{said}."
    return f"{said}; {per_cent(part)} of the whole was {largest.label.lower()}."
