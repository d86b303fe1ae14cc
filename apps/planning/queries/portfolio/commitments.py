"""Payments owed already for GPUs, and the same offered once more: commitments, reserved pools, owned hardware."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from apps.accounts.queries import organisation
from apps.economics.hours import HOUR_MS, hour_of
from apps.economics.places import may_lie_in
from apps.economics.portfolio.names import (
    LEAST_RATE,
    MONTH_HOURS,
    MOST_RATE,
    MOST_TERM_MONTHS,
)
from apps.economics.purchase import PurchaseOption
from apps.fleet.queries import PoolFact
from apps.fleet.queries.node_status import node_statuses
from apps.ledger.queries.calendar import local_day, posting_month
from apps.planning.queries.portfolio.families import FamilyPrices, PoolFamily
from apps.pricing.queries.commitments import CommitmentFact
from apps.pricing.queries.exchange import exchange
from apps.pricing.queries.owned import OwnedPlanFact, fixed_hour

DAY_MINUTES = 24 * 60
MICROS = 1_000_000
WATTS = 1_000
CAPACITY_BLOCK = "capacity_block"


@dataclass(frozen=True)
class CapacityContext:
    """The capacity that is known when a question is put together: `demand` is the mean of each family's GPUs."""

    families: Sequence[PoolFamily]
    prices: Mapping[str, FamilyPrices]
    demand: Mapping[str, float]
    at: datetime

    @property
    def on(self) -> date:
        """The day in the organisation's zone."""
        return local_day(self.at, organisation().zone)


@dataclass(frozen=True, slots=True)
class SharedSpend:
    """A commitment's GPUs in one family: `price` is of a GPU-hour on its terms, in its own currency."""

    family: PoolFamily
    instance_type: str
    price: float
    gpus: float
    lot: int


def families_of(fact: CommitmentFact, capacity: CapacityContext) -> list[SharedSpend]:
    """Where a commitment may be used. Of units the one family that they are of.

    A spend goes where it saves most first, as far as that family's mean demand reaches; what is left stays there.
    """
    if fact.units:
        return _of_units(fact, capacity)
    choices = [
        (family, pool, float(price) / pool.gpus_per_node)
        for name, price in fact.prices.items()
        for family, pool in _machines_of(fact, name, capacity)
    ]
    choices.sort(key=lambda choice: (-_discount(choice[0], choice[2], capacity), choice[0].name))
    left, spends = float(fact.spend), list[SharedSpend]()
    for family, pool, price in choices:
        gpus = min(left / price, capacity.demand.get(family.name, 0.0))
        left -= gpus * price
        spends.append(SharedSpend(family, pool.instance_type, price, gpus, 1))
    if spends:
        first = spends[0]
        gpus = first.gpus + left / first.price
        spends[0] = SharedSpend(first.family, first.instance_type, first.price, gpus, 1)
    return spends


def held_tables(
    facts: Sequence[CommitmentFact], plans: Sequence[OwnedPlanFact], capacity: CapacityContext
) -> Iterator[dict[str, Any]]:
    """Yield what is owed, as `[[held]]`; without `rate` nobody knows what it costs, without `ends_on` until when."""
    for fact in facts:
        yield from _owed_tables(fact, capacity)
    living_gpus = _live_gpus_by_pool(capacity.at)
    beyond = _beyond_reservations(facts, living_gpus, capacity)
    for family in capacity.families:
        for pool in family.pools:
            gpus = living_gpus.get(pool.id, 0)
            if pool.purchase_option == PurchaseOption.RESERVED:
                if beyond[pool.id] > 0:
                    terms = beyond[pool.id], capacity.prices[family.name].reserved, None
                    yield _held_table(f"{pool.name}, reserved", family, terms, "reserved")
            elif pool.purchase_option == PurchaseOption.OWNED:
                yield from _owned_tables(family, pool, gpus, (plans, capacity))


def _owed_tables(fact: CommitmentFact, capacity: CapacityContext) -> Iterator[dict[str, Any]]:
    """A commitment in each family where it is used; from its first day on where that is to come."""
    zone = organisation().zone
    unit_cost = _cost_of_price(fact, capacity.at)
    for used in families_of(fact, capacity):
        if used.gpus:
            rate = None if unit_cost is None else unit_cost * used.price
            name = fact.name if fact.units else f"{fact.name}: {used.instance_type}"
            ends_on = local_day(fact.ends_at, zone)
            table = _held_table(name, used.family, (used.gpus, rate, ends_on), fact.kind)
            if fact.starts_at > capacity.at:
                table["starts_on"] = local_day(fact.starts_at, zone).isoformat()
            yield table


