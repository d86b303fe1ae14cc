"""Offers of the pools on record: owned and reserved GPUs while idle, and what the others can grow by."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, LiteralString

from apps.accounts.queries import organisation
from apps.economics.hours import HOUR, MILLISECOND
from apps.economics.purchase import PurchaseOption
from apps.economics.waiting import Wait, WaitQuantile, wait_quantile
from apps.fleet import queries as fleet
from apps.fleet.queries import PoolFact
from apps.ledger.queries.owned_plans import PlanStatus, plan_standings
from apps.ledger.queries.tables import rows
from apps.placement.queries.market_offers import quota_room
from apps.placement.queries.offer_facts import OfferFact, hardware_fields, pool_key, rate_evidence
from apps.planning.queries.capacity_places import gpus_by_pool, micros_per_gpu_hour
from apps.planning.queries.gpu_quotas import GpuQuotaUse
from apps.pricing.queries import RateSpan, rates_of_pools, spans_of_pools
from apps.pricing.queries.listing import rate_rows
from apps.pricing.queries.owned import fixed_hour
from apps.pricing.queries.price_age import too_old_words

WAITS_SPAN = timedelta(days=14)
PAID_ANYWAY = (PurchaseOption.OWNED, PurchaseOption.RESERVED)

HELD: LiteralString = """
SELECT node.id, ceil(sum(held.gpus_numerator::float8 / held.gpus_denominator))::int8
FROM workloads_allocation_fact AS held
JOIN fleet_node_fact AS node ON node.id = held.node_id
JOIN workloads_job_fact AS job ON job.id = held.job_id AND job.merged_into_id IS NULL
WHERE held.period @> %(at)s::timestamptz
GROUP BY node.id
"""
MOST_HELD: LiteralString = """
SELECT pool_id, at, sum(sum(units)) OVER (PARTITION BY pool_id ORDER BY at)::int8
FROM (
    SELECT node.pool_id, lower(held.period) AS at, held.units
    FROM fleet_nodecapacity_fact AS held JOIN fleet_node_fact AS node ON node.id = held.node_id
    UNION ALL
    SELECT node.pool_id, upper(held.period), -held.units
    FROM fleet_nodecapacity_fact AS held JOIN fleet_node_fact AS node ON node.id = held.node_id
    WHERE NOT upper_inf(held.period)
) AS step
WHERE at <= %(at)s
GROUP BY pool_id, at ORDER BY at
"""
WAITED: LiteralString = """
SELECT DISTINCT node.pool_id, job.id, lower(job.qos),
       greatest(job.started_at - job.submitted_at, interval '0') AS waited
FROM workloads_job_fact AS job
JOIN workloads_allocation_fact AS held ON held.job_id = job.id AND held.period @> job.started_at
JOIN fleet_node_fact AS node ON node.id = held.node_id
WHERE job.merged_into_id IS NULL AND job.submitted_at IS NOT NULL
  AND job.started_at >= %(from)s AND job.started_at < %(to)s
