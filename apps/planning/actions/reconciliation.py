"""Forecasts of the organisation and of its parts are made to add up; each keeps its own beside."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db import transaction

from apps.economics.forecast.parts import ForecastHierarchy, PartForecast
from apps.economics.hours import HOUR
from apps.ledger.queries.calendar import local_day
from apps.planning.models import Forecast, ForecastSeries, Granularity, Reconciliation
from apps.planning.queries.days import daily_history
from apps.planning.queries.forecasts import FALLBACKS, newest_id
from apps.planning.queries.history import SeriesHistory, key_of
from apps.planning.queries.series import DIMENSIONS_OF, WHOLE, SeriesKey, series_name

Reconciler = Callable[[ForecastHierarchy], Mapping[str, Any]]
"""Of a whole and its parts: `whole`, `ways` and `backtests`, as the solvers say them."""

LEAST_KNOWN = 9 * 24
"""Hours of a part, of those that the whole's history has: two days to begin with, and a week of errors."""
LATELY_HOURS = 7 * 24
FROM_A_FALLBACK = "too little of its history is known"
ENDED = "no hour of the last week is known"
WHOLE_IS_FALLBACK = "too little is known of the whole"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Part:
    """A forecast, when each of its steps begins (a number of hours, or of days), and the history before it."""

    row: Forecast
    starts: int
    values: list[float | None]

    @property
    def ends(self) -> int:
        return self.starts + self.row.horizon

    def within(self, starts: int, ends: int) -> PartForecast:
        """Its forecast of these steps."""
        span = slice(starts - self.starts, ends - self.starts)
        nothing: list[float | None] = [None] * self.row.horizon
        low, high = (self.row.quantiles[end] if self.row.quantiles else nothing for end in (0, -1))
        return PartForecast(self.values, self.row.points[span], low[span], high[span])


def reconcile_forecasts(
    histories_by_series: Mapping[SeriesKey, SeriesHistory],
    reconcilers: Mapping[str, Reconciler],
    at: datetime,
    zone: str,
) -> int:
    """Make the newest forecasts of each whole and its parts add up, by the hour and by day where each has a reconciler.

    Again where one of them was made since. How many wholes; one that breaks is in the log, and stops no other.
    """
    count = 0
    for granularity, reconciler in reconcilers.items():
        for measure, dimensions in DIMENSIONS_OF.items():
            if WHOLE not in dimensions:
                continue
            rows = _newest(measure, granularity)
            try:
                count += _reconcile(
                    SeriesKey(measure), rows, histories_by_series, reconciler, at, zone
                )
            except Exception:
                log.exception("reconciliation_failed measure=%s by=%s", measure, granularity)
    return count


def _newest(measure: str, granularity: str) -> dict[SeriesKey, Forecast]:
    ids = ForecastSeries.objects.filter(measure=measure).values_list(newest_id(granularity))
    rows = Forecast.objects.filter(pk__in=ids).select_related("series").defer("recent", "came")
    return {key_of(row.series): row for row in rows}


def _reconcile(
    key: SeriesKey,
    rows: Mapping[SeriesKey, Forecast],
    histories_by_series: Mapping[SeriesKey, SeriesHistory],
    reconciler: Reconciler,
    at: datetime,
    zone: str,
) -> bool:
    total_forecast = rows.get(key)
    if total_forecast is None or key not in histories_by_series or len(rows) == 1:
        return False
    before = Reconciliation.objects.filter(whole=total_forecast).first()
    if before is not None and before.made_at >= max(row.made_at for row in rows.values()):
        return False
    parts, left_out = _parts_of(total_forecast, rows, histories_by_series, zone)
    ways = {name: {"refusal": WHOLE_IS_FALLBACK} for name in {*parts, *left_out}}
    top = parts.pop(WHOLE, [])
    if total_forecast.method in FALLBACKS or not top:
        _keep(total_forecast, {}, {name: way for name, way in ways.items() if name}, [], at)
        return True
    everyone = [*top, *(part for of_way in parts.values() for part in of_way)]
    starts, ends = max(part.starts for part in everyone), min(part.ends for part in everyone)
    hierarchy = ForecastHierarchy(
        top[0].within(starts, ends),
        {name: [part.within(starts, ends) for part in of_way] for name, of_way in parts.items()},
        starts - top[0].starts,
    )
    answer = reconciler(hierarchy)
    points = {top[0].row.pk: _placed(top[0], starts, answer["whole"])}
    for name, of_way in parts.items():
        points |= {
            part.row.pk: _placed(part, starts, values)
            for part, values in zip(of_way, answer["ways"][name]["parts"], strict=False)
        }
    way_documents = {
        name: {
            "refusal": answer["ways"][name]["refusal"] if name in parts else FROM_A_FALLBACK,
            "parts": [part.row.pk for part in parts.get(name, ())],
            "left_out": left_out.get(name, []),
            "rest": answer["ways"][name]["rest"] if name in parts else None,
        }
        for name in sorted({*parts, *left_out})
    }
    _keep(
        total_forecast,
        points,
        way_documents,
        answer["backtests"],
        at,
        (starts - top[0].starts, ends - starts),
    )
    return True