def offer_tables(
    facts: Sequence[CommitmentFact], plans: Sequence[OwnedPlanFact], capacity: CapacityContext
) -> Iterator[dict[str, Any]]:
    """Yield what was bought before at the same terms once more, as `[[offers]]`; blocks of days are left out."""
    for fact in facts:
        unit_cost = _cost_of_price(fact, capacity.at)
        if fact.kind == CAPACITY_BLOCK or unit_cost is None:
            continue
        for used in families_of(fact, capacity):
            renewal = f"{fact.name} (renewal)"
            rate = unit_cost * used.price
            upfront = float(fact.upfront) / float(fact.price) if fact.price else 0.0
            hours = fact.term_ms / HOUR_MS
            yield {
                "name": renewal if fact.units else f"{renewal}: {used.instance_type}",
                "family": used.family.name,
                "kind": fact.kind,
                "term_months": max(1, round(hours / MONTH_HOURS)),
                "hourly": rate * (1 - upfront),
                "upfront": rate * upfront * max(1, round(hours / MONTH_HOURS)) * MONTH_HOURS,
                "lot": used.lot,
            }
    by_pool = {pool.id: (family, pool) for family in capacity.families for pool in family.pools}
    for plan in plans:
        if plan.pool_id in by_pool:
            yield from _plan_again(plan, *by_pool[plan.pool_id], capacity.at)


