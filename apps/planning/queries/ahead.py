"""The hours ahead of series: of the newest forecasts by the hour, and beyond their end of those by the day."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate
from math import inf
from typing import Any
from zoneinfo import ZoneInfo

from apps.accounts.queries import organisation
from apps.economics.forecast.names import QUANTILE_LEVELS
from apps.economics.gates import Gate, joint_gates, read_gates
from apps.economics.hours import DAY_HOURS, HOUR, WEEK_HOURS, hour_from
from apps.economics.hours_ahead import HoursAhead, spread_over
from apps.ledger.queries.calendar import day_span, local_day
from apps.ledger.queries.windows import DAY
from apps.planning.models import Forecast, ForecastMethod, ForecastSeries
from apps.planning.queries.forecasts import BY_DAY, BY_HOUR, FALLBACKS, clip_to_capacity, newest_id
from apps.planning.queries.history import key_of
from apps.planning.queries.series import SeriesKey, series_name, series_title

LAST_WEEK = "last_week"
MOST_OF_SEEN = 3.0
ORIGINS = (BY_HOUR, BY_DAY, LAST_WEEK)
"""What hours ahead are from: a forecast by the hour, one by the day, or the last week before, again and again."""
ORIGIN_WORDS = {
    BY_HOUR: "by the hour",
    BY_DAY: "by the day",
    LAST_WEEK: "by its last week again",
}


@dataclass(frozen=True, slots=True)
class AheadSpan:
    """The hours `[starts_at, ends_at)` of a series are from this one of ORIGINS, of LAST_WEEK of this forecast's.

    `kept_gates` are what that forecast was held against, as it was kept: read only where somebody asks.
    """

    series: SeriesKey
    origin: str
    forecast_id: int
    starts_at: datetime
    ends_at: datetime
    kept_gates: Sequence[Mapping[str, Any]] = field(default=(), repr=False, compare=False)

    @property
    def gates(self) -> tuple[Gate, ...]:
        """The gates of that forecast."""
        return read_gates(self.kept_gates)

    @property
    def name(self) -> str:
        """Of its series, as commands take it."""
        return series_name(self.series)


def gates_of_spans(spans: Sequence[AheadSpan]) -> tuple[Gate, ...]:
    """Return the gates of the forecasts of these hours, one gate of each name.

    Of each forecast once: where its last week comes again it is no other one.
    """
    first = {span.forecast_id: span for span in reversed(spans) if span.kept_gates}
    return joint_gates(
        [
            (f"{series_title(span.series)} {ORIGIN_WORDS[span.origin]}", span.gates)
            for span in reversed(first.values())
        ]
    )


@dataclass(frozen=True, slots=True)
class SeriesAhead:
    """The expected hours of a series from `starts_at` on, and in order what they are from.

    `known_since` is when its history begins; None where that is not known.
    """

    series: SeriesKey
    starts_at: datetime
    hours: HoursAhead
    spans: tuple[AheadSpan, ...]
    known_since: datetime | None = None

    @property
    def ends_at(self) -> datetime:
        """Beyond it the last week comes again."""
        return self.starts_at + len(self.hours.points) * HOUR

    def spans_within(self, starts_at: datetime, ends_at: datetime) -> tuple[AheadSpan, ...]:
        """Return the spans that the hours from `starts_at` up to, not with, `ends_at` are from, in order."""
        last = self.spans[-1]
        again = replace(last, origin=LAST_WEEK, starts_at=last.ends_at, ends_at=ends_at)
        cut = (
            replace(
                span,
                starts_at=max(starts_at, span.starts_at),
                ends_at=min(ends_at, span.ends_at),
            )
            for span in (*self.spans, again)
        )
        return tuple(span for span in cut if span.starts_at < span.ends_at)


def series_ahead(
    wanted: Mapping[SeriesKey, datetime], at: datetime
) -> dict[SeriesKey, SeriesAhead]:
    """Of these series what their newest forecasts as of `at` say of the hours from `at` until the moment given with each.

    One that has no forecast is not there. One of which too little was known is none: neither the last value by the
    hour, nor the mean of a week by the day, is a forecast of months.
    """
    ahead_by_series = {
        key: _by_hour(key, row)
        for key, row in _newest(wanted, BY_HOUR, at).items()
        if row.method != ForecastMethod.LAST_VALUE and row.starts_at + row.horizon * HOUR > at
    }
    short = {
        key
        for key, until in wanted.items()
        if key not in ahead_by_series or ahead_by_series[key].ends_at < until
    }
    for key, row in _newest(short, BY_DAY, at).items():
        begins = ahead_by_series.get(key) or SeriesAhead(
            key, row.starts_at, HoursAhead([], _NONE_YET), (), row.history_from
        )
        if row.method not in FALLBACKS and begins.starts_at <= at:
            longer = _with_days(begins, row, wanted[key])
            if longer.ends_at > at:
                ahead_by_series[key] = longer
    return ahead_by_series


_NONE_YET: Mapping[float, tuple[float, ...]] = dict.fromkeys(QUANTILE_LEVELS, ())


def _newest(
    wanted: Collection[SeriesKey], granularity: str, at: datetime
) -> dict[SeriesKey, Forecast]:
    """Their newest forecasts as of `at`: one that begins later says nothing of the hours before it."""
    keys = {series.key for series in wanted}
    newest = newest_id(granularity, hour_from(at))
    ids = ForecastSeries.objects.filter(key__in=keys).values_list(newest)
    rows = Forecast.objects.filter(pk__in=ids).select_related("series").defer("recent", "came")
    return {key: row for row in rows if (key := key_of(row.series)) in wanted}


def _by_hour(series: SeriesKey, row: Forecast) -> SeriesAhead:
    ends_at = row.starts_at + row.horizon * HOUR
    span = AheadSpan(series, BY_HOUR, row.pk, row.starts_at, ends_at, row.gates)
    return SeriesAhead(series, row.starts_at, hours_of(row), (span,), row.history_from)


def hours_of(row: Forecast) -> HoursAhead:
    """A forecast by the hour: points and quantiles of demand, and of what is held of it what adds up."""
    ends = range(DAY_HOURS, DAY_HOURS * len(row.sums[0]) + 1, DAY_HOURS) if row.sums else ()
    return HoursAhead(
        row.points,
        levels_of(row),
        clip_to_capacity(row.expected, row.capacity),
        ends,
        dict(zip(QUANTILE_LEVELS, _spreads_of(row, ends), strict=False)),
        row.seen,
        _ceiling_of(row),
    )


def _ceiling_of(row: Forecast) -> float:
    """Return the ceiling of tails: three times the most that ever came. Not what is there: how much that should be is asked."""
    return MOST_OF_SEEN * row.seen[-1] if row.seen else inf


def _spreads_of(row: Forecast, ends: Sequence[int]) -> list[list[float]]:
    """By level how far the total up to each end lies from what is expected to be held until then, and not above what is there."""
    reached = [0.0, *accumulate(clip_to_capacity(row.expected, row.capacity))]
    room = [0.0, *accumulate(row.capacity)]
    return [
        [
            (min(total, room[end]) if row.capacity else total) - reached[end]
            for end, total in zip(ends, level, strict=True)
        ]
        for level in row.sums
    ]


def levels_of(row: Forecast) -> dict[float, list[float]]:
    """By level its values: none without an interval, nor where it has none in some hour or day."""
    values = [[value for value in level if value is not None] for level in row.quantiles]
    if any(len(level) < row.horizon for level in values):
        values = []
    return dict(zip(QUANTILE_LEVELS, values, strict=False))


def _with_days(ahead: SeriesAhead, row: Forecast, until_moment: datetime) -> SeriesAhead:
    """From its end on, as far as wanted, the days of a forecast, each spread over its hours as they are in its last week."""
    points, by_level = list(ahead.hours.points), levels_of(row)
    expected, ends = list(ahead.hours.adding_up), list(ahead.hours.ends)
    levels = {
        level: [*ahead.hours.quantiles[level]]
        for level in ahead.hours.quantiles
        if level in by_level
    }
    of_days = clip_to_capacity(row.expected or row.points, row.capacity)
    level_spreads = _spreads_of(row, range(1, row.horizon + 1)) if row.expected else []
    until = dict(zip(QUANTILE_LEVELS, level_spreads, strict=False))
    # Without an hour before them the days begin the paths; after some, theirs have to be known too.
    has_paths = bool(until) and (bool(ahead.hours.spreads) or not ahead.hours.points)
    spreads = {level: [*ahead.hours.spreads.get(level, ())] for level in until if has_paths}
    for place, skipped, weights in _days_to_add(ahead, row, until_moment):
        points += spread_over(row.points[place], weights)[skipped:]
        expected += spread_over(of_days[place], weights)[skipped:]
        for level, values in levels.items():
            values += spread_over(by_level[level][place], weights)[skipped:]
        ends += [len(points)] * has_paths
        for level, values in spreads.items():
            values.append(max((until[level][place], *values[-1:]), key=abs))
    ends_at = ahead.starts_at + len(points) * HOUR
    span = AheadSpan(ahead.series, BY_DAY, row.pk, ahead.ends_at, ends_at, row.gates)
    added = (span,) if span.starts_at < ends_at else ()
    hours = replace(
        ahead.hours,
        points=points,
        quantiles=levels,
        expected=expected,
        ends=ends if has_paths else (),
        spreads=spreads,
    )
    return replace(ahead, hours=hours, spans=(*ahead.spans, *added))


def _days_to_add(
    ahead: SeriesAhead, row: Forecast, until: datetime
) -> Iterator[tuple[int, int, list[float]]]:
    """The places of the days, how many of their hours are there already, and the weights of all their hours."""
    zone = organisation().zone
    first, local_zone = local_day(row.starts_at, zone), ZoneInfo(zone)

    def named(hour: datetime) -> tuple[int, int]:
        local = hour.astimezone(local_zone)
        return local.weekday(), local.hour

    week = len(ahead.hours.points) - WEEK_HOURS
    shape = {
        named(ahead.starts_at + place * HOUR): max(0.0, ahead.hours.points[place])
        for place in range(max(0, week), len(ahead.hours.points))
    }
    for place in range(row.horizon):
        day = day_span(first + place * DAY, zone)
        if day.ends_at > ahead.ends_at and day.starts_at < until:
            hours = [day.starts_at + hour * HOUR for hour in range(day.hours)]
            skipped = max(0, (ahead.ends_at - day.starts_at) // HOUR)
            known_weights = [shape[name] for name in map(named, hours) if name in shape]
            yield (
                place,
                skipped,
                known_weights if len(known_weights) == day.hours else [1.0] * day.hours,
            )
