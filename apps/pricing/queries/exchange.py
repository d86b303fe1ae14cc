"""Rates of exchange: what a month's money of one currency is worth in another."""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from apps.pricing.models import ExchangeKind, ExchangeRate


@dataclass(frozen=True, slots=True)
class Exchange:
    """Units of the other currency for one; `is_stated` says that it is this month's own, stated."""

    rate: Fraction
    is_stated: bool


def exchange(*, from_currency: str, to_currency: str, month: date) -> Exchange | None:
    """The rate of `month`, a stated one before a fetched one; until there is one the last month's.

    None where no rate up to the month is known: then nothing can be converted.
    """
    if from_currency == to_currency:
        return Exchange(Fraction(1), is_stated=True)
    rates = ExchangeRate.objects.filter(
        from_currency=from_currency, to_currency=to_currency, month__lte=month
    )
    # "stated" sorts after "fetched".
    row = rates.order_by("-month", "-kind").first()
    if row is None:
        return None
    is_stated = row.month == month and row.kind == ExchangeKind.STATED
    return Exchange(Fraction(row.rate), is_stated)