def _parts_of(
    total_forecast: Forecast,
    rows: Mapping[SeriesKey, Forecast],
    histories_by_series: Mapping[SeriesKey, SeriesHistory],
    zone: str,
) -> tuple[dict[str, list[_Part]], dict[str, list[dict[str, str]]]]:
    """By dimension those that are added up, the whole among them, and those that are not with why."""
    parts: dict[str, list[_Part]] = {}
    left_out: dict[str, list[dict[str, str]]] = {}
    part_maker = _daily_part if total_forecast.granularity == Granularity.DAY else _hourly_part
    for key, row in sorted(rows.items()):
        part = part_maker(row, total_forecast, histories_by_series, zone)
        why = FROM_A_FALLBACK if row.method in FALLBACKS else _why_left_out(part)
        if part is None or why:
            left_out.setdefault(key.dimension, []).append({"series": series_name(key), "why": why})
        else:
            parts.setdefault(key.dimension, []).append(part)
    return parts, left_out


def _why_left_out(part: _Part | None) -> str:
    if part is None:
        return ENDED
    step = 24 if part.row.granularity == Granularity.DAY else 1
    if not _count(part.values[-LATELY_HOURS // step :]):
        return ENDED
    return FROM_A_FALLBACK if _count(part.values) * step < LEAST_KNOWN else ""


def _count(values: Sequence[float | None]) -> int:
    return sum(value is not None for value in values)


def _hourly_part(
    row: Forecast,
    total_forecast: Forecast,
    histories_by_series: Mapping[SeriesKey, SeriesHistory],
    zone: str,
) -> _Part | None:
    history, of_whole = (
        histories_by_series.get(key_of(row.series)),
        histories_by_series[key_of(total_forecast.series)],
    )
    if history is None:
        return None
    first = (of_whole.starts_at - history.starts_at) // HOUR
    count = (total_forecast.starts_at - of_whole.starts_at) // HOUR
    values = [history.value_at(first + place) for place in range(count)]
    return _Part(row, (row.starts_at - total_forecast.starts_at) // HOUR, values)


def _daily_part(
    row: Forecast,
    total_forecast: Forecast,
    histories_by_series: Mapping[SeriesKey, SeriesHistory],
    zone: str,
) -> _Part | None:
    history = histories_by_series.get(key_of(row.series))
    days = None if history is None else daily_history(history, zone)
    if days is None:
        return None
    first, starts = (
        local_day(total_forecast.history_from, zone),
        local_day(total_forecast.starts_at, zone),
    )
    values = [days.value_on(day) for day in _days(first, starts)]
    return _Part(row, (local_day(row.starts_at, zone) - starts).days, values)


def _days(first: date, end: date) -> Iterator[date]:
    return (first + timedelta(days=place) for place in range((end - first).days))


def _placed(part: _Part, starts: int, values: Sequence[float]) -> list[float | None]:
    """Reconciled values where the forecast has its own, None where not all are forecast."""
    before = starts - part.starts
    after = part.row.horizon - before - len(values)
    return [*[None] * before, *values, *[None] * after]


@transaction.atomic
def _keep(
    total_forecast: Forecast,
    points: Mapping[int, list[float | None]],
    ways: Mapping[str, Any],
    backtests: Sequence[Any],
    at: datetime,
    span: tuple[int, int] = (0, 0),
) -> None:
    Forecast.objects.filter(adds_up_to=total_forecast).update(adds_up_to=None, reconciled=[])
    for pk, values in points.items():
        Forecast.objects.filter(pk=pk).update(adds_up_to=total_forecast, reconciled=values)
    offset, horizon = span
    Reconciliation.objects.update_or_create(
        whole=total_forecast,
        defaults={
            "made_at": at,
            "offset": offset,
            "horizon": horizon,
            "ways": ways,
            "backtests": backtests,
        },
    )
