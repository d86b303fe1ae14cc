"""Rates of exchange, as they are stated or fetched."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet

from apps.accounts.queries import organisation
from apps.economics.currencies import CURRENCIES
from apps.economics.hours import first_hour
from apps.economics.refusal import Refusal
from apps.pricing.actions.checking import mark_charge
from apps.pricing.models import (
    Commitment,
    ExchangeKind,
    ExchangeRate,
    Rate,
    RateStanding,
    SharedCost,
)

LARGEST_RATE = 10**9


class ExchangeRateNotUnderstood(Refusal):
    """A rate of exchange must be above zero, between two different currencies."""


@dataclass(frozen=True, slots=True)
class NewExchangeRate:
    """The worth of one unit of `from_currency` in `to_currency` in the month of `month`."""

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
    for code in (rate.from_currency, rate.to_currency):
        if code not in CURRENCIES:
            raise ExchangeRateNotUnderstood(
                "currency", f"{code!r} is no currency of ISO 4217, such as EUR"
            )
    is_rate = rate.rate.is_finite() and 0 < rate.rate < LARGEST_RATE
    if rate.from_currency == rate.to_currency or not is_rate:
        raise ExchangeRateNotUnderstood(
            "rate",
            f"a rate is above zero and below {LARGEST_RATE:,}, between two different currencies",
        )
    row, is_new = ExchangeRate.objects.get_or_create(
        month=rate.month.replace(day=1),
        from_currency=rate.from_currency,
        to_currency=rate.to_currency,
        kind=rate.kind,
        defaults={"rate": rate.rate, "source": rate.source, "created_at": at},
    )
    if is_new or row.rate == rate.rate:
        return is_new
    row.rate, row.source = rate.rate, rate.source
    row.save(update_fields=["rate", "source"])
    return True


def mark_converted(*, rate: NewExchangeRate, at: datetime) -> None:
    """Mark charge where amounts of this currency hold, from the month on.

    Of later months too, until one that has a rate of its own: they go by this one.
    """
    ours = organisation()
    if rate.to_currency != ours.currency:
        return
    month = rate.month.replace(day=1)
    pair = {"from_currency": rate.from_currency, "to_currency": rate.to_currency}
    later = ExchangeRate.objects.filter(**pair, month__gt=month).order_by("month").first()
    begins = first_hour(month, ours.zone)
    ends = at if later is None else min(at, first_hour(later.month, ours.zone))
    spans = list(_spans_of(rate.from_currency, begins, ends)) if begins < ends else []
    if spans:
        mark_charge(min(start for start, _ in spans), max(end for _, end in spans), at)


def _spans_of(
    currency: str, begins: datetime, ends: datetime
) -> Iterable[tuple[datetime, datetime]]:
    """When rates in force, shared costs and commitments of a currency hold, clipped to the span."""
    tables: tuple[QuerySet[Any], ...] = (
        Rate.objects.filter(standing=RateStanding.IN_FORCE),
        SharedCost.objects.all(),
        Commitment.objects.all(),
    )
    for table in tables:
        rows = table.filter(currency=currency, period__overlap=(begins, ends)).order_by("id")
        for start, end in rows.values_list("period__startswith", "period__endswith"):
            yield max(begins, start or begins), min(ends, end or ends)
