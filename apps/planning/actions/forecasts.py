"""Forecasts are kept as they were made, and held against what came."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q

from apps.economics.hours import HOUR, first_hour
from apps.ledger.queries.calendar import local_day
from apps.logs.changes import logged_pass
from apps.planning.models import Forecast, ForecastSeries
from apps.planning.queries.history import SeriesHistory, histories, key_of
from apps.planning.queries.series import SeriesKey

KEPT = timedelta(days=400)
OPEN = timedelta(days=21)
"""So long after its beginning what came may still change: the 14 days ahead, and a week for late facts."""
SETTLED_AFTER = timedelta(hours=4)
"""After midnight, until when the day before is still being settled."""

RECENT_HOURS = 14 * 24
"""So many hours before a forecast are kept with it, to be shown beside."""

ForecastMaker = Callable[[Sequence[float | None]], Mapping[str, Any]]
"""From the hours of a history the fields of Forecast that a method says."""


def make_forecasts_if_due(*, maker: ForecastMaker, at: datetime, zone: str) -> int:
    """Once a day when yesterday is settled, and at once where a series has never been looked at."""
    day = local_day(at - SETTLED_AFTER, zone)
    due = Q(looked_at=None) | Q(looked_at__lt=first_hour(day, zone) + SETTLED_AFTER)
    series = ForecastSeries.objects
    if series.exists() and not series.filter(due).exists():
        return 0
    return make_forecasts(maker=maker, at=at)


@logged_pass("make_forecasts")
def make_forecasts(*, maker: ForecastMaker, at: datetime) -> int:
    """Hold open forecasts against what came, and make one of each series that has new hours; how many.

    Of the same hours none is made again. Those made over 400 days ago are dropped. Each is kept by itself:
    a pass that breaks off goes on where it was.
    """
    known = histories(at)
    Forecast.objects.filter(made_at__lt=at - KEPT).delete()
    _realise(known, at)
    made = sum(_make_forecast(key, history, maker, at) for key, history in known.items())
    ForecastSeries.objects.exclude(looked_at=at).update(looked_at=at)
    return made


def _make_forecast(
    key: SeriesKey, history: SeriesHistory, maker: ForecastMaker, at: datetime
) -> bool:
    of_series: dict[str, Any] = {"measure": key.measure, "dimension": key.dimension, "key": key.key}
    last = (
        Forecast.objects.filter(**{f"series__{name}": value for name, value in of_series.items()})
        .order_by("-starts_at")
        .values_list("starts_at", "digest")
        .first()
    )
    is_new = last is None or (last[0] <= history.ends_at and last[1] != history.digest)
    fields = maker(history.values) if is_new else {}
    with transaction.atomic():
        row, _ = ForecastSeries.objects.update_or_create(**of_series, defaults={"looked_at": at})
        if is_new:
            Forecast.objects.update_or_create(
                series=row,
                starts_at=history.ends_at,
                defaults={**_inputs_of(history, at), **fields},
            )
    return is_new


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
        "realised_coverage": None,
    }


def _realise(known: Mapping[SeriesKey, SeriesHistory], at: datetime) -> None:
    """Errors of forecasts of which hours have come, or may still change."""
    begun = Forecast.objects.filter(starts_at__lt=at, starts_at__gt=at - OPEN)
    for forecast in begun.select_related("series").iterator(chunk_size=100):
        history = known.get(key_of(forecast.series))
        if history is None:
            continue
        first = (forecast.starts_at - history.starts_at) // HOUR
        came = [history.value_at(first + lead) for lead in range(forecast.horizon)]
        Forecast.objects.filter(pk=forecast.pk).update(came=came, **realised_scores(forecast, came))


def realised_scores(forecast: Forecast, came: Sequence[float | None]) -> dict[str, Any]:
    """Hours that came, their mean absolute error, and the share of them inside the 80 % interval."""
    known = [(lead, value) for lead, value in enumerate(came) if value is not None]
    lows, highs = (forecast.quantiles[end] if forecast.quantiles else [] for end in (0, -1))
    ends = [(value, lows[lead], highs[lead]) for lead, value in known if lows]
    return {
        "realised_hours": len(known),
        "realised_error": _mean(abs(value - forecast.points[lead]) for lead, value in known),
        "realised_coverage": _mean(
            low <= value <= high
            for value, low, high in ends
            if low is not None and high is not None
        ),
    }


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return sum(known) / len(known) if known else None
