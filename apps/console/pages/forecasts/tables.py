"""The tables of forecasts."""

from collections.abc import Callable
from dataclasses import replace

from django.urls import reverse

from apps.console.kit.cells import (
    COUNT,
    DAY_OR_INSTANT,
    RATIO,
    TEXT,
    WRAPPED,
    Format,
    titled,
)
from apps.console.kit.table import Table
from apps.console.pages.forecasts import words
from apps.economics.forecast.names import JUDGED_DAYS_AHEAD, JUDGED_HORIZONS
from apps.planning.queries.forecasts import (
    BacktestFact,
    ForecastFact,
)
from apps.planning.queries.reconciliation import LevelErrors, ReconciledWay
from apps.planning.tables.forecast_hours import (
    FORECAST_DAYS,
    FORECAST_FIGURE,
    FORECAST_HOURS,
    FORECAST_MONTHS,
)
from apps.show.amounts import number
from apps.tables.column import Column

DAY_AHEAD, MONTH_AHEAD = JUDGED_HORIZONS[0], JUDGED_DAYS_AHEAD[0]
NARROW, WORSE = 0.7, 1.1
"""Coverage of an 80 % interval, and error over the best baseline's, from which on a cell warns."""
MASE = Format(
    lambda value, _: (
        titled(words.error_words(value), words.REPEATS)
        if value > words.LARGEST_ERROR
        else words.error_words(value)
    ),
    lambda value, _: f"{value:.6f}",
    "number-cell",
)


def nearest_backtest(forecast: ForecastFact) -> BacktestFact | None:
    """How its method did 24 hours ahead, of one by day 28 days; None where that is not judged yet."""
    return forecast.backtest_of(MONTH_AHEAD if forecast.is_daily else DAY_AHEAD)


def nearest_score(forecast: ForecastFact, name: str) -> float | None:
    """A figure of that."""
    scores = nearest_backtest(forecast)
    return None if scores is None else getattr(scores, name)


def _is_narrow(coverage: float | None) -> bool | str:
    return (
        coverage is not None
        and coverage < NARROW
        and "Intervals are too narrow: fewer hours lay inside"
    )


def _is_worse(scores: BacktestFact | None) -> bool | str:
    if scores is None or scores.mase is None or scores.best_baseline_mase is None:
        return False
    return scores.mase > WORSE * scores.best_baseline_mase and "The best baseline was closer"


def _month_value(months: int) -> Callable[[ForecastFact], float | None]:
    def value(forecast: ForecastFact) -> float | None:
        first_month = words.whole_month(forecast, months)
        return None if first_month is None else first_month.value

    return value


def _month_end(place: int) -> Callable[[ForecastFact], float | None]:
    def value(forecast: ForecastFact) -> float | None:
        first_month = words.whole_month(forecast)
        return (
            first_month.quantiles[place]
            if first_month is not None and first_month.quantiles
            else None
        )

    return value


def _month_interval(forecast: ForecastFact) -> str:
    low, high = _month_end(0)(forecast), _month_end(-1)(forecast)
    return "" if low is None or high is None else f"{number(low)} to {number(high)}"