"""


def pool_offers(quotas: Sequence[GpuQuotaUse], at: datetime) -> list[OfferFact]:
    """One of each pool of GPUs that has any, or had a price, by name."""
    pools = {
        pool.id: pool
        for pool in fleet.pools().values()
        if pool.gpus_per_node and pool.gpu_model and not pool.counts_cores
    }
    there = gpus_by_pool(at)
    idle = idle_by_node(at)
    waits = _waits_by_pool(at)
    rates = rates_of_pools(pools, at, at + HOUR)
    spans = {
        key: pool_spans[0]
        for key, pool_spans in spans_of_pools(rates, pools, at, at + HOUR).items()
    }
    evidence = rate_rows([rate.id for rate in rates])
    plans: dict[int, list[PlanStatus]] = defaultdict(list)
    for plan_standing in plan_standings(at):
        if plan_standing.plan.holds(at):
            plans[plan_standing.plan.pool_id].append(plan_standing)
    offers = []
    for pool in sorted(pools.values(), key=lambda candidate: candidate.name):
        span, is_paid = spans[pool.id], pool.purchase_option in PAID_ANYWAY
        if is_paid and not there[pool.id]:
            continue
        offers.append(
            OfferFact(
                **_pool_fields(pool),
                **hardware_fields(pool.gpu_model),
                **_wait_fields(waits.get(pool.id, {})),
                **_price_fields(pool, span, plans[pool.id], evidence, at),
                **_room_fields(pool, there[pool.id], idle.get(pool.id, []), quotas),
            )
        )
    return [_with_notes(offer) for offer in offers]


def idle_gpus(at: datetime) -> Counter[int]:
    """GPUs of each pool that can be used and that no job holds."""
    return Counter({pool_id: sum(idle) for pool_id, idle in idle_by_node(at).items()})


def idle_by_node(at: datetime) -> dict[int, list[int]]:
    """By pool, of each living node: its GPUs that no job holds, 0 of one that is out of order, the most first."""
    held_by_node: dict[int, int] = dict(rows(HELD, {"at": at}))
    nodes = [
        node
        for node in fleet.nodes_alive_between(at, at + MILLISECOND)
        if not fleet.pools()[node.pool_id].counts_cores
    ]
    broken = {
        outage.node_id
        for outage in fleet.outages([node.id for node in nodes], at, at + MILLISECOND)
        if outage.device_id is None
    }
    free_by_pool: dict[int, list[int]] = defaultdict(list)
    for node in nodes:
        free = 0 if node.id in broken else max(0, node.units - held_by_node.get(node.id, 0))
        free_by_pool[node.pool_id].append(free)
    return {pool_id: sorted(idle, reverse=True) for pool_id, idle in free_by_pool.items()}


def most_held(at: datetime) -> Counter[tuple[str, str, str]]:
    """By provider, region and GPU model: the most GPUs that were ever rented there by the hour at once."""
    pools = fleet.pools()
    now: Counter[int] = Counter()
    places: Counter[tuple[str, str, str]] = Counter()
    most: Counter[tuple[str, str, str]] = Counter()
    for pool_id, _, units in rows(MOST_HELD, {"at": at}):
        pool = pools[pool_id]
        if pool.counts_cores or pool.purchase_option in PAID_ANYWAY:
            continue
        place = pool.provider, pool.region, pool.gpu_model
        places[place] += units - now[pool_id]
        now[pool_id] = units
        most[place] = max(most[place], places[place])
    return most


def _pool_fields(pool: PoolFact) -> dict[str, Any]:
    return {
        "key": pool_key(pool.id),
        "name": pool.name,
        "option": pool.purchase_option,
        "provider": pool.provider,
        "region": pool.region,
        "instance_type": pool.instance_type,
        "gpu_model": pool.gpu_model,
        "gpus_per_node": pool.gpus_per_node,
        "pool_id": pool.id,
    }


def _room_fields(
    pool: PoolFact, there: int, idle: Sequence[int], quotas: Sequence[GpuQuotaUse]
) -> dict[str, Any]:
    """Return the room of a pool: what is paid whether it runs or not has an end; what is rented by the hour has a quota's."""
    on_nodes = {"idle_by_node": [gpus for gpus in idle if gpus]}
    if pool.purchase_option in PAID_ANYWAY:
        return {"there_gpus": there, "free_gpus": sum(idle), **on_nodes}
    room, _ = quota_room(quotas, pool.provider, pool.region, pool.gpu_model)
    return {"there_gpus": None, "free_gpus": None if room is None else room + sum(idle), **on_nodes}


def _wait_fields(waits: Mapping[str, Sequence[Wait]]) -> dict[str, Any]:
    """Of all jobs, and of those of each priority."""
    of_all = _wait_figures([wait for priority_waits in waits.values() for wait in priority_waits])
    if of_all is None:
        return {}
    median, ninth, count = of_all
    by_priority = {
        name: _wait_figures(priority_waits)
        for name, priority_waits in sorted(waits.items())
        if name
    }
    return {
        "median_wait_hours": median,
        "ninth_wait_hours": ninth,
        "waits_counted": count,
        "waits_by_priority": {name: figures for name, figures in by_priority.items() if figures},
    }


