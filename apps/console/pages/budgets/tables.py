"""The tables of budgets."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from django.urls import reverse

from apps.console.kit.cells import (
    COUNT,
    DAY_OR_INSTANT,
    GPU_HOURS,
    ISO_DAY,
    PROSE,
    RATIO,
    TEXT,
    Format,
)
from apps.console.kit.table import Table
from apps.console.pages.budgets import words
from apps.planning.queries import budget_words
from apps.planning.queries.budget_figures import FORECAST, BudgetFigures, BudgetMonth
from apps.planning.queries.budget_requests import RequestShare
from apps.planning.queries.budgets import MONEY, BudgetFact
from apps.planning.queries.hard_limit import OVER_IT
from apps.show.time import month as month_words
from apps.tables.column import CURRENCY_COLUMN, Column

Row = TypeVar("Row")
Measured = tuple[BudgetFact, int]
AHEAD_OF_TIME = 0.1
"""So much more of a budget used than of its time gone, from which on a cell warns."""
MEASURED = Format(
    lambda pair, locale: words.cell_amount(pair[0], pair[1], locale.currency),
    lambda pair, _: words.exact_amount(*pair),
    "number-cell",
)
"""Pairs of a budget and an amount as it measures."""
TEXT_AT_RIGHT = replace(TEXT, css="number-cell")


def _of_budget(
    value: Callable[[BudgetFigures], int | None],
) -> Callable[[BudgetFigures], Measured | None]:
    def pair(row: BudgetFigures) -> Measured | None:
        amount = value(row)
        return None if amount is None else (row.budget, amount)

    return pair


def _used_early(row: BudgetFigures) -> bool | str:
    early = row.share_used is not None and row.share_used > row.share_gone + AHEAD_OF_TIME
    return early and "More of it is used than of its time is gone"


def _amount(
    key: str, heading: str, value: Callable[[BudgetFigures], int | None], **options: object
) -> Column[BudgetFigures]:
    column_options: dict[str, object] = {"order": value, **options}
    return Column(key, heading, _of_budget(value), MEASURED, **column_options)  # type: ignore[arg-type]


BUDGETS = Table[BudgetFigures](
    "budgets",
    "Running budgets",
    (
        Column("name", "Budget", lambda row: row.budget.name, PROSE,
               href=lambda row: reverse("budget", args=[row.budget.id]),
               note=lambda row: budget_words.scope_of(row.budget)),
        Column("scope", "", lambda row: row.budget.scope),
        Column("of", "", lambda row: row.budget.of),
        Column("measure", "", lambda row: row.budget.measure),
        Column("recurrence", "", lambda row: row.budget.recurrence),
        Column("period", "Period", words.short_period_of, TEXT, csv="",
               order=lambda row: row.first_day),
        Column("first_day", "", lambda row: row.first_day, ISO_DAY),
        Column("last_day", "", lambda row: row.end_day - timedelta(days=1), ISO_DAY),
        Column("status", "", lambda row: row.status),
        _amount("amount", "Budget", lambda row: row.amount),
        _amount("spent", "So far", lambda row: row.spent.amount),
        Column("provisional", "", lambda row: _provisional(row), MEASURED),
        Column("unpriced", "", lambda row: row.spent.unpriced_milliseconds, GPU_HOURS,
               csv="unpriced_gpu_hours"),
        Column("used", "Used", lambda row: row.share_used, RATIO, csv="share_used",
               warns=_used_early),
        Column("gone", "Time gone", lambda row: row.share_gone, RATIO, csv="share_of_time_gone"),
        _amount("rest", "Rest expected", lambda row: row.rest.expected, csv="rest_expected",
                note=lambda row: row.rest.method.replace("_", " ") if row.rest.method != FORECAST else ""),
        Column("method", "", lambda row: row.rest.method, csv="rest_from"),
        _amount("committed", "Committed", lambda row: row.committed),
        Column("by_requests", "", _of_budget(lambda row: row.requested.amount), MEASURED,
               csv="committed_by_requests"),
        Column("unpriced_requests", "", lambda row: row.requested.unpriced_milliseconds, GPU_HOURS,
               csv="unpriced_request_gpu_hours"),
        _amount("headroom", "Budget headroom", lambda row: row.headroom,
                warns=lambda row: row.is_exceeding and "It is exceeded, or will be"),
        Column("chance", "Chance", budget_words.chance_of, TEXT_AT_RIGHT, csv="",
               order=lambda row: row.chance and row.chance.low),
        Column("chance_low", "", lambda row: row.chance and row.chance.low, RATIO),
        Column("chance_high", "", lambda row: row.chance and row.chance.high, RATIO),
        Column("limit", "Enforcement", lambda row: OVER_IT[row.budget.is_hard], csv="jobs_over_it"),
        CURRENCY_COLUMN,
    ),
    about="{said}, each for itself: they overlap, and are never added; committed: by commitments, a part of the rest, and by approved requests, on top of it; chance: of being exceeded",
    noun=("budget", "budgets"),
    sort="sort",
)  # fmt: skip
OTHERS = replace(
    BUDGETS, name="others", title="To come, and over", sort="others", about="{said}", per_page=20
)


def _provisional(row: BudgetFigures) -> Measured | None:
    return (row.budget, row.spent.provisional) if row.budget.measure == MONEY else None


def month_table(budget: BudgetFact) -> Table[BudgetMonth]:
    """The months of one budget; of a project each has the sums since its beginning."""

    def measured(value: Callable[[BudgetMonth], int | None]) -> Callable[[BudgetMonth], object]:
        return lambda row: None if value(row) is None else (budget, value(row))

    def left(row: BudgetMonth) -> int | None:
        return None if row.spent.amount is None else row.amount - row.spent.amount

    return Table[BudgetMonth](
        "months",
        "Month by month",
        (
            Column("month", "Month", lambda row: row.month, Format(
                lambda day, _: month_words(day), lambda day, _: f"{day:%Y-%m}")),
            Column("amount", "Budget", measured(lambda row: row.amount), MEASURED),
            Column("spent", "Came", measured(lambda row: row.spent.amount), MEASURED),
            Column("provisional", "", measured(lambda row: row.spent.provisional), MEASURED),
            Column("unpriced", "", lambda row: row.spent.unpriced_milliseconds, GPU_HOURS,
                   csv="unpriced_gpu_hours"),
            Column("rest", "Rest expected", measured(lambda row: row.rest), MEASURED, missing="–"),
            Column("requested", "Approved requests", measured(lambda row: row.requested), MEASURED,
                   csv="approved_requests", missing="–"),
            Column("left", "Left so far", measured(left), MEASURED,
                   warns=lambda row: (left(row) or 0) < 0),
            CURRENCY_COLUMN,
        ),
        noun=("month", "months"),
    )  # fmt: skip


def approved_request_table(budget: BudgetFact) -> Table[RequestShare]:
    """Return the table of what approved requests take of the rest of a budget's period."""

    def taken(row: RequestShare) -> object:
        value = row.micros if budget.measure == MONEY else row.gpu_milliseconds
        return None if value is None else (budget, value)

    return Table[RequestShare](
        "approved",
        "Approved requests, not delivered yet",
        (
            Column("where", "Request", lambda row: f"{row.request.gpus} × {row.request.where}", PROSE,
                   href=lambda row: reverse("capacity-request", args=[row.request.id])),
            Column("team", "Team", lambda row: row.request.team),
            Column("gpus", "GPUs", lambda row: row.request.gpus, COUNT),
            Column("starts_at", "From", lambda row: row.starts_at, DAY_OR_INSTANT),
            Column("ends_at", "To", lambda row: row.ends_at, DAY_OR_INSTANT),
            Column("taken", "In this period", taken, MEASURED),
        ),
        about="GPUs × hours within the period, in money at the price that each was raised with; on top of the rest expected",
        noun=("request", "requests"),
    )  # fmt: skip
