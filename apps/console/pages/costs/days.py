"""Each day's cost by state: the chart, the sentence it comes down to, and its file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from django.http import HttpResponse

from apps.console.kit.chart import DailyChart, DayRow
from apps.console.kit.csv_file import CsvFile, csv_file
from apps.console.kit.periods import days_between, until
from apps.console.pages.annotations.marks import marked_chart
from apps.console.pages.costs.question import CostPlace, CostQuery
from apps.console.pages.costs.sums import Sums, sums_of
from apps.console.pages.costs.tables import CostRow, cost_table
from apps.ledger.queries import States
from apps.review.queries.annotations import AnnotationsWanted
from apps.show.amounts import per_cent, share
from apps.show.charts import DailySeries, daily_cost_by_state
from apps.show.money import rounded_amount
from apps.show.time import short_day, weekday
from apps.show.words import StateWords, basis_words
from apps.workloads import queries as workloads

BY_DAY = "by-day"
NO_COST = Sums({}, {}, 0, 0)
MOST_DAYS_BY_DAY = 100
DAYS_OF_WEEK = 7
LOADED = {"loaded": " with shared idle", "direct": " without shared costs"}


def day_chart(
    cost_query: CostQuery,
    place: CostPlace,
    states_by_day: Mapping[date, States],
    days_csv: CsvFile,
) -> DailyChart | None:
    """Return the chart of what each day cost, by state, from the first with a charge to the last that has begun; None where no cost is known.

    More than a hundred days are drawn by week, cut where the window begins. A day or week leads to the same page of
    that time.
    """
    sums = sums_of(state for states in states_by_day.values() for state in states)
    if sums.total is None:
        return None
    window, calendar = cost_query.question.window, cost_query.context.calendar
    all_days = days_between(min(states_by_day), until(window, calendar.today))
    label: Callable[[date], str] = weekday
    step, unit = 1, "day"
    if len(all_days) > MOST_DAYS_BY_DAY:
        step, unit, label = DAYS_OF_WEEK, "week", _week_label
        states_by_day = _by_week(states_by_day, all_days[0], calendar.week_starts_on)
    sums_by_day = {day: sums_of(states) for day, states in states_by_day.items()}
    days = days_between(min(sums_by_day), all_days[-1] + timedelta(days=1))[::step]
    by_day = [sums_by_day.get(day, NO_COST) for day in days]
    series: list[DailySeries] = []
    rows: list[DayRow] = []
    for state in sums.states:
        amounts = [_state_amount(of_day, state) for of_day in by_day]
        unsettled = tuple(of_day.provisional.get(state.key) for of_day in by_day)
        settled = tuple(
            None if amount is None else amount - (later or 0)
            for amount, later in zip(amounts, unsettled, strict=True)
        )
        series.append(DailySeries(state, settled, unsettled))
    # The state that the address asks for is no filter of every page.
    state_param = cost_query.context.query.get("state", "")
    for day, of_day in zip(days, by_day, strict=True):
        end = day + timedelta(days=step)
        span = f"{max(day, window.first_day)}/{min(end, window.end_day)}"
        params = {"window": day.isoformat() if step == 1 else span, "state": state_param}
        row = DayRow(
            label=label(day),
            micros=tuple(_state_amount(of_day, state) for state in sums.states),
            total_micros=of_day.total,
            is_provisional=bool(of_day.provisional_total),
            href=cost_query.href(place.name, *place.of, **params) if of_day.by_state else "",
        )
        rows.append(row)
    basis = basis_words(str(cost_query.question.basis)).label.lower()
    loaded = LOADED.get(str(cost_query.question.loading), "")
    chart = DailyChart(
        each=unit,
        title=_chart_sentence(cost_query, days, by_day, sums, label),
        unit=f"each {unit} by state of its GPU time, in {cost_query.currency}, {basis} cost{loaded}",
        figure=daily_cost_by_state(days, series, cost_query.currency, step=step),
        states=sums.states,
        rows=tuple(rows),
        total=DayRow(
            "Total", tuple(_state_amount(sums, state) for state in sums.states), sums.total
        ),
        csv=days_csv,
        has_provisional=any(of_day.provisional_total for of_day in by_day),
    )
    return marked_chart(chart, cost_query.context, _annotations_wanted(cost_query, place))


def _annotations_wanted(cost_query: CostQuery, place: CostPlace) -> AnnotationsWanted:
    """Return which annotations are of the page's own workload or team, of the teams that are asked about, or of all that the viewer sees."""
    window = cost_query.question.window
    if place.workload_id is not None:
        team_id = workloads.workloads()[place.workload_id].team_id
        return AnnotationsWanted(window, frozenset({team_id}), place.workload_id)
    keys = place.team_ids or cost_query.question.filters.get("team", frozenset())
    team_ids = frozenset(key for key in keys if isinstance(key, int))
    return AnnotationsWanted(window, team_ids or None)


def days_file(
    cost_query: CostQuery, name: str, states_by_day: Callable[[], Mapping[date, States]]
) -> CsvFile:
    """The table behind the chart: a row for each day with a charge, a column for each state."""

    def write() -> HttpResponse:
        table = replace(cost_table(cost_query, BY_DAY, "Day", ("day",)), sort="", default_sort="")
        rows = [
            CostRow((day.isoformat(),), sums_of(states)) for day, states in states_by_day().items()
        ]
        return table.csv(rows, cost_query.context, name)

    return csv_file(BY_DAY, cost_query.context, write)


def _state_amount(of_day: Sums, state: StateWords) -> int | None:
    """A state that did not occur on a day with charges cost nothing; a day without is unknown."""
    return of_day.by_state.get(state.key, 0 if of_day.by_state else None)


def _by_week(
    states_by_day: Mapping[date, States], first: date, week_starts_on: int
) -> dict[date, States]:
    """Return the states by the first day of each week; the first week is whole, and begins before `first`."""
    begins = first - timedelta(days=(first.isoweekday() - week_starts_on) % DAYS_OF_WEEK)
    weeks: dict[date, States] = {}
    for day, states in states_by_day.items():
        week = day - timedelta(days=(day - begins).days % DAYS_OF_WEEK)
        weeks[week] = (*weeks.get(week, ()), *states)
    return weeks


def _week_label(first: date) -> str:
    return f"week from {short_day(first)} {first.year}"


def _chart_sentence(
    cost_query: CostQuery,
    days: Sequence[date],
    by_day: Sequence[Sums],
    sums: Sums,
    label: Callable[[date], str],
) -> str:
    """The dearest day or week; today's, which is not over, by what it has so far."""
    most, highest = max((of_day.total or 0, day) for day, of_day in zip(days, by_day, strict=True))
    largest = max(sums.states, key=lambda state: sums.by_state[state.key] or 0, default=None)
    amount = rounded_amount(most, cost_query.currency)
    is_today = highest == cost_query.context.calendar.today and label is weekday
    so_far = " so far" if is_today else ""
    sentence = f"Highest {'day: ' if label is weekday else ''}{label(highest)}, {amount}{so_far}"
    if len(days) == 1:
        sentence = f"{label(highest)} cost {amount}{so_far}"
    part = share(sums.by_state[largest.key], sums.total) if largest else None
    if largest is None or part is None or len(sums.states) == 1:
        return f"{sentence}."
    return f"{sentence}; {per_cent(part)} of the whole was {largest.label.lower()}."