def _wait_figures(waits: Sequence[Wait]) -> list[float] | None:
    """Median and ninth in hours, and how many; None of none."""
    median, ninth = wait_quantile(waits, 0.5), wait_quantile(waits, 0.9)
    if median is None or ninth is None:
        return None
    return [_hours_of(median), _hours_of(ninth), len(waits)]


def _hours_of(quantile: WaitQuantile) -> float:
    return quantile.length / HOUR


def _waits_by_pool(at: datetime) -> Mapping[int, Mapping[str, list[Wait]]]:
    """By pool and QOS, in small letters."""
    waits: dict[int, dict[str, list[Wait]]] = defaultdict(lambda: defaultdict(list))
    for pool_id, _, qos, waited in rows(WAITED, {"from": at - WAITS_SPAN, "to": at}):
        waits[pool_id][qos].append(Wait(waited))
    return waits


def _price_fields(
    pool: PoolFact,
    span: RateSpan,
    plans: Sequence[PlanStatus],
    evidence: Mapping[int, dict[str, Any]],
    at: datetime,
) -> dict[str, Any]:
    """A GPU-hour more, and what one costs anyway; by its plans, else by its rate."""
    if plans:
        return _owned_fields(pool, plans, at)
    rate = span.paid_rate
    paid = None
    if rate is not None and rate.exchange is not None:
        paid = round(micros_per_gpu_hour(rate, pool.gpus_per_node))
    rates = [rate_evidence(evidence[rate.id], at)] if rate is not None else []
    too_old = "" if rate is None else too_old_words(evidence[rate.id], at)
    if too_old:
        # What it is charged at stays; what another hour would cost is not known by it.
        return {"micros": None, "paid_micros": None, "rates": rates, "notes": [too_old]}
    if pool.purchase_option not in PAID_ANYWAY:
        return {
            "micros": paid,
            "paid_micros": paid,
            "low_micros": paid,
            "high_micros": paid,
            "rates": rates,
        }
    note = f"{pool.purchase_option} GPUs are paid whether they run or not: a GPU-hour more costs nothing"
    return {"micros": 0, "paid_micros": paid, "rates": rates, "notes": [note]}


def _owned_fields(pool: PoolFact, plans: Sequence[PlanStatus], at: datetime) -> dict[str, Any]:
    """Return what owned hardware owes anyway, and the power that a GPU-hour of this month took."""
    zone, ours = organisation().zone, organisation().currency
    gpus = sum(plan.plan.nodes for plan in plans) * pool.gpus_per_node
    is_ours = all(plan.plan.currency == ours for plan in plans)
    owed = sum(fixed_hour(plan.plan, at, zone).micros for plan in plans)
    months = [plan.this_month for plan in plans]
    unit_ms = sum(month.unit_ms for month in months)
    power = [month.marginal_per_gpu_hour for month in months]
    notes = ["owned GPUs are paid whether they run or not: a GPU-hour more costs its power"]
    marginal = 0
    if unit_ms and None not in power:
        drawn = sum(month.marginal_micros for month in months)
        marginal = round(drawn * 3_600_000 / unit_ms)
    else:
        notes.append("what its power costs is not known yet, and not in the price")
    plan_names = ", ".join(plan.plan.name for plan in plans)
    return {
        "micros": marginal,
        "paid_micros": round(owed / gpus) if is_ours and gpus else None,
        "pue": float(max(plan.plan.pue for plan in plans)),
        "notes": [*notes, f"by the owned plan {plan_names}"],
    }


def _with_notes(offer: OfferFact) -> OfferFact:
    if offer.option in PAID_ANYWAY and offer.free_gpus is not None:
        held_gpus = (offer.there_gpus or 0) - offer.free_gpus
        offer.notes.append(
            f"{offer.free_gpus} of {offer.there_gpus} GPUs are idle, {held_gpus} are held or out of order"
        )
    return offer
