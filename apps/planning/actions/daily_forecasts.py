"""Forecasts by day: the days of a history are kept, and each week months ahead are forecast from them."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date, datetime, timedelta
from typing import Any

from django.db import connection, transaction

from apps.accounts.queries import organisation
from apps.economics.hours import first_hour
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
from apps.planning.queries.events import DemandEventFact, effects_of_days, kept_events
from apps.planning.queries.history import SeriesHistory
from apps.planning.queries.room import RoomAhead
from apps.planning.queries.series import QUEUE_WAIT

DAYS_AHEAD = 548
MADE_EVERY = timedelta(days=7)
RECENT_DAYS = 180
KEEP_DAYS = """
INSERT INTO planning_historyday (series_id, day, value)
SELECT %(series)s, day, value FROM unnest(%(days)s::date[], %(values)s::float8[]) AS known (day, value)
ON CONFLICT (series_id, day) DO UPDATE SET value = excluded.value
WHERE planning_historyday.value IS DISTINCT FROM excluded.value
"""


@transaction.atomic
def make_daily_forecast(
    history: SeriesHistory,
    events: Sequence[DemandEventFact],
    maker: DailyMaker,
    room: RoomAhead,
    zone: str,
) -> bool:
    """Keep the days of a history, hold forecasts by day against them, and make one where a week has passed.

    Or where events changed, a fallback stands there, or scenarios of it are to be kept and are not. False where none was
    made.
    """
    at = room.at
    row = ForecastSeries.objects.get(**asdict(history.series))
    _keep_days(row, measured_days(history, zone))
    days = daily_history(history, zone)
    if days is None:
        return False
    realise_days(row, days, at, zone)
    starts_at, end = first_hour(days.ends_on, zone), days.ends_on + DAYS_AHEAD * DAY
    kept = kept_events(events, days.first_day, days.ends_on, end)
    last = newest_forecast(row, Granularity.DAY)
    if last is not None:
        is_kept = ForecastPaths.objects.filter(forecast=last).exists()
        lacks_paths = has_paths(history.series) and not is_kept
        if not _is_due(last, days, starts_at, kept, lacks_paths=lacks_paths):
            return False
    fields = daily_fields(history, days, events, maker, room)
    paths = fields.pop("paths", b"")
    made, _ = Forecast.objects.update_or_create(
        series=row,
        granularity=Granularity.DAY,
        starts_at=starts_at,
        defaults={**_daily_inputs(history, days, at, zone), **fields, "events": kept},
    )
    ForecastPaths.objects.filter(series=row).delete()
    if paths and has_paths(history.series):
        ForecastPaths.objects.create(series=row, forecast=made, totals=paths)
    return True


def daily_fields(
    history: SeriesHistory,
    days: DailyHistory,
    events: Sequence[DemandEventFact],
    maker: DailyMaker,
    room: RoomAhead,
    horizon: int = DAYS_AHEAD,
) -> dict[str, Any]:
    """What the method says of the days ahead, from what those before were without events; months have their names."""
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
    fields |= bounded_by_capacity(fields, history.series, capacity)
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


def _is_due(
    last: Forecast,
    days: DailyHistory,
    starts_at: datetime,
    kept: Sequence[dict[str, Any]],
    *,
    lacks_paths: bool,
) -> bool:
    if not are_same_events(last.events, kept):
        return True
    if lacks_paths and not last.refusal and last.starts_at <= starts_at:
        return True
    has_news = last.starts_at <= starts_at and last.digest != days.digest
    return has_news and (bool(last.refusal) or last.starts_at + MADE_EVERY <= starts_at)


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
