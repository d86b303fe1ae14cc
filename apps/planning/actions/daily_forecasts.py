"""Forecasts by day: the days of a history are kept, and months ahead are forecast from them, begun with what the hours say."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from django.db import connection, transaction

from apps.accounts.queries import organisation
from apps.economics.forecast.hour_paths import BegunDays, DayOfHours, HourPaths
from apps.economics.hours import HOUR, first_hour
from apps.ledger.queries.calendar import next_month
from apps.planning.actions.methods import (
    DailyMaker,
    are_same_events,
    attempted_fields,
    bounded_by_capacity,
    dated_shift,
    newest_forecast,
)
from apps.planning.actions.realised import realise_days
from apps.planning.models import Forecast, ForecastPaths, ForecastSeries, Granularity
from apps.planning.queries.capacity_places import has_paths
from apps.planning.queries.days import DAY, DailyHistory, daily_history, measured_days
from apps.planning.queries.events import DemandEventFact, effects_of_days, events_to_store
from apps.planning.queries.forecasts import clip_to_capacity
from apps.planning.queries.history import SeriesHistory
from apps.planning.queries.room import RoomAhead
from apps.planning.queries.series import QUEUE_WAIT

DAYS_AHEAD = 548
KEPT_EVERY = timedelta(days=7)
"""The newest is made anew with each one by the hour; of those before one a week stays."""
RECENT_DAYS = 180
KEEP_DAYS = """
INSERT INTO planning_historyday (series_id, day, value)
SELECT %(series)s, day, value FROM unnest(%(days)s::date[], %(values)s::float8[]) AS known (day, value)
ON CONFLICT (series_id, day) DO UPDATE SET value = excluded.value
WHERE planning_historyday.value IS DISTINCT FROM excluded.value
"""


@dataclass(frozen=True, slots=True)
class HourlyForecastPaths:
    """The paths of the forecast by the hour of the same history, and whether it was made just now."""

    paths: Callable[[], HourPaths | None]
    is_new: bool


@transaction.atomic
def make_daily_forecast(
    history: SeriesHistory,
    events: Sequence[DemandEventFact],
    maker: DailyMaker,
    room: RoomAhead,
    zone: str,
    hours: HourlyForecastPaths | None = None,
) -> bool:
    """Keep the days of a history, hold forecasts by day against them, and make one where a day has passed.

    Or where the one by the hour is new (`hours`, whose paths its first days are), events changed, a fallback stands there, or
    scenarios of it are to be kept and are not. It takes the place of the last, but for one a week. False where none was made.
    """
    at = room.at
    row = ForecastSeries.objects.get(**asdict(history.series))
    _keep_days(row, measured_days(history, zone))
    days = daily_history(history, zone)
    if days is None:
        return False
    realise_days(row, days, at, zone)
    starts_at, end = first_hour(days.ends_on, zone), days.ends_on + DAYS_AHEAD * DAY
    event_documents = events_to_store(events, days.first_day, days.ends_on, end)
    last = newest_forecast(row, Granularity.DAY)
    if last is not None:
        is_kept = ForecastPaths.objects.filter(forecast=last).exists()
        lacks_paths = has_paths(history.series) and not is_kept
        is_new = hours is not None and hours.is_new
        is_due = (
            is_new
            or not are_same_events(last.events, event_documents)
            or last.digest != days.digest
        )
        if last.starts_at > starts_at or not (is_due or (lacks_paths and not last.refusal)):
            return False
    paths_of_hours = None if hours is None else hours.paths()
    method = begun_with(maker, history, days, paths_of_hours, room)
    fields = daily_fields(history, days, events, method, room)
    paths = fields.pop("paths", b"")
    _move_last(row, last, starts_at)
    forecast, _ = Forecast.objects.update_or_create(
        series=row,
        granularity=Granularity.DAY,
        starts_at=starts_at,
        defaults={**_daily_inputs(history, days, at, zone), **fields, "events": event_documents},
    )
    ForecastPaths.objects.filter(series=row).delete()
    if paths and has_paths(history.series):
        ForecastPaths.objects.create(series=row, forecast=forecast, totals=paths)
    return True


def daily_fields(
    history: SeriesHistory,
    days: DailyHistory,
    events: Sequence[DemandEventFact],
    maker: DailyMaker,
    room: RoomAhead,
    horizon: int = DAYS_AHEAD,
) -> dict[str, Any]:
    """Return what the method says of the days ahead, from those before as they were without events; months have their names."""
    before = effects_of_days(events, days.first_day, len(days.values))
    ordinary = [effect.ordinary(value) for value, effect in zip(days.values, before, strict=True)]
    values = ordinary if any(value is not None for value in ordinary) else days.values
    ahead = effects_of_days(events, days.ends_on, horizon)
    months = _months_ahead(days.ends_on, horizon)
    zone = organisation().zone
    begins = [first_hour(days.ends_on + place * DAY, zone) for place in range(horizon + 1)]
    capacity = room.of_days(history.series, begins)
    fields = attempted_fields(
        lambda: maker(
            values,
            ahead,
            [end for _, end in months],
            is_mean=history.series.measure == QUEUE_WAIT,
            capacity=capacity,
        ),
        history.series,
        next(value for value in reversed(days.values) if value is not None),
        horizon,
    )
    fields["shift"] = dated_shift(fields["shift"], lambda place: days.first_day + place * DAY)
    room_by_hours = fields.pop("room", capacity)
    fields |= bounded_by_capacity(fields, history.series, capacity)
    if fields["capacity"]:
        fields["capacity"] = room_by_hours
    fields["months"] = [
        {"month": month.isoformat(), **figures}
        for (month, _), figures in zip(months, fields["months"], strict=False)
    ]
    return fields


def _months_ahead(first: date, horizon: int) -> list[tuple[date, int]]:
    """The first day of each month ahead, and the number of days ahead until it is over, or the horizon."""
    months, month = [], first.replace(day=1)
    while month < first + horizon * DAY:
        months.append((month, min(horizon, (next_month(month) - first).days)))
        month = next_month(month)
    return months


def begun_with(
    maker: DailyMaker,
    history: SeriesHistory,
    days: DailyHistory,
    hours: HourPaths | None,
    room: RoomAhead,
    horizon: int = DAYS_AHEAD,
) -> DailyMaker:
    """The method, begun with what a forecast by the hour of the same history says of the days that it has whole."""
    if hours is None:
        return maker
    zone = organisation().zone
    day_hours = []
    for place in range(horizon):
        begin, end = (first_hour(days.ends_on + (place + more) * DAY, zone) for more in (0, 1))
        first, last = ((moment - history.ends_at) // HOUR for moment in (begin, end))
        if last > len(hours.expected):
            break
        count = len(history.values)
        before = history.values[max(0, count + min(first, 0)) : count + min(last, 0)]
        actual_values = [value for value in before if value is not None]
        # A day of which an hour is not known stays as days say it.
        if last > 0 and len(actual_values) == -min(first, 0):
            held_values = clip_to_capacity(
                actual_values, room.of_hours(history.series, begin, len(actual_values))
            )
            day_hours.append(
                DayOfHours(
                    place,
                    max(first, 0),
                    last,
                    sum(actual_values),
                    len(actual_values),
                    sum(held_values),
                )
            )
    return partial(maker, begun=BegunDays(hours, day_hours))


def _move_last(row: ForecastSeries, last: Forecast | None, starts_at: datetime) -> None:
    """The newest forecast, moved to begin where the next one does, unless it is to stay: the first, and one a week after it."""
    if last is None or last.starts_at == starts_at:
        return
    of_days = Forecast.objects.filter(series=row, granularity=Granularity.DAY)
    before = of_days.filter(starts_at__lt=last.starts_at).order_by("-starts_at").first()
    if before is not None and last.starts_at < before.starts_at + KEPT_EVERY:
        of_days.filter(pk=last.pk).update(starts_at=starts_at)


def _keep_days(row: ForecastSeries, totals: dict[date, float]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            KEEP_DAYS,
            {"series": row.pk, "days": list(totals), "values": list(totals.values())},
        )


def _daily_inputs(
    history: SeriesHistory, days: DailyHistory, at: datetime, zone: str
) -> dict[str, Any]:
    return {
        "made_at": at,
        "digest": days.digest,
        "history_from": first_hour(days.first_day, zone),
        "observed_hours": days.hours,
        "imported_hours": history.imported,
        "left_out_hours": history.left_out,
        "queue": history.queue,
        "recent": days.values[-RECENT_DAYS:],
        "came": [],
        "realised_hours": 0,
        "realised_error": None,
        "reconciled": [],
        "adds_up_to": None,
        "realised_reconciled_error": None,
        "realised_coverage": None,
    }
