"""From which level families grow, and by how much a month, by the forecasts by day of their series."""

from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import exp, log, log1p
from statistics import fmean, linear_regression

from apps.economics.hours import DAY_HOURS
from apps.economics.portfolio.names import month_after
from apps.planning.queries.forecasts import BY_DAY, forecast_hours, newest_forecasts
from apps.planning.queries.series import SeriesKey

LEAST_MONTHS = 3
LEAST_GROWTH, MOST_GROWTH = -0.5, 1.0


@dataclass(frozen=True, slots=True)
class ForecastGrowth:
    """The GPUs of a family on a day, and the part by which they grow a month, as its forecast by the day has them."""

    starting_gpus: float
    monthly: float


def forecast_growth(series: Sequence[SeriesKey], day: date) -> ForecastGrowth | None:
    """The line through the logarithms of the months of the sum of these series, told at `day`.

    Months are whole ones ahead that every newest forecast by day has, each as its mean day in its middle. None
    where one of them has no such forecast, or a fallback, or there are under three months, or one of nothing.
    """
    monthly_means = [_daily_means(key) for key in series]
    shared = (
        sorted(set.intersection(*(set(months) for months in monthly_means)))
        if monthly_means
        else []
    )
    means = [sum(months[month] for months in monthly_means) for month in shared]
    if len(shared) < LEAST_MONTHS or min(means) <= 0:
        return None
    places = [_place_of(month) + 0.5 for month in shared]
    slope = linear_regression(places, [log(mean) for mean in means]).slope
    monthly = min(MOST_GROWTH, max(LEAST_GROWTH, exp(slope) - 1))
    # A line as steep as is allowed goes through the middle of the months, as every other does.
    ahead = fmean(places) - _place_of(day)
    gpus = exp(fmean(log(mean) for mean in means) - log1p(monthly) * ahead) / DAY_HOURS
    return ForecastGrowth(round(gpus, 3), round(monthly, 6))


def forecast_gpus(series: SeriesKey, day: date, months: int) -> float | None:
    """The GPUs that its forecast by the day expects on the mean of the whole months that begin in `months` from `day` on; None without one."""
    until = month_after(day, months)
    means = [mean for month, mean in _daily_means(series).items() if day <= month < until]
    return fmean(means) / DAY_HOURS if means else None


def _place_of(day: date) -> float:
    """A day among all months, as a number of them."""
    return 12 * day.year + day.month + (day.day - 1) / monthrange(day.year, day.month)[1]


def _daily_means(series: SeriesKey) -> Mapping[date, float]:
    """By month; none of a fallback, which says little of later months."""
    forecast_id = newest_forecasts(series).get(BY_DAY)
    forecast_detail = None if forecast_id is None else forecast_hours(forecast_id, None)
    if forecast_detail is None or forecast_detail.forecast.refusal:
        return {}
    return {
        month.month: (month.value + month.waiting) / month.days
        for month in forecast_detail.forecast.months
        if month.is_whole
    }
