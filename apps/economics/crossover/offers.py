"""Prices of an API: dated prices, cached and batch rates, and discounts by volume."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from apps.economics.crossover.demand import MILLION, MONTH_HOURS, RoutedTraffic, TokenDemand
from apps.economics.tiers import Tier, graduated

HOUR_MINUTES = 60


class NoPriceInForce(ValueError):
    """The offer's first price begins after the day that is asked about."""


@dataclass(frozen=True)
class OfferPrice:
    """Prices of a million tokens from a day on; cached prompt tokens cost `input` where it is None.

    `batch_discount` is the share taken off what is sent in batches (0 to 1).
    """

    starts_on: date
    input: float
    output: float
    cached: float | None = None
    batch_discount: float = 0.0


@dataclass(frozen=True)
class ApiOffer:
    """An API's prices and limits, and how it would be used.

    `tiers` say which part of the price is paid for what lies beyond so many million tokens of a
    month. `token_ratio` is the API's count of tokens over that of the own model for one text.
    `fixed` is paid every month; `ends_on` is the day the vendor has said the model ends.
    """

    name: str
    prices: tuple[OfferPrice, ...]
    tiers: tuple[Tier, ...] = ()
    cached_share: float = 0.0
    batch_share: float = 0.0
    token_ratio: float = 1.0
    fixed: float = 0.0
    tokens_per_minute: float | None = None
    ends_on: date | None = None
    source: str = ""

    def price_on(self, day: date) -> OfferPrice:
        """The price in force on a day. Refuses NoPriceInForce."""
        in_force = [price for price in self.prices if price.starts_on <= day]
        if not in_force:
            raise NoPriceInForce(f"{self.name} has no price in force on {day}")
        return max(in_force, key=lambda price: price.starts_on)

    def changes_after(self, day: date) -> Sequence[OfferPrice]:
        """Prices that are announced for later, the next first."""
        later = (price for price in self.prices if price.starts_on > day)
        return sorted(later, key=lambda price: price.starts_on)

    def most_volume(self, demand: TokenDemand) -> float | None:
        """The volume at which the busiest hour reaches the rate limit; None: no limit is known."""
        if self.tokens_per_minute is None:
            return None
        peak = demand.peak_to_mean * max(demand.hours) * len(demand.hours) / sum(demand.hours)
        month = self.tokens_per_minute * HOUR_MINUTES * MONTH_HOURS / MILLION
        return month / (peak * self.token_ratio)


@dataclass(frozen=True, slots=True)
class PricedVolume:
    """An API's cost against volume: `price` of a million tokens of the mix, in tiers of volume."""

    price: float
    fixed: float = 0.0
    tiers: tuple[Tier, ...] = ()
    token_ratio: float = 1.0

    def month(self, volume: float) -> float:
        """Return the cost of a month of so many million tokens, as the own model counts them."""
        if not self.tiers:
            return self.fixed + self.price * volume * self.token_ratio
        counted = Fraction(volume * self.token_ratio)
        return self.fixed + self.price * float(graduated(Decimal(1), self.tiers, counted))

    @property
    def corners(self) -> tuple[float, ...]:
        """The volumes at which the price of a further token changes."""
        return tuple(float(tier.beyond) / self.token_ratio for tier in self.tiers)

    @property
    def price_at_scale(self) -> float:
        """The cost of a further million tokens beyond the last tier."""
        ratio = float(self.tiers[-1].amount) if self.tiers else 1.0
        return self.price * ratio * self.token_ratio


def mix_price(price: OfferPrice, offer: ApiOffer, input_share: float) -> float:
    """A million tokens of the mix, before tiers.

    p = (in·((1 − h)·p_in + h·p_cached) + out·p_out) × (1 − batch share × batch discount), with `in`
    and `out` as shares of the tokens.
    """
    cached = price.input if price.cached is None else price.cached
    prompt = (1 - offer.cached_share) * price.input + offer.cached_share * cached
    mixed = input_share * prompt + (1 - input_share) * price.output
    return mixed * (1 - offer.batch_share * price.batch_discount)


def priced_volume(
    offer: ApiOffer, day: date, demand: TokenDemand, routing: RoutedTraffic
) -> PricedVolume:
    """The offer on a day, for this demand. Refuses NoPriceInForce."""
    price = mix_price(offer.price_on(day), offer, demand.input_share)
    return PricedVolume(price * routing.price_factor, offer.fixed, offer.tiers, offer.token_ratio)
