"""Forecasts are kept as they were made, and held against what came."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db import transaction

from apps.accounts.queries import organisation
from apps.economics.forecast.hour_paths import HourPaths
from apps.economics.forecast.planned import ORDINARY, DayEffect
from apps.economics.hours import HOUR
from apps.ledger.queries.calendar import day_span, local_day
from apps.logs.changes import logged_pass
from apps.planning.actions.daily_forecasts import HourlyForecastPaths, make_daily_forecast
from apps.planning.actions.events import forecast_again
from apps.planning.actions.methods import (
    DailyMaker,
    ForecastMaker,
    are_same_events,
    attempted_fields,
    bounded_by_capacity,
    dated_shift,
    newest_forecast,
    planned_totals,
)
from apps.planning.actions.realised import realise_hours
from apps.planning.actions.reconciliation import Reconciler, reconcile_forecasts
from apps.planning.models import Forecast, ForecastSeries, Granularity
from apps.planning.queries.events import (
    DemandEventFact,
    demand_events,
    effects_of_days,
    events_to_store,
)
from apps.planning.queries.history import SeriesHistory, histories
from apps.planning.queries.passes import series_due
from apps.planning.queries.room import RoomAhead

KEPT = timedelta(days=400)
HOURS_AHEAD = 14 * 24

RECENT_HOURS = 14 * 24
"""So many hours before a forecast are kept with it, to be shown beside."""

Progress = Callable[[int, int], None]
"""Called with how many series are done, of how many."""

log = logging.getLogger(__name__)


def make_forecasts_if_due(
    *,
    maker: ForecastMaker,
    daily: DailyMaker | None = None,
    reconcilers: Mapping[str, Reconciler] | None = None,
    at: datetime,
    zone: str,
) -> int:
    """Once a day when yesterday is settled, and at once where a series has never been looked at."""
    due = series_due(at, zone)
    if ForecastSeries.objects.exists() and not due.exists():
        return 0
    return make_forecasts(maker=maker, daily=daily, reconcilers=reconcilers, at=at)


@logged_pass("make_forecasts")
def make_forecasts(
    *,
    maker: ForecastMaker,
    daily: DailyMaker | None = None,
    reconcilers: Mapping[str, Reconciler] | None = None,
    at: datetime,
    progress: Progress = lambda done, count: None,
) -> int:
    """Hold open forecasts against what came, and make one of each series that has new hours; how many.

    With `daily` one by day too, which begins with what the hours say; with `reconcilers` those of parts and of the whole are made to add up. Of the same hours none is made again unless events changed. Those made over
    400 days ago are dropped. Each series is kept by itself: a pass that breaks off goes on where it was, and one that
    cannot be forecast is said to be so, and stops no other.
    """
    histories_by_series, events, zone = histories(at), demand_events(), organisation().zone
    room = RoomAhead(at)
    Forecast.objects.filter(made_at__lt=at - KEPT).delete()
    realise_hours(histories_by_series, at)
    count = 0
    for done, (key, history) in enumerate(histories_by_series.items(), 1):
        touching = [event for event in events if event.touches(key)]
        try:
            forecast_request = ForecastRequest(history, touching, maker, room, zone)
            is_new = _make_forecast(forecast_request)
            count += is_new
            if daily is not None:
                count += make_daily_forecast(
                    history,
                    touching,
                    daily,
                    room,
                    zone,
                    HourlyForecastPaths(forecast_request.paths, is_new),
                )
        except Exception:
            log.exception("forecast_not_kept series=%s", key)
        progress(done, len(histories_by_series))
    reconcile_forecasts(histories_by_series, reconcilers or {}, at, zone)
    ForecastSeries.objects.exclude(looked_at=at).update(looked_at=at)
    # What was entered meanwhile is in none of them.
    for event in {*events} ^ {*demand_events()}:
        forecast_again(event)
    return count


@dataclass(frozen=True)
class ForecastRequest:
    """A history, the events that touch it and what bounds it; the method is asked once."""

    history: SeriesHistory
    events: Sequence[DemandEventFact]
    maker: ForecastMaker
    room: RoomAhead
    zone: str

    @cached_property
    def answer(self) -> tuple[dict[str, Any], HourPaths | None]:
        """The fields by the hour, and their paths."""
        return hourly_answer(self.history, self.events, self.maker, self.room, self.zone)

    def paths(self) -> HourPaths | None:
        """Return the paths that days begin with; None where the method says no path."""
        return self.answer[1]


def _make_forecast(forecast_request: ForecastRequest) -> bool:
    history, events, room, zone = (
        forecast_request.history,
        forecast_request.events,
        forecast_request.room,
        forecast_request.zone,
    )
    at = room.at
    row = ForecastSeries.objects.filter(**asdict(history.series)).first()
    event_documents = _events_to_store(history, events, zone)
    last = newest_forecast(row, Granularity.HOUR)
    is_new = (
        last is None
        or (last.starts_at <= history.ends_at and last.digest != history.digest)
        or not are_same_events(last.events, event_documents)
    )
    fields = forecast_request.answer[0] if is_new else {}
    with transaction.atomic():
        row, _ = ForecastSeries.objects.update_or_create(
            **asdict(history.series), defaults={"looked_at": at}
        )
        if is_new:
            Forecast.objects.update_or_create(
                series=row,
                granularity=Granularity.HOUR,
                starts_at=history.ends_at,
                defaults={**_inputs_of(history, at), **fields, "events": event_documents},
            )
    return is_new


def hourly_answer(
    history: SeriesHistory,
    events: Sequence[DemandEventFact],
    maker: ForecastMaker,
    room: RoomAhead,
    zone: str,
) -> tuple[dict[str, Any], HourPaths | None]:
    """Return what the method says of ordinary hours, and of those ahead with what events do to them; and its paths, where it has some."""
    before = _effects_of_hours(events, history.starts_at, len(history.values), zone)
    ordinary = [
        effect.ordinary(value, share)
        for value, (effect, share) in zip(history.values, before, strict=True)
    ]
    values = ordinary if any(value is not None for value in ordinary) else history.values
    fields = attempted_fields(
        lambda: maker(values), history.series, history.last_value, HOURS_AHEAD
    )
    ahead = _effects_of_hours(events, history.ends_at, len(fields["points"]), zone)
    drawn = fields.pop("paths", b"")
    fields |= planned_totals(fields, ahead)
    levels = [fields["points"], *fields["quantiles"]]
    fields["points"], *fields["quantiles"] = (
        [
            None if value is None else effect.planned(value, share)
            for value, (effect, share) in zip(level, ahead, strict=True)
        ]
        for level in levels
    )
    capacity = room.of_hours(history.series, history.ends_at, len(fields["points"]))
    fields |= bounded_by_capacity(fields, history.series, capacity)
    # A day that was found by hours that end with the history may begin some hours before the local one.
    fields["shift"] = dated_shift(
        fields["shift"], lambda place: local_day(history.starts_at + (place + 12) * HOUR, zone)
    )
    paths = HourPaths(drawn, ahead, fields["expected"], fields["capacity"]) if drawn else None
    return fields, paths


def _events_to_store(
    history: SeriesHistory, events: Sequence[DemandEventFact], zone: str
) -> list[dict[str, Any]]:
    first, starts_on, end = (
        local_day(moment, zone)
        for moment in (
            history.starts_at,
            history.ends_at,
            history.ends_at + (HOURS_AHEAD - 1) * HOUR,
        )
    )
    return events_to_store(events, first, starts_on, end + timedelta(days=1))


def _effects_of_hours(
    events: Sequence[DemandEventFact], starts_at: datetime, count: int, zone: str
) -> list[tuple[DayEffect, float]]:
    """Of each hour what events do to its day, and which share of the day it is."""
    if not events:
        return [(ORDINARY, 0.0)] * count
    days = [local_day(starts_at + place * HOUR, zone) for place in range(count)]
    effects = effects_of_days(events, days[0], (days[-1] - days[0]).days + 1)
    of_day = {
        day: (effects[(day - days[0]).days], 1 / day_span(day, zone).hours) for day in {*days}
    }
    return [of_day[day] for day in days]


def _inputs_of(history: SeriesHistory, at: datetime) -> dict[str, Any]:
    return {
        "made_at": at,
        "digest": history.digest,
        "history_from": history.starts_at,
        "observed_hours": history.observed,
        "imported_hours": history.imported,
        "left_out_hours": history.left_out,
        "queue": history.queue,
        "recent": history.values[-RECENT_HOURS:],
        "came": [],
        "realised_hours": 0,
        "realised_error": None,
        "reconciled": [],
        "adds_up_to": None,
        "realised_reconciled_error": None,
        "realised_coverage": None,
    }
