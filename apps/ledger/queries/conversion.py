"""The worth of a bill's currency in the organisation's."""

from datetime import date

from apps.pricing.queries.exchange import Exchange, exchange


class RateOfExchangeMissing(Exception):
    """No rate of exchange was ever stated for this pair: nothing can be converted."""


def conversion(*, currency: str, to: str, month: date) -> Exchange:
    """The month's rate, provisional while it is not stated. Refuses RateOfExchangeMissing."""
    rate = exchange(from_currency=currency, to_currency=to, month=month)
    if rate is None:
        raise RateOfExchangeMissing(
            f"no rate of exchange from {currency} to {to} is known for {month:%Y-%m} or before"
        )
    return rate
