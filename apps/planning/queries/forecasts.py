"""The forecasts that were made, for those who may see their series."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import inf
from typing import Annotated, Any

from django.db.models import OuterRef, Subquery

from apps.accounts.queries import organisation
from apps.economics.forecast.names import RUNRATE
from apps.economics.gates import Gate, read_gates
from apps.economics.hours import DAY_HOURS, HOUR, WEEK_HOURS, first_hour
from apps.ledger.queries.calendar import local_day, next_month
from apps.planning.models import Forecast, ForecastMethod, ForecastSeries, Granularity
from apps.planning.queries.history import key_of
from apps.planning.queries.series import (
    QUEUE_WAIT,
    SeriesKey,
    is_series_visible,
    name_of_key,
    series_name,
    unit_of,
)
from apps.show.entries import Entry, Ratio

FALLBACKS = {
    str(method): method.label for method in (ForecastMethod.LAST_VALUE, ForecastMethod.LAST_WEEK)
}
LEVEL_SCENARIOS = str(ForecastMethod.LEVEL_SCENARIOS)
BASELINE = str(ForecastMethod.BASELINE)
BY_HOUR, BY_DAY = str(Granularity.HOUR), str(Granularity.DAY)
GRANULARITIES = (BY_HOUR, BY_DAY)
TOTALS_OF = (DAY_HOURS, WEEK_HOURS, 2 * WEEK_HOURS)

_METHOD = Entry(
    help="weighted_median or level_scenarios; baseline where its best baseline did better before; "
    "last_value and last_week are fallbacks"
)


@dataclass(frozen=True, slots=True)
class BacktestFact:
    """How the method did on the history of its series: errors are MASE, None where nothing has a scale."""

    horizon: int
    origins: int
    mase: Ratio | None
    best_baseline: str
    best_baseline_mase: Ratio | None
    coverage_80: Ratio | None
    wql: Ratio | None


@dataclass(frozen=True, slots=True)
class ForecastMonth:
    """A month's total of a forecast by day, of waits the mean; `is_whole` where all its days lie ahead.

    `quantiles` are of QUANTILE_LEVELS, none without an interval. It is what can be held; `waiting` is expected beyond that.
    """

    month: date
    days: int
    is_whole: bool
    value: float
    quantiles: tuple[float, ...]
    waiting: float = 0.0


@dataclass(frozen=True, slots=True)
class ForecastTotal:
    """The total of the first `hours` of a forecast, of waits their mean, with the 80 % interval of such totals.

    `waiting` is what is expected beyond what can be held. Quantiles of the total, never sums of those of hours.
    """

    hours: int
    value: Annotated[float, Entry(help="what can be held of it")]
    low: float | None
    high: float | None
    waiting: Annotated[float, Entry(help="expected beyond what can be held")]


@dataclass(frozen=True, slots=True)
class ForecastEvent:
    """An event that a forecast knew of, and how many of its days lay before and ahead."""

    id: int
    name: str
    kind: str
    first_day: date
    last_day: date | None
    effect: str
    factor: float | None
    added: float | None
    days_before: int
    days_ahead: int


@dataclass(frozen=True, slots=True)
class LevelShift:
    """The last day on which a new level of the history began, and by what share it differs from the one before."""

    on: date
    effect: float


@dataclass(frozen=True, slots=True)
class ForecastFact:
    """A forecast without its hours; see the table for what each field is.

    `day_ahead` is the sum of its first 24 hours, of waits their mean; `horizon` counts hours, or days of one by day.
    """

    id: int
    granularity: Annotated[str, Entry(choices=GRANULARITIES)]
    series: SeriesKey
    made_at: datetime
    starts_at: datetime
    horizon: int
    method: Annotated[str, _METHOD]
    refusal: str
    digest: str
    history_from: datetime
    observed_hours: int
    imported_hours: int
    left_out_hours: int
    queue: Annotated[str, Entry(help="known, in_part, unknown; empty but of GPU-hours")]
    scale: float | None
    weights: dict[str, float]
    backtests: tuple[BacktestFact, ...]
    events: tuple[ForecastEvent, ...]
    realised_hours: int
    realised_error: float | None
    realised_coverage: float | None
    realised_reconciled_error: Annotated[
        float | None, Entry(help="of the reconciled values, in unit")
    ]
    adds_up_to_id: int | None
    day_ahead: float
    day_ahead_reconciled: float | None
    shift: LevelShift | None
    months: tuple[ForecastMonth, ...]
    totals: tuple[ForecastTotal, ...]
    gates: tuple[Gate, ...]

    @property
    def is_daily(self) -> bool:
        """Whether it has a value for each day, not hour."""
        return self.granularity == BY_DAY

    @property
    def horizon_hours(self) -> int:
        """Its hours; a day counts 24 of them."""
        return self.horizon * (24 if self.is_daily else 1)

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
        """Return the unit of the forecast's values, for each hour."""
        return unit_of(self.series.measure, organisation().currency)

    @property
    def realised_mase(self) -> float | None:
        """The error of what came over the mean difference of hours a day apart; None of a series that never moves."""
        if self.realised_error is None or not self.scale:
            return None
        return self.realised_error / self.scale

    def backtest_of(self, horizon: int) -> BacktestFact | None:
        """The scores so many hours ahead; None where the history was too short."""
        return next((backtest for backtest in self.backtests if backtest.horizon == horizon), None)


