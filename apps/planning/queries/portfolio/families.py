"""GPUs that can stand in for each other, and what an hour of one costs on demand and on spot."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from apps.economics.purchase import PurchaseOption
from apps.economics.rates import Per, QuotedRate
from apps.fleet.queries import PoolFact, pools
from apps.pricing.queries import RateSpan, pool_rates

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
    """Of a GPU-hour in the organisation's currency; None: nobody knows. `spot` is the mean of 30 days."""

    on_demand: float | None
    spot: float | None
    reserved: float | None
    owned: float | None


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
    known = list(families)
    prices = {option: _prices_of_option(known, option, at) for option in PurchaseOption}
    return {
        family.name: FamilyPrices(
            **{str(option): of_family[family.name] for option, of_family in prices.items()}
        )
        for family in known
    }


def _prices_of_option(
    families: Sequence[PoolFamily], option: PurchaseOption, at: datetime
) -> dict[str, float | None]:
    asked: dict[int, PoolFact] = {}
    of_family: dict[str, list[int]] = {}
    for family in families:
        in_order = sorted(family.pools, key=lambda pool: (pool.purchase_option != option, pool.id))
        for pool in in_order:
            # A rate of the pool's own is for how it is really bought.
            key = pool.id if pool.purchase_option == option else -pool.id
            asked[key] = replace(pool, id=key, purchase_option=str(option))
            of_family.setdefault(family.name, []).append(key)
    is_spot = option == PurchaseOption.SPOT
    spans = pool_rates(asked, at - SPOT_DAYS if is_spot else at, at if is_spot else at + MOMENT)
    means = {key: _mean_price(spans[key], asked[key].gpus_per_node) for key in asked}
    return {
        name: next((means[key] for key in keys if means[key] is not None), None)
        for name, keys in of_family.items()
    }


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
