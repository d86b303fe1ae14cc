"""The forecasts that were made, for those who may see their series."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Subquery

from apps.accounts.queries import organisation
from apps.economics.forecast.names import BASELINES, RUNRATE
from apps.economics.hours import HOUR
from apps.planning.models import Forecast, ForecastMethod, ForecastSeries
from apps.planning.queries.history import key_of
from apps.planning.queries.series import (
    QUEUE_WAIT,
    SeriesKey,
    is_seen,
    name_of_key,
    series_name,
    unit_of,
)

LAST_VALUE = str(ForecastMethod.LAST_VALUE)
NEWEST = Subquery(
    Forecast.objects.filter(series=OuterRef("pk")).order_by("-starts_at").values("pk")[:1]
)
"""The newest forecast of each series, found one by one: together they have a hundred thousand rows."""


@dataclass(frozen=True, slots=True)
class BacktestFact:
    """How the method did on the history of its series: errors are MASE, None where nothing has a scale."""

    horizon: int
    origins: int
    mase: float | None
    best_baseline: str
    best_baseline_mase: float | None
    coverage_80: float | None
    wql: float | None


@dataclass(frozen=True, slots=True)
class ForecastFact:
    """A forecast without its hours; see the table for what each field is.

    `day_ahead` is the sum of its first 24 hours, of waits their mean.
    """

    id: int
    series: SeriesKey
    made_at: datetime
    starts_at: datetime
    horizon: int
    method: str
    refusal: str
    digest: str
    history_from: datetime
    observed_hours: int
    imported_hours: int
    left_out_hours: int
    queue: str
    scale: float | None
    weights: dict[str, float]
    backtests: tuple[BacktestFact, ...]
    realised_hours: int
    realised_error: float | None
    realised_coverage: float | None
    day_ahead: float

    @property
    def name(self) -> str:
        """Of its series, as commands take it."""
        return series_name(self.series)

    @property
    def of(self) -> str:
        """The pool, team, service, model or class; empty of the organisation."""
        return name_of_key(self.series)

    @property
    def unit(self) -> str:
        """What its values are in, for each hour."""
        return unit_of(self.series.measure, organisation().currency)

    @property
    def realised_mase(self) -> float | None:
        """The error of what came over the mean difference of hours a day apart; None of a series that never moves."""
        if self.realised_error is None or not self.scale:
            return None
        return self.realised_error / self.scale

    def backtest_of(self, horizon: int) -> BacktestFact | None:
        """The scores so many hours ahead; None where the history was too short."""
        return next((each for each in self.backtests if each.horizon == horizon), None)


@dataclass(frozen=True, slots=True)
class ForecastHour:
    """An hour of a forecast; `quantiles` are of QUANTILE_LEVELS, None without an interval; `observed` came since."""

    hour: datetime
    value: float
    quantiles: tuple[float | None, ...]
    observed: float | None


@dataclass(frozen=True, slots=True)
class ForecastHours:
    """All hours of a forecast, and the `recent` ones before it; None is not known."""

    forecast: ForecastFact
    hours: tuple[ForecastHour, ...]
    recent: tuple[tuple[datetime, float | None], ...]


def forecasts(
    team_ids: frozenset[int] | None, series: SeriesKey | None = None
) -> list[ForecastFact]:
    """The newest forecast of each series that these teams (None: who sees everything) may see, by series.

    With `series` all that were made of that one, the newest first.
    """
    rows = Forecast.objects.select_related("series").defer("quantiles", "recent", "came")
    if series is None:
        rows = rows.filter(pk__in=ForecastSeries.objects.values_list(NEWEST))
    else:
        of_series = {"measure": series.measure, "dimension": series.dimension, "key": series.key}
        rows = rows.filter(**{f"series__{name}": value for name, value in of_series.items()})
    found = [forecast_fact(row) for row in rows if is_seen(key_of(row.series), team_ids)]
    return sorted(found, key=lambda each: (each.series, -each.starts_at.timestamp()))


def forecast_hours(forecast_id: int, team_ids: frozenset[int] | None) -> ForecastHours | None:
    """One with its hours; None where there is none that these teams may see."""
    row = Forecast.objects.select_related("series").filter(pk=forecast_id).first()
    if row is None or not is_seen(key_of(row.series), team_ids):
        return None
    levels = list(zip(*row.quantiles, strict=True)) or [()] * row.horizon
    came = row.came or [None] * row.horizon
    hours = tuple(
        ForecastHour(row.starts_at + lead * HOUR, value, tuple(levels[lead]), came[lead])
        for lead, value in enumerate(row.points)
    )
    first = row.starts_at - len(row.recent) * HOUR
    recent = tuple((first + place * HOUR, value) for place, value in enumerate(row.recent))
    return ForecastHours(forecast_fact(row), hours, recent)


def forecast_fact(row: Forecast) -> ForecastFact:
    """A row without its hours."""
    derived: dict[str, Any] = {
        "series": key_of(row.series),
        "backtests": tuple(map(_backtest_fact, row.backtests)),
        "day_ahead": _day_ahead(row),
    }
    names = [name for name in ForecastFact.__slots__ if name not in derived]
    return ForecastFact(**derived, **{name: getattr(row, name) for name in names})


def _day_ahead(row: Forecast) -> float:
    hours = row.points[:24]
    total = sum(hours)
    return total / len(hours) if row.series.measure == QUEUE_WAIT else total


def _backtest_fact(scores: dict[str, Any]) -> BacktestFact:
    baselines = {
        name: scores["mase"][name] for name in BASELINES if scores["mase"][name] is not None
    }
    best = min(baselines, key=baselines.__getitem__, default="")
    return BacktestFact(
        horizon=scores["horizon"],
        origins=scores["origins"],
        mase=scores["mase"][RUNRATE],
        best_baseline=best,
        best_baseline_mase=baselines.get(best),
        coverage_80=scores["coverage_80"],
        wql=scores["wql"],
    )