_NAMED: tuple[Column[ForecastFact], ...] = (
    Column(
        "series",
        "Series",
        words.title_of,
        href=lambda forecast: reverse("forecast", args=[forecast.id]),
    ),
    Column("name", "", lambda forecast: forecast.name),
)
_JUDGED: tuple[Column[ForecastFact], ...] = (
    Column("unit", "Unit", lambda forecast: forecast.unit),
    Column(
        "mase",
        "Error (MASE)",
        lambda forecast: nearest_score(forecast, "mase"),
        MASE,
        warns=lambda forecast: _is_worse(nearest_backtest(forecast)),
    ),
    Column(
        "baseline",
        "Best baseline",
        lambda forecast: nearest_score(forecast, "best_baseline_mase"),
        MASE,
        csv="best_baseline_mase",
    ),
    Column(
        "coverage",
        "In the 80 % interval",
        lambda forecast: nearest_score(forecast, "coverage_80"),
        RATIO,
        csv="coverage_80",
        warns=lambda forecast: _is_narrow(nearest_score(forecast, "coverage_80")),
    ),
    Column("starts_at", "From", lambda forecast: forecast.starts_at, DAY_OR_INSTANT),
    Column("digest", "", lambda forecast: forecast.digest),
)
SERIES = Table[ForecastFact](
    "series",
    "Series",
    (
        *_NAMED,
        Column("day_ahead", "First 24 hours", lambda forecast: forecast.day_ahead, FORECAST_FIGURE),
        Column(
            "day_ahead_reconciled",
            "Adding up",
            lambda forecast: forecast.day_ahead_reconciled,
            FORECAST_FIGURE,
            missing="–",
        ),
        *_JUDGED,
    ),
    noun=("series", "series"),
    about="{said}; errors and coverage as measured 24 hours ahead over the last four weeks; adding up: reconciled, so that "
    "parts come to the organisation’s. "
    "An error of 1 is as good as saying: as yesterday; where too little lay in an interval it is shown wider",
    sort="sort",
)
DAILY_SERIES = replace(
    SERIES,
    columns=(
        *_NAMED,
        Column("month", "Next month", _month_value(1), FORECAST_FIGURE, note=_month_interval),
        Column("month_q10", "", _month_end(0), FORECAST_FIGURE),
        Column("month_q90", "", _month_end(-1), FORECAST_FIGURE),
        Column("twelfth_month", "In twelve months", _month_value(12), FORECAST_FIGURE),
        *(replace(column, text="") if column.key == "starts_at" else column for column in _JUDGED),
    ),
    about="{said}; totals of the next whole month, with its 80 % interval, and of the twelfth, of waits their means; errors and coverage as "
    "measured 28 days ahead, where history is long enough. An error of 1 is as good as saying: as last week; "
    "where too little lay in an interval it is shown wider. "
    "Each series is forecast by itself: what its parts come to is on the organisation’s page",
)
HOURS = Table.of(FORECAST_HOURS)
DAYS = Table.of(
    FORECAST_DAYS,
    dress={"day": {"shown": lambda day, locale: DAY_OR_INSTANT.shown(day.hour, locale)}},
)
MONTHS = Table.of(FORECAST_MONTHS)
SCORES = Table[BacktestFact](
    "scores",
    "How far to trust it",
    (
        Column("horizon", "Hours ahead", lambda scores: scores.horizon, COUNT),
        Column("origins", "Forecasts judged", lambda scores: scores.origins, COUNT),
        Column("mase", "Error (MASE)", lambda scores: scores.mase, MASE, warns=_is_worse),
        Column("best_baseline", "Best baseline", lambda scores: scores.best_baseline.replace("_", " "), TEXT),
        Column("best_baseline_mase", "Its error", lambda scores: scores.best_baseline_mase, MASE),
        Column(
            "coverage_80", "In the 80 % interval", lambda scores: scores.coverage_80, RATIO,
            warns=lambda scores: _is_narrow(scores.coverage_80),
        ),
    ),
    about="the same method on this history, made each day of the last four weeks as it was known then; "
    "an error of 1 is as good as saying: as yesterday",
    empty="The history is too short to judge a forecast by: 24 hours have to follow on two days of it.",
)  # fmt: skip
DAILY_SCORES = replace(
    SCORES,
    columns=(replace(SCORES.columns[0], text="Days ahead"), *SCORES.columns[1:]),
    about="the same method on this history, made each week as it was known then, up to 13 times; "
    "an error of 1 is as good as saying: as last week",
    empty="Not measured: history is too short. Four forecasts, a week apart, have to be followed by 28 days, on four "
    "weeks each: 77 days. How far to trust the interval is not known until then.",
)
EARLIER = Table[ForecastFact](
    "earlier",
    "Earlier forecasts against what came",
    (
        Column("starts_at", "From", lambda forecast: forecast.starts_at, DAY_OR_INSTANT,
               href=lambda forecast: reverse("forecast", args=[forecast.id])),
        Column("hours", "Hours that came", lambda forecast: forecast.realised_hours, COUNT, csv="realised_hours"),
        Column("error", "Mean error", lambda forecast: forecast.realised_error, FORECAST_FIGURE, csv="realised_error"),
        Column("reconciled_error", "Of what adds up", lambda forecast: forecast.realised_reconciled_error, FORECAST_FIGURE,
               csv="realised_reconciled_error", missing="–"),
        Column("mase", "Error (MASE)", lambda forecast: forecast.realised_mase, MASE, csv="realised_mase"),
        Column("coverage", "In the 80 % interval", lambda forecast: forecast.realised_coverage, RATIO,
               csv="realised_coverage_80",
               warns=lambda forecast: _is_narrow(forecast.realised_coverage)),
        Column("digest", "", lambda forecast: forecast.digest),
    ),
    noun=("forecast", "forecasts"),
    sort="earlier",
    per_page=14,
)  # fmt: skip
DAILY_EARLIER = replace(
    EARLIER,
    columns=tuple(
        replace(
            column,
            key="days",
            text="Days that came",
            csv="realised_days",
            value=lambda forecast: forecast.realised_hours // 24,
        )
        if column.key == "hours"
        else column
        for column in EARLIER.columns
    ),
)
MADE = Table[tuple[str, str]](
    "made",
    "How it was made",
    (
        Column("what", "What", lambda fact: fact[0]),
        Column("value", "Value", lambda fact: fact[1], WRAPPED),
    ),
)


def _error(name: str) -> Callable[[ReconciledWay], float | None]:
    return lambda way: getattr(way.errors.get(DAY_AHEAD), name, None)


def is_further_off(errors: LevelErrors | None) -> bool:
    """Whether reconciled forecasts missed by more than own ones did."""
    return (
        errors is not None
        and errors.own_error is not None
        and errors.reconciled_error is not None
        and errors.reconciled_error > errors.own_error
    )


WAYS = Table[ReconciledWay](
    "ways",
    "Hierarchical reconciliation",
    (
        Column("dimension", "Divided by", lambda way: words.WAYS[way.dimension],
               note=words.not_added_up),
        Column("parts", "Parts", lambda way: way.part_count, COUNT),
        Column("own", "Sum of their own forecasts", lambda way: way.own_total, FORECAST_FIGURE, missing="–"),
        Column("reconciled", "Reconciled", lambda way: way.reconciled_total, FORECAST_FIGURE, missing="–"),
        Column("rest", "Residual", lambda way: way.rest, FORECAST_FIGURE, missing="–", note=words.remainder_label),
        Column("own_error", "Errors of their own", _error("own_error"), FORECAST_FIGURE, missing="–"),
        Column(
            "reconciled_error", "Errors reconciled", _error("reconciled_error"), FORECAST_FIGURE, missing="–",
            warns=lambda way: is_further_off(way.errors.get(DAY_AHEAD))
            and "The own forecasts of the parts were closer",
        ),
        Column("own_coverage", "", _error("own_coverage"), RATIO),
        Column("reconciled_coverage", "", _error("reconciled_coverage"), RATIO),
        Column("why", "", words.not_added_up),
    ),
)  # fmt: skip
