"""Conversion of foreign currencies over a span: one rate for each local month."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

from apps.accounts.queries import organisation
from apps.economics.hours import first_hour, hour_of
from apps.pricing.queries.exchange import exchange


@dataclass(frozen=True, slots=True)
class Conversion:
    """The worth of one unit of a currency in the organisation's in `[starts_at, ends_at)`.

    `rate` None: nobody knows. `detail` says it in words. It is provisional until the month's own
    rate is stated.
    """

    starts_at: datetime
    ends_at: datetime
    rate: Fraction | None
    detail: str
    is_provisional: bool


def conversions(
    currencies: Collection[str], starts_at: datetime, ends_at: datetime
) -> dict[str, list[Conversion]]:
    """For each foreign currency, what tiles the span, month by month; the organisation's is not in.

    Without a foreign one no rate is asked for.
    """
    if not currencies:
        return {}
    ours = organisation()
    months = months_of(starts_at, ends_at, ours.zone)
    return {
        code: [_conversion_of_month(code, ours.currency, *month) for month in months]
        for code in sorted(set(currencies) - {ours.currency})
    }


def month_of_hour(hour: datetime, zone: str) -> date:
    """The first day of the local month in which the hour starts."""
    return hour.astimezone(ZoneInfo(zone)).date().replace(day=1)


def months_of(
    starts_at: datetime, ends_at: datetime, zone: str
) -> Sequence[tuple[date, datetime, datetime]]:
    """The local months of a span, each with the part of the span that is in it."""
    months = []
    reached = starts_at
    while reached < ends_at:
        # The hour that local midnight cuts belongs to the month before.
        month = month_of_hour(hour_of(reached), zone)
        following = (month + timedelta(days=32)).replace(day=1)
        until = min(ends_at, first_hour(following, zone))
        months.append((month, reached, until))
        reached = until
    return months


def _conversion_of_month(
    code: str, ours: str, month: date, starts_at: datetime, ends_at: datetime
) -> Conversion:
    exchange_rate = exchange(from_currency=code, to_currency=ours, month=month)
    if exchange_rate is None:
        detail = f"no rate of exchange from {code} to {ours} is known for {month:%Y-%m} or before"
        return Conversion(starts_at, ends_at, None, detail, is_provisional=False)
    rate = f"{float(exchange_rate.rate):.10g}"
    detail = f"quoted in {code}, at {rate} {ours} each"
    if not exchange_rate.is_stated:
        detail = f"{detail} until the rate of {month:%Y-%m} is stated"
    return Conversion(starts_at, ends_at, exchange_rate.rate, detail, not exchange_rate.is_stated)
