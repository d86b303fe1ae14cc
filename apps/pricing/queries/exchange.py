"""What a month's money of one currency is worth in another."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from apps.pricing.models import ExchangeKind, ExchangeRate


@dataclass(frozen=True, slots=True)
class Exchange:
    """Units of the other currency for one; `is_stated` says that it is this month's own, stated."""

    rate: Fraction
    is_stated: bool


@dataclass(frozen=True, slots=True)
class ExchangeFact:
    """A rate of exchange as it was kept."""

    month: date
    from_currency: str
    to_currency: str
    rate: Decimal
    kind: str
    source: str


def exchange(*, from_currency: str, to_currency: str, month: date) -> Exchange | None:
    """The rate of `month`, a stated one before a fetched one; until there is one the last month's.

    None where no rate up to the month is known: then nothing can be converted.
    """
    if from_currency == to_currency:
        return Exchange(Fraction(1), is_stated=True)
    known = ExchangeRate.objects.filter(
        from_currency=from_currency, to_currency=to_currency, month__lte=month
    )
    # "stated" sorts after "fetched".
    found = known.order_by("-month", "-kind").first()
    if found is None:
        return None
    is_stated = found.month == month and found.kind == ExchangeKind.STATED
    return Exchange(Fraction(found.rate), is_stated)


def exchange_rates() -> list[ExchangeFact]:
    """Every rate that was kept, the newest month first."""
    rows = ExchangeRate.objects.order_by("-month", "from_currency", "to_currency", "kind")
    columns = ("month", "from_currency", "to_currency", "rate", "kind", "source")
    return [ExchangeFact(*row) for row in rows.values_list(*columns)]
