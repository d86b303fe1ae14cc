"""Offers of what was bought ahead and stands idle: paid already, so an hour more costs nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from math import floor

from apps.accounts.queries import organisation
from apps.economics.hours import HOUR, HOUR_MS, hour_of
from apps.economics.money import MICROS
from apps.economics.purchase import PurchaseOption
from apps.fleet.queries import PoolFact, pools
from apps.ledger.queries.commitments import commitment_use
from apps.placement.queries.offer_facts import COMMITMENT_KEY, OfferFact, hardware_fields
from apps.pricing.queries.commitments import CommitmentFact, commitments_in

RECENT_HOURS = 6
WORTH_SAYING = Fraction(1, 100)


def commitment_offers(at: datetime) -> tuple[list[OfferFact], list[str]]:
    """Of each commitment, what nobody used of it in the last hour that is charged; what was left out.

    One of a spend is offered for every machine that it has a price of, as many whole ones as its unused spend pays.
    """
    commitments = commitments_in(at, at + HOUR)
    if not commitments:
        return [], []
    begins = hour_of(at) - RECENT_HOURS * HOUR
    cuts = [begins + place * HOUR for place in range(RECENT_HOURS + 1)]
    use = commitment_use(cuts, at)
    offers, left_out = [], []
    for fact in commitments:
        charged = [
            use.of[fact.id, time]
            for time in range(RECENT_HOURS)
            if (fact.id, time) in use.of and use.of[fact.id, time].bought
        ]
        if not charged:
            left_out.append(f"{fact.name}: none of the last {RECENT_HOURS} hours is charged yet")
            continue
        unused = 1 - Fraction(charged[-1].used, charged[-1].bought)
        if unused < 0:
            # Nothing of it is idle, and less than nothing cannot be offered.
            left_out.append(
                f"{fact.name}: its bill says {float(-unused):.1%} more use than was bought of it"
            )
            continue
        fact_offers = list(
            _offers_of_units(fact, unused) if fact.units else _offers_of_spend(fact, unused)
        )
        if not fact_offers:
            left_out.append(f"{fact.name}: no pool on record is of what it covers")
        offers += [offer for offer in fact_offers if offer.free_gpus]
        left_out += [
            f"{offer.name}: {float(unused):.0%} of it is unused, less than one machine"
            for offer in fact_offers
            if unused >= WORTH_SAYING and not offer.free_gpus
        ]
    return offers, left_out


def _offers_of_units(fact: CommitmentFact, unused: Fraction) -> Iterator[OfferFact]:
    pool = _pool_of(fact, list(pools().values()))
    if pool is not None:
        per_unit = 1 if fact.unit == "gpu" else pool.gpus_per_node
        yield _commitment_offer(
            fact, pool, floor(fact.units * unused) * per_unit, fact.units * per_unit
        )


def _offers_of_spend(fact: CommitmentFact, unused: Fraction) -> Iterator[OfferFact]:
    """For each machine that it has a price of; the same spend pays one of them, not all."""
    for machine, price in sorted(fact.prices.items()):
        pool = _pool_of(replace(fact, instance_type=machine), list(pools().values()))
        if pool is None or not price:
            continue
        nodes, most = (floor(Fraction(fact.spend) * part / Fraction(price)) for part in (unused, 1))
        offer = _commitment_offer(fact, pool, nodes * pool.gpus_per_node, most * pool.gpus_per_node)
        others = [name for name in sorted(fact.prices) if name != machine]
        note = (
            f"its unused spend, {float(Fraction(fact.spend) * unused):,.2f} {fact.currency} an hour, pays"
            f" {nodes} {machine} at {price.normalize():f} an hour"
        )
        if others:
            note += f", or as much of {', '.join(others)}"
        yield replace(
            offer, key=f"{COMMITMENT_KEY}{fact.id}:{machine}", notes=[*offer.notes, note],
            paid_micros=_paid_of_spend(fact, Fraction(price) / pool.gpus_per_node),
        )  # fmt: skip


def _paid_of_spend(fact: CommitmentFact, per_gpu_hour: Fraction) -> int | None:
    """Return what a GPU-hour of the plan costs anyway, in micro-units."""
    if fact.currency != organisation().currency:
        return None
    per_spend = fact.price * HOUR_MS / fact.term_ms / Fraction(fact.spend)
    return round(per_gpu_hour * per_spend * MICROS)


def _pool_of(fact: CommitmentFact, candidates: Sequence[PoolFact]) -> PoolFact | None:
    """The first pool of GPUs that it may cover: it says model and place."""
    for pool in sorted(candidates, key=lambda candidate: candidate.id):
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


def _commitment_offer(fact: CommitmentFact, pool: PoolFact, idle: int, there: int) -> OfferFact:
    paid = None
    if there and fact.currency == organisation().currency:
        hourly = fact.price * HOUR_MS / fact.term_ms * MICROS
        paid = round(hourly / there)
    return OfferFact(
        key=f"{COMMITMENT_KEY}{fact.id}",
        name=fact.name,
        option=str(PurchaseOption.RESERVED),
        provider=pool.provider,
        region=pool.region,
        instance_type=pool.instance_type,
        gpu_model=pool.gpu_model,
        gpus_per_node=pool.gpus_per_node,
        micros=0,
        paid_micros=paid,
        there_gpus=there,
        free_gpus=idle,
        notes=[
            f"{idle} GPUs of the commitment {fact.name} are paid and unused, until {fact.ends_at:%Y-%m-%d}"
        ],
        **hardware_fields(pool.gpu_model),
    )
