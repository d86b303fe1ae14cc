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
        found = (each.month for each in self.months if each.million_tokens >= million_tokens)
        return next(found, None)


def forecast_volumes(service_id: int | None) -> ForecastVolumes | None:
    """None where nothing of the service is forecast by the day yet."""
    if service_id is None:
        return None
    series = SeriesKey(TOKENS, SERVICE, str(service_id))
    forecast_id = newest_forecasts(series).get(BY_DAY)
    found = None if forecast_id is None else forecast_hours(forecast_id, None)
    if forecast_id is None or found is None:
        return None
    months = []
    for each in found.forecast.months:
        if each.is_whole:
            scale = MONTH_HOURS / (DAY_HOURS * each.days * MILLION)
            ends = (each.quantiles[0], each.quantiles[-1]) if each.quantiles else (None, None)
            low, high = (None if end is None else end * scale for end in ends)
            months.append(VolumeAhead(each.month, each.value * scale, low, high))
    return ForecastVolumes(forecast_id, found.forecast.refusal, tuple(months))
