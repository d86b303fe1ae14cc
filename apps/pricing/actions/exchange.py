"""Rates of exchange, as they are stated or fetched."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from apps.pricing.models import ExchangeKind, ExchangeRate


class ExchangeRateNotUnderstood(ValueError):
    """A rate of exchange must be above zero, between two different currencies."""


@dataclass(frozen=True, slots=True)
class NewExchangeRate:
    """What one unit of `from_currency` is worth in `to_currency` in the month of `month`."""

    month: date
    from_currency: str
    to_currency: str
    rate: Decimal
    kind: str = ExchangeKind.STATED
    source: str = ""


def state_exchange_rate(*, rate: NewExchangeRate, at: datetime) -> bool:
    """Keep a month's rate, instead of one of its kind that was kept; whether that changed anything.

    What it converts is the caller's to do again. Refuses ExchangeRateNotUnderstood.
    """
    codes = (rate.from_currency, rate.to_currency)
    if not all(len(code) == 3 and code.isascii() and code.isupper() for code in codes):
        raise ExchangeRateNotUnderstood("a currency is a code such as EUR")
    if rate.from_currency == rate.to_currency or not rate.rate.is_finite() or rate.rate <= 0:
        raise ExchangeRateNotUnderstood("a rate is above zero, between two different currencies")
    held, is_new = ExchangeRate.objects.get_or_create(
        month=rate.month.replace(day=1),
        from_currency=rate.from_currency,
        to_currency=rate.to_currency,
        kind=rate.kind,
        defaults={"rate": rate.rate, "source": rate.source, "created_at": at},
    )
    if is_new or held.rate == rate.rate:
        return is_new
    held.rate, held.source = rate.rate, rate.source
    held.save(update_fields=["rate", "source"])
    return True