def named_once(tables: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """With its family in a name that several have, and a number where that is not enough."""
    all_tables = list(tables)
    common = Counter(table["name"] for table in all_tables)
    taken: set[str] = set()
    named = []
    for table in all_tables:
        name = table["name"]
        full_name = name if common[name] == 1 else f"{name}, {table['family']}"
        number, once = 1, full_name
        while once in taken:
            number += 1
            once = f"{full_name} ({number})"
        taken.add(once)
        named.append(table | {"name": once})
    return named


def is_offer(table: Mapping[str, Any]) -> bool:
    """Whether it costs and lasts what an offer may: what was had for nothing is not to be had again."""
    hours = int(table["term_months"]) * MONTH_HOURS
    rate = float(table["hourly"] + table["upfront"] / hours)
    return LEAST_RATE <= rate <= MOST_RATE and hours <= MOST_TERM_MONTHS * MONTH_HOURS


def _plan_again(
    plan: OwnedPlanFact, family: PoolFamily, pool: PoolFact, at: datetime
) -> Iterator[dict[str, Any]]:
    rate, worth = _rate_of_plan(plan, pool, at), _worth(plan.currency, at)
    if rate is None or worth is None:
        return
    price = worth * float(plan.purchase - plan.salvage) / plan.nodes / pool.gpus_per_node
    yield {
        "name": f"{plan.name} (renewal)",
        "family": family.name,
        "kind": PurchaseOption.OWNED.value,
        "term_months": plan.life_months,
        "hourly": max(0.0, rate - price / plan.life_months / MONTH_HOURS),
        "upfront": price,
        "lot": pool.gpus_per_node,
    }


def _of_units(fact: CommitmentFact, capacity: CapacityContext) -> list[SharedSpend]:
    machines = _machines_of(fact, fact.instance_type, capacity)
    if not machines:
        return []
    family, pool = machines[0]
    lot = pool.gpus_per_node if fact.unit == "node" else 1
    gpus = fact.units * lot
    return [SharedSpend(family, pool.instance_type, _hourly(fact) / gpus, gpus, lot)]


def _machines_of(
    fact: CommitmentFact, instance_type: str, capacity: CapacityContext
) -> list[tuple[PoolFamily, PoolFact]]:
    """The families that it may cover, each with the pool of it that has such machines."""
    machines = []
    for family in capacity.families:
        pools = [
            pool
            for pool in family.pools
            if pool.purchase_option not in (PurchaseOption.OWNED, PurchaseOption.SPOT)
            and pool.gpus_per_node
            and fact.pool_id in (None, pool.id)
            and fact.provider in ("", pool.provider)
            and (not fact.region or may_lie_in(pool.region, fact.region))
            and instance_type in ("", pool.instance_type)
            and fact.gpu_model in ("", pool.gpu_model)
        ]
        if pools:
            machines.append((family, pools[0]))
    return machines


def _discount(family: PoolFamily, price: float, capacity: CapacityContext) -> float:
    on_demand = capacity.prices[family.name].on_demand
    return 1 - price / on_demand if on_demand else 0.0


def _hourly(fact: CommitmentFact) -> float:
    """Return the cost of a commitment's whole term, for an hour of it, in its own currency."""
    return float(fact.price) * HOUR_MS / fact.term_ms


def _cost_of_price(fact: CommitmentFact, at: datetime) -> float | None:
    """Return the cost of one unit of a commitment's own prices in the organisation's currency; None: not known.

    Of a spend what is paid for it need not be what it buys for.
    """
    worth = _worth(fact.currency, at)
    if worth is None or fact.units:
        return worth
    return worth * _hourly(fact) / float(fact.spend)


def _worth(currency: str, at: datetime) -> float | None:
    ours = organisation()
    month = posting_month(at, ours.zone)
    rate = exchange(from_currency=currency, to_currency=ours.currency, month=month)
    return None if rate is None else float(rate.rate)


def _live_gpus_by_pool(at: datetime) -> dict[int, int]:
    """GPUs of the nodes that live now, by pool."""
    gpus_by_pool: dict[int, int] = {}
    for node in node_statuses(at):
        if node.lives(at):
            gpus_by_pool[node.pool_id] = gpus_by_pool.get(node.pool_id, 0) + (
                node.units or node.gpus_seen
            )
    return gpus_by_pool


def _beyond_reservations(
    facts: Sequence[CommitmentFact], living_gpus: Mapping[int, int], capacity: CapacityContext
) -> dict[int, float]:
    """By reserved pool: GPUs of its nodes that no reservation on record covers.

    A reservation covers its GPUs once, be there several such pools; one of a single pool comes first.
    """
    beyond: dict[int, float] = {
        pool.id: living_gpus.get(pool.id, 0)
        for family in capacity.families
        for pool in family.pools
        if pool.purchase_option == PurchaseOption.RESERVED
    }
    now = [fact for fact in facts if fact.units and fact.starts_at <= capacity.at]
    for fact in sorted(now, key=lambda fact: fact.pool_id is None):
        for used in families_of(fact, capacity):
            left = used.gpus
            for pool in used.family.pools:
                is_covered = fact.pool_id in (None, pool.id)
                if pool.id in beyond and is_covered and pool.instance_type == used.instance_type:
                    covered = min(left, beyond[pool.id])
                    beyond[pool.id] -= covered
                    left -= covered
    return beyond


def _owned_tables(
    family: PoolFamily,
    pool: PoolFact,
    gpus: int,
    about: tuple[Sequence[OwnedPlanFact], CapacityContext],
) -> Iterator[dict[str, Any]]:
    """By plan; what no plan tells of, at the pool's own rate, or at none that is known."""
    plans, capacity = about
    kind = PurchaseOption.OWNED.value
    for plan in plans:
        if plan.pool_id == pool.id and plan.holds(capacity.at):
            plan_gpus = min(gpus, plan.nodes * pool.gpus_per_node)
            gpus -= plan_gpus
            written_off = plan.starts_at + plan.life_months * timedelta(days=365) / 12
            ends_at = plan.ends_at or max(written_off, capacity.at)
            ends_on = local_day(ends_at, organisation().zone)
            rate = _rate_of_plan(plan, pool, capacity.at)
            if plan_gpus:
                yield _held_table(
                    plan.name,
                    family,
                    (plan_gpus, rate, ends_on if ends_on > capacity.on else None),
                    kind,
                )
    if gpus:
        rate = capacity.prices[family.name].owned
        yield _held_table(f"{pool.name}, owned", family, (gpus, rate, None), kind)


def _rate_of_plan(plan: OwnedPlanFact, pool: PoolFact, at: datetime) -> float | None:
    """Depreciation, monthly costs and power by the plate, of a GPU for an hour."""
    worth, gpus = _worth(plan.currency, at), plan.nodes * pool.gpus_per_node
    if worth is None or not gpus:
        return None
    fixed = fixed_hour(plan, hour_of(at), organisation().zone).micros / MICROS / gpus
    tariffs = plan.tariffs_at(hour_of(at))
    ends = [minute for minute, _ in tariffs[1:]] + [DAY_MINUTES]
    lasts = [end - minute for end, (minute, _) in zip(ends, tariffs, strict=False)]
    mean = sum(micros * last for (_, micros), last in zip(tariffs, lasts, strict=False))
    kilowatts = plan.watts / WATTS * float(plan.pue) / pool.gpus_per_node
    return worth * (fixed + kilowatts * mean / DAY_MINUTES / MICROS)


def _held_table(
    name: str, family: PoolFamily, terms: tuple[float, float | None, date | None], kind: str
) -> dict[str, Any]:
    gpus, rate, ends_on = terms
    table: dict[str, Any] = {"name": name, "family": family.name, "gpus": gpus, "kind": kind}
    if rate is not None:
        table["rate"] = rate
    if ends_on is not None:
        table["ends_on"] = ends_on.isoformat()
    return table
