"""Offers of what was bought ahead and stands idle: paid already, so an hour more costs nothing."""

from collections.abc import Sequence
from datetime import datetime

from apps.accounts.queries import organisation
from apps.economics.hours import HOUR, HOUR_MS, hour_of
from apps.economics.money import MICROS
from apps.economics.purchase import PurchaseOption
from apps.fleet.queries import PoolFact, pools
from apps.ledger.queries.commitments import commitment_use
from apps.placement.queries.offer_facts import OfferFact, hardware_fields
from apps.pricing.queries.commitments import CommitmentFact, commitments_in

RECENT_HOURS = 6


def commitment_offers(at: datetime) -> tuple[list[OfferFact], list[str]]:
    """Of each commitment in units, its units that nobody used in the last hour that is charged; what was left out."""
    held = [each for each in commitments_in(at, at + HOUR) if each.units]
    if not held:
        return [], []
    begins = hour_of(at) - RECENT_HOURS * HOUR
    cuts = [begins + place * HOUR for place in range(RECENT_HOURS + 1)]
    use = commitment_use(cuts, at)
    offers, left_out = [], []
    for fact in held:
        pool = _pool_of(fact, list(pools().values()))
        charged = [
            use.of[fact.id, time]
            for time in range(RECENT_HOURS)
            if (fact.id, time) in use.of and use.of[fact.id, time].bought
        ]
        if pool is None:
            left_out.append(f"{fact.name}: no pool on record is of what it covers")
        elif not charged:
            left_out.append(f"{fact.name}: none of the last {RECENT_HOURS} hours is charged yet")
        else:
            idle = fact.units * (1 - charged[-1].used / charged[-1].bought)
            offers.append(_commitment_offer(fact, pool, idle))
    return [offer for offer in offers if offer.free_gpus], left_out


def _pool_of(fact: CommitmentFact, known: Sequence[PoolFact]) -> PoolFact | None:
    """The first pool of GPUs that it may cover: it says model and place."""
    for pool in sorted(known, key=lambda each: each.id):
        is_its = (
            fact.pool_id in (None, pool.id)
            and fact.provider in ("", pool.provider)
            and (fact.region in ("", pool.region) or fact.region.startswith(pool.region))
            and fact.instance_type in ("", pool.instance_type)
            and fact.gpu_model in ("", pool.gpu_model)
        )
        if is_its and pool.gpus_per_node and not pool.counts_cores and pool.gpu_model:
            return pool
    return None


def _commitment_offer(fact: CommitmentFact, pool: PoolFact, idle_units: float) -> OfferFact:
    per_unit = 1 if fact.unit == "gpu" else pool.gpus_per_node
    idle = int(idle_units + 1e-9) * per_unit
    paid = None
    if fact.currency == organisation().currency:
        hourly = fact.price * HOUR_MS / fact.term_ms * MICROS
        paid = round(hourly / (fact.units * per_unit))
    return OfferFact(
        key=f"commitment:{fact.id}",
        name=fact.name,
        option=str(PurchaseOption.RESERVED),
        provider=pool.provider,
        region=pool.region,
        instance_type=pool.instance_type,
        gpu_model=pool.gpu_model,
        gpus_per_node=pool.gpus_per_node,
        micros=0,
        paid_micros=paid,
        there_gpus=fact.units * per_unit,
        free_gpus=idle,
        notes=[
            f"{idle} GPUs of the commitment {fact.name} are paid and unused, until {fact.ends_at:%Y-%m-%d}"
        ],
        **hardware_fields(pool.gpu_model),
    )
