"""Budgets against what came and what is expected: headroom, the chance of exceeding, month by month."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from operator import itemgetter

from apps.accounts.queries import organisation
from apps.economics.budgets import Chance, chance_above, hours_within, sum_ahead
from apps.economics.gates import Gate, GateName
from apps.economics.hours import HOUR, first_hour, hour_from
from apps.economics.hours_ahead import HoursAhead
from apps.economics.money import MICROS, sum_or_unknown
from apps.ledger.queries.calendar import local_day, next_month
from apps.ledger.queries.conversion import RateOfExchangeMissing, conversion
from apps.ledger.queries.cube.question import Key
from apps.ledger.queries.cube.states import StateSum
from apps.ledger.queries.windows import DAY, Window
from apps.planning.queries import budgets as facts
from apps.planning.queries.ahead import AheadSpan, SeriesAhead, gates_of_spans, series_ahead
from apps.planning.queries.budget_costs import SpentSoFar, StatesByKey, spent_of, states_by
from apps.planning.queries.budget_requests import (
    RequestedRemainder,
    approved_requests,
    requested_remainder,
)
from apps.planning.queries.budgets import UNITS, BudgetFact
from apps.planning.queries.series import GPU_HOURS, SPEND, TEAM, WHOLE, SeriesKey, series_name
from apps.pricing.queries.commitments import commitments_in

RUN_RATE_DAYS = 28
FORECAST, RUN_RATE, UNKNOWN = "forecast", "run_rate", "unknown"
MONTHS_SHOWN = 13
NO_REST = "nothing is expected: what it spends is not known for long enough"


@dataclass(frozen=True, slots=True)
class RemainderEstimate:
    """The expected rest of the hours that are left, in micro-units or GPU-milliseconds; None is not known.

    `method` is FORECAST, RUN_RATE or UNKNOWN; `source` says of which series, or of which days.
    `quantiles` are by level, empty without an interval. `spans` say of each series of a forecast which hours are
    from what. `known_days` is how many days of history the shortest of them knows. `hours` are from `starts_at` on, of each series its forecast and the place in it, in whole units; of a run
    rate one hour for ever.
    """

    expected: int | None
    method: str
    source: str
    quantiles: Mapping[float, float]
    spans: tuple[AheadSpan, ...] = ()
    hours: tuple[tuple[HoursAhead, int], ...] = field(default=(), repr=False)
    known_days: int | None = None

    @property
    def gates(self) -> tuple[Gate, ...]:
        """Return the gates that the rest was held against: its forecasts' own; a run rate is no forecast, and was tried on nothing."""
        if self.method == FORECAST:
            return gates_of_spans(self.spans)
        statement = (
            f"the rest is a {RUN_RATE_DAYS} days' run rate" if self.method == RUN_RATE else NO_REST
        )
        return (Gate(GateName.BASELINE, None, statement),)

    @property
    def interval(self) -> tuple[int, int] | None:
        """The lowest and the highest quantile."""
        ends = [round(value) for value in self.quantiles.values()]
        return (ends[0], ends[-1]) if ends else None

    @property
    def low(self) -> int | None:
        """The low end of the interval."""
        return self.interval and self.interval[0]

    @property
    def high(self) -> int | None:
        """The high end of the interval."""
        return self.interval and self.interval[1]


