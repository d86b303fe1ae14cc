"""The tables of what a forecast expects: by the hour, by the day and by the month."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from apps.economics.forecast.names import QUANTILE_LEVELS
from apps.planning.queries.forecasts import ForecastHour, ForecastMonth
from apps.show.amounts import number
from apps.show.cell_formats import Format, ValueKind
from apps.show.time import month
from apps.tables.column import Column, field
from apps.tables.table import Table

FORECAST_FIGURE = Format(
    lambda value, _: number(value), lambda value, _: repr(value), "number-cell", ValueKind.NUMBER
)
"""A figure of a forecast; a file has all its digits."""
LOCAL_DAY = Format(
    lambda at, locale: at.astimezone(locale.zone).date().isoformat(),
    lambda at, locale: at.astimezone(locale.zone).date().isoformat(),
    kind=ValueKind.DAY,
)
MONTH = Format(
    lambda first, _: month(first), lambda first, _: first.isoformat(), kind=ValueKind.DAY
)
ENDS = {0.1: "Lower end (80 %)", 0.9: "Upper end (80 %)"}


def _quantile_at(place: int) -> Callable[[ForecastHour | ForecastMonth], float | None]:
    return lambda row: row.quantiles[place] if row.quantiles else None


def _quantile_columns(**options: Any) -> tuple[Column[Any], ...]:
    return tuple(
        Column(f"q{round(level * 100)}", ENDS.get(level, ""), _quantile_at(place), FORECAST_FIGURE, **options)
        for place, level in enumerate(QUANTILE_LEVELS)
    )  # fmt: skip


_WAITING: Column[Any] = Column(
    "waiting",
    "",
    format=FORECAST_FIGURE,
    definition="demand beyond what can be held: GPUs in service, nodes entered to come, or a quota",
)
_OF_HOURS: tuple[Column[ForecastHour], ...] = (
    Column("value", "Expected", format=FORECAST_FIGURE),
    *_quantile_columns(),
    Column("reconciled", "Adding up", format=FORECAST_FIGURE, missing="–",
           definition="what the value becomes so that all parts add up; null where not all are forecast"),
    Column("observed", "Came", format=FORECAST_FIGURE),
    _WAITING,
    Column("expected", "", format=FORECAST_FIGURE,
           definition="the mean of the paths, which adds up to totals as values do not"),
)  # fmt: skip


def _by_beginning(hour: ForecastHour) -> tuple[str]:
    """In the order in which they come."""
    return (hour.hour.isoformat(),)


FORECAST_HOURS = Table[ForecastHour](
    "hours",
    "Hour by hour",
    (Column("hour", "Hour"), *_OF_HOURS),
    noun=("hour", "hours"),
    sort="hours",
    per_page=48,
    row=ForecastHour,
    unique=_by_beginning,
)
FORECAST_DAYS = Table[ForecastHour](
    "days",
    "Day by day",
    (Column("day", "Day", field("hour"), LOCAL_DAY), *_OF_HOURS),
    noun=("day", "days"),
    sort="days",
    per_page=31,
    row=ForecastHour,
    unique=_by_beginning,
)
FORECAST_MONTHS = Table[ForecastMonth](
    "months",
    "Month by month",
    (
        Column("month", "Month", format=MONTH, definition="its first day",
               note=lambda row: "" if row.is_whole else f"{row.days} of its days"),
        Column("days", "", definition="how many of its days lie ahead"),
        Column("value", "Expected", format=FORECAST_FIGURE),
        *_quantile_columns(missing="–"),
        replace(_WAITING, text="Waits beyond it"),
        Column("is_whole", "", definition="false: some of its days are over"),
    ),
    noun=("month", "months"),
    sort="months",
    per_page=24,
    about="{said}; totals of whole scenarios, of waits their means: ends of days do not add up to those of months",
    row=ForecastMonth,
    unique=lambda month: (month.month.isoformat(),),
)  # fmt: skip
