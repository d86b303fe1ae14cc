"""The tables of forecasts."""

from collections.abc import Callable

from django.urls import reverse

from apps.console.kit.cells import COUNT, INSTANT, RATIO, TEXT, WRAPPED, Format
from apps.console.kit.table import Column, Table
from apps.console.pages.forecasts import words
from apps.economics.forecast.names import QUANTILE_LEVELS
from apps.planning.queries.forecasts import BacktestFact, ForecastFact, ForecastHour

DAY_AHEAD = 24
NARROW, WORSE = 0.7, 1.1
"""Coverage of an 80 % interval, and error over the best baseline's, from which on a cell warns."""
NUMBER = Format(lambda value, _: words.number(value), lambda value, _: repr(value), "number-cell")
MASE = Format(lambda value, _: f"{value:.2f}", lambda value, _: f"{value:.6f}", "number-cell")


def day_score(each: ForecastFact, name: str) -> float | None:
    """A figure of how its method did 24 hours ahead; None where that is not judged yet."""
    scores = each.backtest_of(DAY_AHEAD)
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


def _quantile_at(place: int) -> Callable[[ForecastHour], float | None]:
    return lambda hour: hour.quantiles[place] if hour.quantiles else None


SERIES = Table[ForecastFact](
    "series",
    "Series",
    (
        Column(
            "series",
            "Series",
            words.title_of,
            href=lambda each: reverse("forecast", args=[each.id]),
        ),
        Column("name", "", lambda each: each.name),
        Column("day_ahead", "First 24 hours", lambda each: each.day_ahead, NUMBER),
        Column("unit", "Unit", lambda each: each.unit),
        Column(
            "mase",
            "Error (MASE)",
            lambda each: day_score(each, "mase"),
            MASE,
            warns=lambda each: _is_worse(each.backtest_of(DAY_AHEAD)),
        ),
        Column(
            "baseline", "Best baseline", lambda each: day_score(each, "best_baseline_mase"), MASE
        ),
        Column(
            "coverage",
            "In the 80 % interval",
            lambda each: day_score(each, "coverage_80"),
            RATIO,
            csv="coverage_80",
            warns=lambda each: _is_narrow(day_score(each, "coverage_80")),
        ),
        Column("starts_at", "From", lambda each: each.starts_at, INSTANT),
        Column("digest", "", lambda each: each.digest),
    ),
    noun=("series", "series"),
    about="{said}; errors and coverage as measured 24 hours ahead over the last four weeks. "
    "An error of 1 is as good as saying: as yesterday",
    sort="sort",
)
HOURS = Table[ForecastHour](
    "hours",
    "Hour by hour",
    (
        Column("hour", "Hour", lambda hour: hour.hour, INSTANT),
        Column("value", "Expected", lambda hour: hour.value, NUMBER),
        *(
            Column(
                f"q{round(level * 100)}",
                {0.1: "Lower end (80 %)", 0.9: "Upper end (80 %)"}.get(level, ""),
                _quantile_at(place),
                NUMBER,
            )
            for place, level in enumerate(QUANTILE_LEVELS)
        ),
        Column("observed", "Came", lambda hour: hour.observed, NUMBER),
    ),
    noun=("hour", "hours"),
    sort="hours",
    per_page=48,
)
SCORES = Table[BacktestFact](
    "scores",
    "How far to trust it",
    (
        Column("horizon", "Hours ahead", lambda scores: scores.horizon, COUNT),
        Column("origins", "Forecasts judged", lambda scores: scores.origins, COUNT),
        Column("mase", "Error (MASE)", lambda scores: scores.mase, MASE, warns=_is_worse),
        Column("best", "Best baseline", lambda scores: scores.best_baseline.replace("_", " "), TEXT),
        Column("best_mase", "Its error", lambda scores: scores.best_baseline_mase, MASE),
        Column(
            "coverage", "In the 80 % interval", lambda scores: scores.coverage_80, RATIO,
            warns=lambda scores: _is_narrow(scores.coverage_80),
        ),
    ),
    about="the same method on this history, made each day of the last four weeks as it was known then; "
    "an error of 1 is as good as saying: as yesterday",
    empty="The history is too short to judge a forecast by: 24 hours have to follow on two days of it.",
)  # fmt: skip
EARLIER = Table[ForecastFact](
    "earlier",
    "Earlier forecasts against what came",
    (
        Column("starts_at", "From", lambda each: each.starts_at, INSTANT,
               href=lambda each: reverse("forecast", args=[each.id])),
        Column("hours", "Hours that came", lambda each: each.realised_hours, COUNT),
        Column("error", "Mean error", lambda each: each.realised_error, NUMBER),
        Column("mase", "Error (MASE)", lambda each: each.realised_mase, MASE),
        Column("coverage", "In the 80 % interval", lambda each: each.realised_coverage, RATIO,
               warns=lambda each: _is_narrow(each.realised_coverage)),
        Column("digest", "", lambda each: each.digest),
    ),
    noun=("forecast", "forecasts"),
    sort="earlier",
    per_page=14,
)  # fmt: skip
MADE = Table[tuple[str, str]](
    "made",
    "How it was made",
    (
        Column("what", "What", lambda fact: fact[0]),
        Column("value", "Value", lambda fact: fact[1], WRAPPED),
    ),
)
