"""By how much families grow a month, by the forecasts by day of their series."""

from collections.abc import Mapping, Sequence
from datetime import date
from math import exp, log
from statistics import linear_regression

from apps.planning.queries.forecasts import BY_DAY, forecast_hours, newest_forecasts
from apps.planning.queries.series import SeriesKey

LEAST_MONTHS = 3
LEAST_GROWTH, MOST_GROWTH = -0.5, 1.0


def forecast_growth(series: Sequence[SeriesKey]) -> float | None:
    """The part by which the sum of these series grows a month, by a line through the logarithms of its months.

    Months are whole ones ahead that every newest forecast by day has, each as its mean day. None where
    one of them has no such forecast, or a fallback, or there are under three months, or one of nothing.
    """
    found = [_daily_means(each) for each in series]
    shared = sorted(set.intersection(*(set(months) for months in found))) if found else []
    means = [sum(months[month] for months in found) for month in shared]
    if len(shared) < LEAST_MONTHS or min(means) <= 0:
        return None
    places = [12 * month.year + month.month for month in shared]
    slope = linear_regression(places, [log(mean) for mean in means]).slope
    return round(min(MOST_GROWTH, max(LEAST_GROWTH, exp(slope) - 1)), 6)


def _daily_means(series: SeriesKey) -> Mapping[date, float]:
    """By month; none of a fallback, which says little of later months."""
    forecast_id = newest_forecasts(series).get(BY_DAY)
    found = None if forecast_id is None else forecast_hours(forecast_id, None)
    if found is None or found.forecast.refusal:
        return {}
    return {each.month: each.value / each.days for each in found.forecast.months if each.is_whole}