@dataclass(frozen=True, slots=True)
class ForecastHour:
    """An hour of a forecast, or a day by its first hour; `quantiles` are of QUANTILE_LEVELS, None without an interval.

    `value` is what can be held of demand, `waiting` the rest, `expected` the mean of the paths: that adds up to totals; None
    without one. `reconciled` is what the value becomes so that parts add up, None where not all are forecast. `observed` came
    since.
    """

    hour: datetime
    value: float
    waiting: float
    expected: float | None
    reconciled: float | None
    quantiles: tuple[float | None, ...]
    observed: float | None


@dataclass(frozen=True, slots=True)
class ForecastHours:
    """All hours of a forecast, and the `recent` ones before it; None is not known."""

    forecast: ForecastFact
    hours: tuple[ForecastHour, ...]
    recent: tuple[tuple[datetime, float | None], ...]


def forecasts(
    team_ids: frozenset[int] | None,
    series: SeriesKey | None = None,
    granularity: str = BY_HOUR,
) -> list[ForecastFact]:
    """The newest forecast of each series that these teams (None: who sees everything) may see, by series.

    With `series` all that were made of that one, the newest first.
    """
    # The sums of one by day are large, and nobody asks for them here.
    unread = ["quantiles", "recent", "came", *(["sums"] if granularity == BY_DAY else [])]
    rows = Forecast.objects.select_related("series").defer(*unread)
    if series is None:
        rows = rows.filter(pk__in=ForecastSeries.objects.values_list(newest_id(granularity)))
    else:
        of_series = {"measure": series.measure, "dimension": series.dimension, "key": series.key}
        rows = rows.filter(**{f"series__{name}": value for name, value in of_series.items()})
    facts = [
        forecast_fact(row)
        for row in rows.filter(granularity=granularity)
        if is_series_visible(key_of(row.series), team_ids)
    ]
    return sorted(facts, key=lambda fact: (fact.series, -fact.starts_at.timestamp()))


def newest_forecasts(series: SeriesKey) -> dict[str, int]:
    """By granularity the id of the newest forecast of a series; one that there is none of is not there."""
    rows = ForecastSeries.objects.filter(
        measure=series.measure, dimension=series.dimension, key=series.key
    )
    (newest_ids,) = rows.values_list(*map(newest_id, GRANULARITIES)) or [(None, None)]
    return {name: pk for name, pk in zip(GRANULARITIES, newest_ids, strict=True) if pk is not None}


def forecast_hours(
    forecast_id: int, team_ids: frozenset[int] | None, granularity: str = ""
) -> ForecastHours | None:
    """One with its hours, or days; None where there is none (of this granularity) that these teams may see."""
    row = Forecast.objects.select_related("series").filter(pk=forecast_id).first()
    if row is None or not is_series_visible(key_of(row.series), team_ids):
        return None
    if granularity not in ("", row.granularity):
        return None
    room = row.capacity or [inf] * row.horizon
    levels = list(zip(*row.quantiles, strict=True)) or [()] * row.horizon
    held_values: list[float | None] = [*clip_to_capacity(row.expected, row.capacity)]
    expected = held_values or [None] * row.horizon
    actual_values = [*row.came, *[None] * (row.horizon - len(row.came))]
    reconciled = row.reconciled or [None] * row.horizon
    begins = _beginnings(row, -len(row.recent), row.horizon)
    ahead = begins[len(row.recent) :]
    hours = tuple(
        ForecastHour(
            ahead[lead],
            min(value, room[lead]),
            max(0.0, value - room[lead]),
            expected[lead],
            _bounded_value(reconciled[lead], room[lead]),
            tuple(_bounded_value(level, room[lead]) for level in levels[lead]),
            actual_values[lead],
        )
        for lead, value in enumerate(row.points)
    )
    return ForecastHours(forecast_fact(row), hours, tuple(zip(begins, row.recent, strict=False)))


def _bounded_value(value: float | None, most: float) -> float | None:
    return None if value is None else min(value, most)


