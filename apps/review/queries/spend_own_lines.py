"""The lines of their own that series of spend are held against: paces of budgets, and the weeks of over a year."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import numpy as np

from apps.economics.changes import WEEK
from apps.economics.spend_lines import FEWEST_WEEKS, LINE_WEEKS, YEAR_WEEKS
from apps.economics.spend_weeks import Days
from apps.ledger.queries.spend_days import (
    BY_POOL,
    BY_TEAM,
    BY_WORKLOAD,
    SpendDays,
    spend_by_week,
)
from apps.ledger.queries.windows import Window
from apps.planning.queries import budgets as planned
from apps.planning.queries.budgets import BudgetFact
from apps.review.models import SpendSubject
from apps.review.queries.spend_series import WHOLE, series_text, together, with_teams

OF_BUDGETS = {
    planned.ORGANISATION: SpendSubject.ORGANISATION,
    planned.TEAM: SpendSubject.TEAM,
    planned.WORKLOAD: SpendSubject.WORKLOAD,
    planned.SERVICE: SpendSubject.WORKLOAD,
}
"""Whose spend each scope of a budget is; that of tags is not watched, and pools have none."""


@dataclass(frozen=True, slots=True)
class BudgetPace:
    """A budget's amount for each day, in micro-units, from `first` (an ordinal) to the last that is looked at."""

    name: str
    first: int
    days: Days


def budget_paces(last: date, at: datetime) -> dict[str, list[BudgetPace]]:
    """By series, those of budgets in money as they were set at a moment and run on the last day: half a year of them.

    A budget's period is as long as it holds; within it each month, or the whole project, is spent evenly.
    """
    paces: dict[str, list[BudgetPace]] = defaultdict(list)
    for budget in planned.budgets_as_of(at):
        subject = OF_BUDGETS.get(budget.scope)
        is_money = budget.measure == planned.MONEY
        if subject is not None and is_money and budget.status_on(last) == planned.RUNNING:
            first = max(budget.first_day, last - timedelta(days=WEEK * LINE_WEEKS - 1))
            days = np.fromiter(_pace_of(budget, first, last), float)
            pace = BudgetPace(budget.name, first.toordinal(), days)
            paces[series_text(subject, budget.key)].append(pace)
    return dict(paces)


def _pace_of(budget: BudgetFact, first: date, last: date) -> Iterator[float]:
    for place in range((last - first).days + 1):
        begins, ends = budget.period_on(first + timedelta(days=place))
        yield budget.amount_on(begins) / (ends - begins).days


def weeks_of_years(last: date, zone: str) -> dict[str, Days]:
    """By series what each week up to the last day cost, oldest first, of a year and a half; NaN where not known.

    Of the organisation, teams, pools and workloads, from the first week with spend on; none of fewer than 60.
    """
    most = YEAR_WEEKS + LINE_WEEKS
    end = last + timedelta(days=1)
    window = Window("", end - timedelta(days=WEEK * most), end, zone)
    by_team = spend_by_week(window, BY_TEAM)
    spent = {WHOLE.series: together(by_team.values())}
    if len(_weeks_known(spent[WHOLE.series])) < YEAR_WEEKS + FEWEST_WEEKS:
        return {}
    spent |= {of.series: weeks for of, weeks in with_teams(by_team)}
    for by, subject in ((BY_POOL, SpendSubject.POOL), (BY_WORKLOAD, SpendSubject.WORKLOAD)):
        for key, weeks in spend_by_week(window, by).items():
            spent[series_text(subject, str(key))] = weeks
    weeks_by_series = {series: _weeks_known(weeks) for series, weeks in spent.items()}
    return {
        series: weeks
        for series, weeks in weeks_by_series.items()
        if len(weeks) >= YEAR_WEEKS + FEWEST_WEEKS
    }


def _weeks_known(spent: SpendDays) -> Days:
    """In a row, oldest first, up to the last; nothing where none is spent."""
    first = max((week for week, micros in spent.micros.items() if micros > 0), default=-1)
    weeks = np.array([float(spent.micros.get(week, 0)) for week in range(first, -1, -1)])
    for week in spent.unknown:
        if week <= first:
            weeks[first - week] = np.nan
    return weeks
