"""When a service's forecast reaches the volumes at which the cheaper side changes."""

from dataclasses import dataclass
from datetime import date

from apps.economics.crossover.demand import MILLION, MONTH_HOURS
from apps.economics.hours import DAY_HOURS
from apps.planning.queries.forecasts import BY_DAY, forecast_hours, newest_forecasts
from apps.planning.queries.series import SERVICE, TOKENS, SeriesKey


@dataclass(frozen=True, slots=True)
class VolumeAhead:
    """A month ahead, brought to 730 hours: million tokens expected, and between P10 and P90 of them."""

    month: date
    million_tokens: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class ForecastVolumes:
    """The whole months of the newest forecast by day of a service's tokens.

    `refusal` says why it is a fallback; empty where it is none.
    """

    forecast_id: int
    refusal: str
    months: tuple[VolumeAhead, ...]

    def reached_in(self, million_tokens: float) -> date | None:
        """The first month that is expected to have so much; None: none of them."""
        months = (month.month for month in self.months if month.million_tokens >= million_tokens)
        return next(months, None)


def forecast_volumes(service_id: int | None) -> ForecastVolumes | None:
    """None where nothing of the service is forecast by the day yet."""
    if service_id is None:
        return None
    series = SeriesKey(TOKENS, SERVICE, str(service_id))
    forecast_id = newest_forecasts(series).get(BY_DAY)
    forecast_detail = None if forecast_id is None else forecast_hours(forecast_id, None)
    if forecast_id is None or forecast_detail is None:
        return None
    months = []
    for month in forecast_detail.forecast.months:
        if month.is_whole:
            scale = MONTH_HOURS / (DAY_HOURS * month.days * MILLION)
            ends = (month.quantiles[0], month.quantiles[-1]) if month.quantiles else (None, None)
            low, high = (None if end is None else end * scale for end in ends)
            months.append(VolumeAhead(month.month, month.value * scale, low, high))
    return ForecastVolumes(forecast_id, forecast_detail.forecast.refusal, tuple(months))
