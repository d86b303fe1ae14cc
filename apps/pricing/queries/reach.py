"""Reach of a change of price: what it touches, asked before it is made."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from apps.economics.hours import HOUR, hour_of
from apps.economics.purchase import PurchaseOption
from apps.fleet.queries import NodeFact, PoolFact, first_node_started_at, nodes_alive_between, pools
from apps.pricing.queries import DISCOUNTED


@dataclass(frozen=True, slots=True)
class Prices:
    """The pools that a rate prices: one pool, or all pools of this description; empty: any."""

    pool_id: int | None
    provider: str
    region: str
    instance_type: str
    gpu_model: str
    purchase_option: str

    @classmethod
    def of(cls, rate: object) -> "Prices":
        """Return what this rate prices, entered or not."""
        return cls(**{name: getattr(rate, name) for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class Reach:
    """The hours that would be charged again, and the nodes and pools that live in them."""

    starts_at: datetime | None
    ends_at: datetime | None
    hours: int
    node_hours: float
    pools: tuple[tuple[int, str], ...]
    lived: tuple[NodeFact, ...] = ()

    @property
    def nodes(self) -> int:
        """How many live in them."""
        return len(self.lived)


def reach_of(
    prices: Prices, starts_at: datetime | None, ends_at: datetime | None, at: datetime
) -> Reach:
    """Return what lies in the past part of `[starts_at, ends_at)`: before `at`, since the first node."""
    reached = pools_priced(prices)
    since = first_node_started_at()
    names = tuple((pool.id, pool.name) for pool in reached)
    if since is None:
        return Reach(None, None, 0, 0.0, names)
    begins = since if starts_at is None else max(since, starts_at)
    ends = at if ends_at is None else min(at, ends_at)
    if ends <= begins:
        return Reach(None, None, 0, 0.0, names)
    pool_ids = {pool.id for pool in reached}
    nodes = tuple(node for node in nodes_alive_between(begins, ends) if node.pool_id in pool_ids)
    hours = _hours_touched(begins, ends) if nodes else 0
    node_hours = sum((node.lived_to - node.lived_from) / HOUR for node in nodes)
    return Reach(begins, ends, hours, round(node_hours, 6), names, nodes)


def pools_priced(prices: Prices) -> tuple[PoolFact, ...]:
    """The pools of which it may be the price, or the list price."""
    return tuple(pool for pool in pools().values() if _is_priced(pool, prices))


def _is_priced(pool: PoolFact, prices: Prices) -> bool:
    if prices.pool_id is not None:
        return pool.id == prices.pool_id
    described = (
        (prices.provider, pool.provider),
        (prices.region, pool.region),
        (prices.instance_type, pool.instance_type),
        (prices.gpu_model, pool.gpu_model),
    )
    # What a machine costs on demand is the list price of the same one that is bought at a discount.
    is_list = (
        pool.purchase_option in DISCOUNTED and prices.purchase_option == PurchaseOption.ON_DEMAND
    )
    return _all_match(described) and (
        is_list or prices.purchase_option in ("", pool.purchase_option)
    )


def _all_match(pairs: Iterable[tuple[str, str]]) -> bool:
    return all(wanted in ("", value) for wanted, value in pairs)


def _hours_touched(starts_at: datetime, ends_at: datetime) -> int:
    return -((hour_of(starts_at) - ends_at) // HOUR)
