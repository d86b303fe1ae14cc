"""Hours of demand of several series together."""

from collections.abc import Mapping, Sequence

from apps.economics.hours import HOUR
from apps.economics.refusal import Refusal
from apps.planning.queries.history import SeriesHistory
from apps.planning.queries.series import GPU_HOURS, SeriesKey, series_name, series_named


def summed_hours(
    names: Sequence[str], histories_by_series: Mapping[SeriesKey, SeriesHistory]
) -> list[float | None]:
    """The sum by the hour of series of GPU-hours; before its first hour and after its last one a series is 0.

    An hour of which one of them is unknown is unknown. Refuses a Refusal.
    """
    series_histories = [_history_of(name, histories_by_series) for name in names]
    first = min(history.starts_at for history in series_histories)
    count = (max(history.ends_at for history in series_histories) - first) // HOUR
    places = [(first - history.starts_at) // HOUR for history in series_histories]
    hours: list[float | None] = []
    for number in range(count):
        values = [
            history.values[number + place]
            for history, place in zip(series_histories, places, strict=True)
            if 0 <= number + place < len(history.values)
        ]
        is_known = values and None not in values
        hours.append(sum(value or 0.0 for value in values) if is_known else None)
    return hours


def _history_of(name: str, histories_by_series: Mapping[SeriesKey, SeriesHistory]) -> SeriesHistory:
    series = series_named(name)
    if series.measure != GPU_HOURS:
        raise Refusal("series", f"{name!r} is not of {GPU_HOURS}")
    if series not in histories_by_series:
        there = ", ".join(map(series_name, histories_by_series)) or "none yet"
        raise Refusal("series", f"no hour of {name} is known; there are: {there}")
    return histories_by_series[series]
