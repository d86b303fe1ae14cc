"""GPUs that can stand in for each other, and what an hour of one costs on demand and on spot."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from apps.economics.purchase import PurchaseOption
from apps.economics.rates import Per, QuotedRate
from apps.fleet.queries import PoolFact, pools
from apps.pricing.queries import RateSpan, pool_rates
from apps.pricing.queries.listing import rate_rows
from apps.pricing.queries.price_age import price_age, too_old_words

SPOT_DAYS = timedelta(days=30)
MOMENT = timedelta(microseconds=1)
HOUR_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class PoolFamily:
    """The pools of one GPU model at one provider in one region."""

    name: str
    pools: tuple[PoolFact, ...]


@dataclass(frozen=True, slots=True)
class FamilyPrices:
    """Of a GPU-hour in the organisation's currency; None: nobody knows. `spot` is the mean of 30 days.

    `remarks` say how old they are, and which spot price is too old to plan with.
    """

    on_demand: float | None
    spot: float | None
    reserved: float | None
    owned: float | None
    remarks: tuple[str, ...] = ()


def pool_families() -> list[PoolFamily]:
    """Of every pool that counts GPUs and names their model, by name."""
    grouped: dict[str, list[PoolFact]] = {}
    for pool in pools().values():
        if pool.gpu_model and not pool.counts_cores:
            place = " ".join(filter(None, (pool.provider, pool.region)))
            grouped.setdefault(", ".join(filter(None, (pool.gpu_model, place))), []).append(pool)
    return [PoolFamily(name, tuple(grouped[name])) for name in sorted(grouped)]


def family_prices(families: Iterable[PoolFamily], at: datetime) -> dict[str, FamilyPrices]:
    """By family: what its pools pay, or would pay by the prices on record were they bought that way.

    Of several pools the first that has a price counts, those really bought so before others.
    """
    family_list = list(families)
    prices = {option: _prices_of_option(family_list, option, at) for option in PurchaseOption}
    return {
        family.name: FamilyPrices(
            **{str(option): price[family.name].amount for option, price in prices.items()},
            remarks=tuple(
                price[family.name].remark for price in prices.values() if price[family.name].remark
            ),
        )
        for family in family_list
    }


@dataclass(frozen=True, slots=True)
class _OptionPrice:
    """A GPU-hour bought in one way, and what is to be said of its age."""

    amount: float | None = None
    remark: str = ""


def _prices_of_option(
    families: Sequence[PoolFamily], option: PurchaseOption, at: datetime
) -> dict[str, _OptionPrice]:
    pools_by_key: dict[int, PoolFact] = {}
    of_family: dict[str, list[int]] = {}
    for family in families:
        in_order = sorted(family.pools, key=lambda pool: (pool.purchase_option != option, pool.id))
        for pool in in_order:
            # A rate of the pool's own is for how it is really bought.
            key = pool.id if pool.purchase_option == option else -pool.id
            pools_by_key[key] = replace(pool, id=key, purchase_option=str(option))
            of_family.setdefault(family.name, []).append(key)
    is_spot = option == PurchaseOption.SPOT
    spans = pool_rates(
        pools_by_key, at - SPOT_DAYS if is_spot else at, at if is_spot else at + MOMENT
    )
    means = {key: _mean_price(spans[key], pools_by_key[key].gpus_per_node) for key in pools_by_key}
    first = {
        name: next((key for key in keys if means[key] is not None), None)
        for name, keys in of_family.items()
    }
    newest = {key: _newest_rate(spans[key]) for key in first.values() if key is not None}
    rows_by_rate = rate_rows([rate_id for rate_id in newest.values() if rate_id is not None])
    return {
        name: _OptionPrice()
        if key is None
        else _aged_price(option, means[key], rows_by_rate.get(newest[key] or 0), at)
        for name, key in first.items()
    }


def _newest_rate(spans: Sequence[RateSpan]) -> int | None:
    """The id of the rate that is paid last of them."""
    paid = [span.paid_rate.id for span in spans if span.paid_rate is not None]
    return paid[-1] if paid else None


def _aged_price(
    option: PurchaseOption, amount: float | None, rate: dict[str, Any] | None, at: datetime
) -> _OptionPrice:
    """The amount, unless it is a spot price that is too old; how old it is, in words."""
    if rate is None:
        return _OptionPrice(amount)
    if why := too_old_words(rate, at):
        return _OptionPrice(None, why)
    way = str(option).replace("_", " ")
    return _OptionPrice(amount, f"its {way} price was {price_age(rate, at).words}")


def _mean_price(spans: Sequence[RateSpan], gpus: int) -> float | None:
    """Of a GPU-hour over the time in which it is known."""
    total = lasts = 0.0
    for span in spans:
        price = _gpu_hour_price(span.paid_rate, gpus)
        if price is not None:
            length = (span.ends_at - span.starts_at).total_seconds()
            total, lasts = total + price * length, lasts + length
    return total / lasts if lasts else None


def _gpu_hour_price(rate: QuotedRate | None, gpus: int) -> float | None:
    if rate is None or rate.exchange is None:
        return None
    price = float(rate.amount) * float(rate.exchange) * HOUR_SECONDS / rate.quantity_seconds
    if rate.per is Per.GPU:
        return price
    return price / gpus if gpus else None