@dataclass(frozen=True, slots=True)
class BudgetFigures:
    """A budget in its current period `[first_day, end_day)`, or the nearest that it has.

    `commitments` is what commitments in force cost of the rest; None where that is not known of such a scope. `requested`
    is what approved requests take on top of the rest. `share_gone` is of the period's time.
    """

    budget: BudgetFact
    status: str
    first_day: date
    end_day: date
    amount: int
    spent: SpentSoFar
    rest: RemainderEstimate
    commitments: int | None
    requested: RequestedRemainder
    share_gone: float

    @property
    def window(self) -> Window:
        """The days of its period."""
        return Window("", self.first_day, self.end_day, organisation().zone)

    @property
    def committed(self) -> int | None:
        """Return what is owed whatever runs: commitments, a part of the rest, and approved requests, on top of it.

        None where a part is not known; commitments are the organisation's alone, and of tags nothing is known.
        """
        if self.budget.scope == facts.TAG:
            return None
        owed = [self.commitments] if _owes_commitments(self.budget) else []
        return sum_or_unknown([*owed, self.requested.amount])

    @property
    def expected(self) -> int | None:
        """Return what the whole period is expected to come to, with what approved requests take."""
        return sum_or_unknown((self.spent.amount, self.rest.expected, self.requested.amount))

    @property
    def headroom(self) -> int | None:
        """Return what is left of the budget when the rest comes as expected; below zero it is exceeded."""
        return None if self.expected is None else self.amount - self.expected

    @property
    def left_now(self) -> int | None:
        """Return what is left of the budget after what came already, provisional lines too; below zero it is exceeded."""
        return None if self.spent.amount is None else self.amount - self.spent.amount

    @property
    def share_used(self) -> Fraction | None:
        """Of the amount, so far."""
        return None if self.spent.amount is None else Fraction(self.spent.amount, self.amount)

    @property
    def expected_share(self) -> Fraction | None:
        """Of the amount, at the end of the period."""
        return None if self.expected is None else Fraction(self.expected, self.amount)

    @property
    def chance(self) -> Chance | None:
        """How likely it is exceeded: sure where it is already, None without an interval."""
        if self.spent.amount is None:
            return None
        if self.spent.amount > self.amount:
            return Chance(1.0, 1.0)
        if self.requested.amount is None:
            return None
        room = self.amount - self.spent.amount - self.requested.amount
        return chance_above(room, self.rest.quantiles)

    def exceeds_at(self, at: datetime) -> datetime | None:
        """The hour, from the next one on, in which what is expected passes the amount; approved requests evenly over the rest.

        None: it does not in its period, it has passed it already, or that is not known.
        """
        if self.spent.amount is None or self.requested.amount is None or not self.rest.hours:
            return None
        if self.spent.amount > self.amount:
            return None
        begins = max(hour_from(at), self.window.starts_at)
        hours = max(0, (self.window.ends_at - begins) // HOUR)
        unit = UNITS[self.budget.measure]
        room = (self.amount - self.spent.amount) / unit
        passed = hours_within(room, self.rest.hours, hours, self.requested.amount / unit)
        return None if passed is None else begins + passed * HOUR

    @property
    def is_exceeding(self) -> bool:
        """Whether it is exceeded already, or will be as things are expected, requests without a price left out."""
        if self.spent.amount is None:
            return False
        known_amounts = (self.spent.amount, self.rest.expected, self.requested.amount)
        return self.spent.amount > self.amount or sum(filter(None, known_amounts)) > self.amount


@dataclass(frozen=True, slots=True)
class BudgetMonth:
    """A month of it: of a project the sums since its beginning. `rest` and `requested` are of the current month alone."""

    month: date
    amount: int
    spent: SpentSoFar
    rest: int | None = None
    requested: int | None = None


def figures_of(budgets: Sequence[BudgetFact], at: datetime) -> list[BudgetFigures]:
    """The figures of each as of `at`; budgets overlap, and no two are ever added.

    What came is of the days up to it, with the day that it falls into: what came later is in no figure, nor is what was
    forecast or approved later.
    """
    zone = organisation().zone
    today = local_day(at, zone)
    windows = {
        budget_fact.id: Window("", *budget_fact.period_on(today), zone) for budget_fact in budgets
    }
    lately = Window("", today - RUN_RATE_DAYS * DAY, today, zone)
    sums, daily = (
        states_by(
            budgets, {budget_id: _until(at, window) for budget_id, window in windows.items()}
        ),
        states_by(budgets, dict.fromkeys(windows, lately), "day"),
    )
    ahead = series_ahead(_series_wanted(budgets, windows), at)
    requests = approved_requests(at)
    figures = []
    for budget in budgets:
        window = windows[budget.id]
        begins = max(hour_from(at), window.starts_at)
        hours = max(0, (window.ends_at - begins) // HOUR)
        forecast_rest = _remainder_from_forecast(budget, daily[budget.id], ahead, (begins, hours))
        elapsed_share = (at - window.starts_at) / (window.ends_at - window.starts_at)
        figures.append(
            BudgetFigures(
                budget=budget,
                status=budget.status_on(today),
                first_day=window.first_day,
                end_day=window.end_day,
                amount=budget.amount_on(window.first_day),
                spent=spent_of(_all_states(sums[budget.id]), budget),
                rest=forecast_rest
                or _remainder_from_run_rate(budget, daily[budget.id], lately, hours),
                commitments=_remaining_commitment_cost(budget, begins, window.ends_at),
                requested=requested_remainder(budget, requests, begins, window.ends_at),
                share_gone=max(0.0, min(1.0, elapsed_share)),
            )
        )
    return figures


def months_of(figures: BudgetFigures, at: datetime) -> list[BudgetMonth]:
    """Its last 13 months up to the current one, in order; of a project each has all since its beginning."""
    budget, zone = figures.budget, organisation().zone
    current = local_day(at, zone).replace(day=1)
    month = budget.first_day.replace(day=1)
    last = min(current, (budget.last_day or current).replace(day=1))
    if month > last:
        return []
    end_day = next_month(last)
    if budget.last_day is not None:
        end_day = min(end_day, budget.last_day + DAY)
    over = Window("", budget.first_day, max(last, budget.first_day), zone)
    newest = _until(at, Window("", over.end_day, end_day, zone))
    # Of a monthly budget the last month is its period, which is summed already.
    has_last = budget.recurrence == facts.MONTHLY and figures.first_day == last
    # Apart: whole months are summed already, and days of years are long to add up.
    sums = {
        key: states
        for window in ((over,) if has_last else (over, newest))
        if window.first_day < window.end_day
        for key, states in states_by([budget], {budget.id: window}, "month")[budget.id].items()
    }
    months: list[BudgetMonth] = []
    so_far: list[StateSum] = []
    while month <= last:
        month_states = _all_states({key: states for key, states in sums.items() if key[1] == month})
        so_far = [*so_far, *month_states] if budget.recurrence == facts.PROJECT else month_states
        is_current = month == current and figures.status == facts.RUNNING
        ahead = (figures.rest.expected, figures.requested.amount) if is_current else (None, None)
        spent = figures.spent if has_last and month == last else spent_of(so_far, budget)
        months.append(BudgetMonth(month, budget.amount_on(month), spent, *ahead))
        month = next_month(month)
    return months[-MONTHS_SHOWN:]


def _until(at: datetime, window: Window) -> Window:
    """Its days that have begun before `at`."""
    today = local_day(at, window.zone)
    begun = today if at == first_hour(today, window.zone) else today + DAY
    return replace(window, end_day=max(window.first_day, min(window.end_day, begun)))


def _all_states(sums: StatesByKey) -> list[StateSum]:
    return [state for states in sums.values() for state in states]


def _series_of(budget: BudgetFact) -> list[SeriesKey]:
    """The series that say what is expected of it: none of workloads, services and tags."""
    measure = SPEND if budget.measure == facts.MONEY else GPU_HOURS
    if budget.scope == facts.ORGANISATION:
        return [SeriesKey(measure, WHOLE)]
    return [SeriesKey(measure, TEAM, str(team_id)) for team_id in sorted(budget.team_ids)]


def _series_wanted(
    budgets: Sequence[BudgetFact], windows: Mapping[int, Window]
) -> dict[SeriesKey, datetime]:
    """Until when each series is looked ahead: the end of the last period of a budget that it says something of."""
    ends = [(key, windows[budget.id].ends_at) for budget in budgets for key in _series_of(budget)]
    return dict(sorted(ends, key=itemgetter(1)))


def _remainder_from_forecast(
    budget: BudgetFact,
    daily: StatesByKey,
    ahead: Mapping[SeriesKey, SeriesAhead],
    hours_left: tuple[datetime, int],
) -> RemainderEstimate | None:
    """From the forecasts of its series; None where one that had costs lately has none."""
    begins, hours = hours_left
    if not hours:
        return RemainderEstimate(0, FORECAST, "nothing of the period is left", {})
    had_costs = {
        str(key) for (key, _), states in daily.items() if not spent_of(states, budget).is_nothing
    }
    series = _series_of(budget)
    used = [ahead[key] for key in series if key in ahead]
    if not used or any(key not in ahead for key in series if key.key in had_costs):
        return None
    sums = sum_ahead(
        [(forecast.hours, (begins - forecast.starts_at) // HOUR) for forecast in used], hours
    )
    unit = UNITS[budget.measure]
    return RemainderEstimate(
        round(sums.expected * unit),
        FORECAST,
        ", ".join(series_name(forecast.series) for forecast in used),
        {level: value * unit for level, value in sums.quantiles.items()},
        tuple(
            span
            for forecast in used
            for span in forecast.spans_within(begins, begins + hours * HOUR)
        ),
        tuple((forecast.hours, (begins - forecast.starts_at) // HOUR) for forecast in used),
        min(
            (
                (begins - forecast.known_since) // DAY
                for forecast in used
                if forecast.known_since is not None
            ),
            default=None,
        ),
    )


def _remainder_from_run_rate(
    budget: BudgetFact, daily: StatesByKey, lately: Window, hours: int
) -> RemainderEstimate:
    """So much an hour as in the last 28 whole days, or since the first of them that had costs."""
    by_day: dict[Key, list[StateSum]] = defaultdict(list)
    for (_, day), states in daily.items():
        by_day[day].extend(states)
    spent = {day: spent_of(states, budget) for day, states in by_day.items()}
    days = [
        day for day, spending in spent.items() if isinstance(day, date) and not spending.is_nothing
    ]
    if not days:
        return RemainderEstimate(
            None, UNKNOWN, f"no costs in the last {RUN_RATE_DAYS} whole days", {}
        )
    amounts = [spent[day].amount for day in days]
    if None in amounts:
        return RemainderEstimate(None, UNKNOWN, "days of the last four weeks have no price", {})
    since = Window("", min(days), lately.end_day, lately.zone)
    measured_hours = (since.ends_at - since.starts_at) // HOUR
    rate = Fraction(sum(filter(None, amounts)), measured_hours)
    count = (since.end_day - since.first_day).days
    flat = HoursAhead([float(rate / UNITS[budget.measure])], {})
    return RemainderEstimate(
        round(rate * hours),
        RUN_RATE,
        f"the mean of the last {count} whole days",
        {},
        hours=((flat, 0),),
        known_days=count,
    )


def _owes_commitments(budget: BudgetFact) -> bool:
    """Return whether a budget owes commitments: whose use they will cover is not decided ahead, so they are the organisation's, in money."""
    return budget.scope == facts.ORGANISATION and budget.measure == facts.MONEY


def _remaining_commitment_cost(
    budget: BudgetFact, begins: datetime, ends_at: datetime
) -> int | None:
    """Return the cost of commitments in force from `begins` on."""
    if not _owes_commitments(budget):
        return None
    ours, total = organisation(), Fraction(0)
    month = local_day(begins, ours.zone).replace(day=1)
    for commitment in commitments_in(begins, ends_at) if begins < ends_at else ():
        lasts_ms = commitment.elapsed_ms(min(ends_at, commitment.ends_at)) - commitment.elapsed_ms(
            begins
        )
        try:
            rate = conversion(currency=commitment.currency, to=ours.currency, month=month).rate
        except RateOfExchangeMissing:
            return None
        total += commitment.price * rate * lasts_ms / commitment.term_ms
    return round(total * MICROS)