def clip_to_capacity(values: Sequence[float], capacity: Sequence[float]) -> list[float]:
    """Return what can be held of each value; all of it where nothing bounds it."""
    if not capacity:
        return [*values]
    return [min(value, most) for value, most in zip(values, capacity, strict=False)]


def stored_reconciled_values(
    series: SeriesKey, granularity: str, digest: str, horizon: int
) -> list[float | None]:
    """The reconciled values of the newest forecast kept, if it was made of these very values; else None for each step."""
    rows = Forecast.objects.filter(
        series__measure=series.measure, series__dimension=series.dimension, series__key=series.key
    )
    newest = rows.filter(granularity=granularity).order_by("-starts_at").first()
    reconciled_values = newest.reconciled if newest is not None and newest.digest == digest else []
    return [*reconciled_values[:horizon], *[None] * (horizon - len(reconciled_values))]


def newest_id(granularity: str, until: datetime | None = None) -> Subquery:
    """The newest forecast of each series that begins by `until`, found one by one: together they have a hundred thousand rows."""
    of_series = Forecast.objects.filter(series=OuterRef("pk"), granularity=granularity)
    if until is not None:
        of_series = of_series.filter(starts_at__lte=until)
    return Subquery(of_series.order_by("-starts_at").values("pk")[:1])


def _beginnings(row: Forecast, first: int, end: int) -> list[datetime]:
    """When each hour or local day begins, from so many before its first on."""
    if row.granularity == BY_HOUR:
        return [row.starts_at + place * HOUR for place in range(first, end)]
    zone = organisation().zone
    day = local_day(row.starts_at, zone)
    return [first_hour(day + timedelta(days=place), zone) for place in range(first, end)]


def forecast_fact(row: Forecast) -> ForecastFact:
    """A row without its hours."""
    derived: dict[str, Any] = {
        "series": key_of(row.series),
        "backtests": backtests_of(row),
        "day_ahead": _day_ahead(row, clip_to_capacity(row.expected or row.points, row.capacity)),
        "day_ahead_reconciled": _day_ahead(row, row.reconciled) if row.reconciled else None,
        "shift": row.shift and LevelShift(date.fromisoformat(row.shift["on"]), row.shift["effect"]),
        "months": tuple(map(_month_fact, row.months)),
        "totals": () if row.granularity == BY_DAY else tuple(_totals_of(row)),
        "gates": read_gates(row.gates),
        "events": tuple(map(_event_fact, row.events)),
    }
    names = [name for name in ForecastFact.__slots__ if name not in derived]
    return ForecastFact(**derived, **{name: getattr(row, name) for name in names})


def _totals_of(row: Forecast) -> Iterator[ForecastTotal]:
    """Of the first day, week and two weeks, as far as it has them; none of a forecast without paths."""
    held_values = clip_to_capacity(row.expected, row.capacity)
    for hours in TOTALS_OF:
        if hours > len(held_values):
            return
        count = hours if row.series.measure == QUEUE_WAIT else 1
        room = sum(row.capacity[:hours]) if row.capacity else inf
        place = hours // DAY_HOURS - 1
        ends = [min(row.sums[level][place], room) / count for level in (0, -1)] if row.sums else ()
        low, high = ends or (None, None)
        waiting = sum(row.expected[:hours]) - sum(held_values[:hours])
        yield ForecastTotal(hours, sum(held_values[:hours]) / count, low, high, waiting)


def _month_fact(document: dict[str, Any]) -> ForecastMonth:
    month = date.fromisoformat(document["month"])
    is_whole = document["days"] == (next_month(month) - month).days
    return ForecastMonth(
        month,
        document["days"],
        is_whole,
        document["value"],
        tuple(document["quantiles"]),
        document.get("waiting", 0.0),
    )


def _event_fact(document: dict[str, Any]) -> ForecastEvent:
    last = document["last_day"]
    days: dict[str, Any] = {
        "first_day": date.fromisoformat(document["first_day"]),
        "last_day": None if last is None else date.fromisoformat(last),
    }
    return ForecastEvent(**{**document, **days})


def _day_ahead(row: Forecast, values: Sequence[float | None]) -> float:
    """Of the hours that have a value; a reconciled one may begin some hours later, which count as they are forecast."""
    hours = [
        row.points[place] if value is None else value for place, value in enumerate(values[:24])
    ]
    total = sum(hours)
    return total / len(hours) if row.series.measure == QUEUE_WAIT else total


def backtests_of(row: Forecast) -> tuple[BacktestFact, ...]:
    """How its method did on the history before it."""
    return tuple(map(_backtest_fact, row.backtests))


def _backtest_fact(scores: dict[str, Any]) -> BacktestFact:
    others = {name: score for name, score in scores["mase"].items() if name != RUNRATE}
    baselines = {name: score for name, score in others.items() if score is not None}
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
