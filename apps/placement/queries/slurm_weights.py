"""TRESBillingWeights of a cluster's partitions, by what the ledger charges, with how each number came to be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from apps.accounts.queries import organisation
from apps.accounts.queries.reading import reading_once
from apps.economics.billing_weights import BillingWeights, billing_weights
from apps.economics.money import MICROS
from apps.fleet import queries as fleet
from apps.placement.queries.book import BookFact, newest_book
from apps.placement.queries.offer_facts import pool_key
from apps.placement.queries.slurm_pools import SlurmPool, slurm_pools
from apps.pricing.queries.price_policies import gpu_shares

CENTS, MOST_SCALE = 100, 1_000_000
PARTS = 1_000_000
WEIGHT_STEP = Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class PartitionWeights:
    """Of one partition: weights by TRES (`GRES/gpu`, `CPU`) in units of money an hour; empty where they are not known.

    `reasons` say how each came to be, or why there is none. `gpu_types` are what AccountingStorageTRES must name beside gres/gpu.
    """

    partition: str
    weights: Mapping[str, Decimal]
    gpu_types: tuple[str, ...]
    reasons: tuple[str, ...]

    @property
    def option(self) -> str:
        """As slurm.conf has it on the line of a partition; empty where nothing is known."""
        text = ",".join(f"{name}={weight:f}" for name, weight in self.weights.items())
        return f'TRESBillingWeights="{text}"' if text else ""


@dataclass(frozen=True, slots=True)
class _PricedPool:
    """In micro-units an hour; None where nothing prices it."""

    gpu_type: str
    weights: BillingWeights | None
    reason: str


def slurm_billing_weights(
    cluster_id: int, at: datetime, *, scale: int = CENTS
) -> list[PartitionWeights]:
    """Of each partition that pools of the cluster are known as, by name; `scale` units are one of the organisation's currency."""
    with reading_once():
        pools = slurm_pools(cluster_id, at)
        shares, book = gpu_shares(at), newest_book()
        policies = fleet.share_policies([pool.id for pool in pools], at)
        priced = {
            pool.id: _priced_pool(pool, policies.get(pool.id), shares.get(pool.id, PARTS), book)
            for pool in pools
        }
        weights = []
        for name in sorted({name for pool in pools for name in pool.partitions}):
            partition_pools = [priced[pool.id] for pool in pools if name in pool.partitions]
            weights.append(_partition_weights(name, partition_pools, scale))
        return weights


def _priced_pool(
    pool: SlurmPool, policy: fleet.PolicyFact | None, share: int, book: BookFact | None
) -> _PricedPool:
    if pool.paid_micros is None:
        reason = f"pool {pool.name}: the offer book has no price of a GPU-hour"
        return _PricedPool(pool.gpu_type, None, reason)
    offer = book.offers[pool_key(pool.id)] if book else None
    cores, weight = (policy.cores_per_node, policy.core_weight) if policy else (0, Fraction(0))
    gpus = fleet.pools()[pool.id].gpus_per_node
    weights = billing_weights(
        Fraction(pool.paid_micros),
        gpus=gpus,
        cores=cores,
        core_weight=weight,
        gpu_share=Fraction(share, PARTS),
    )
    currency = organisation().currency
    words = [f"{pool.paid_micros / MICROS:.6f} {currency} a GPU-hour ({pool.option})"]
    words += [
        f"rate {rate['rate']} ({rate['kind']}, {rate['source'] or 'no source'}, of {rate['said_on']})"
        for rate in (offer.rates if offer else [])
    ]
    words += [
        note for note in (offer.notes if offer else []) if note.startswith("by the owned plan")
    ]
    if weight:
        words.append(f"{cores} cores a node count {float(weight):g} of its {gpus} GPUs each")
    if share != PARTS:
        words.append(f"{share / PARTS:.2%} of a node rides on its GPUs, the rest is in no weight")
    return _PricedPool(pool.gpu_type, weights, f"pool {pool.name}: " + "; ".join(words))


def _partition_weights(name: str, pools: Sequence[_PricedPool], scale: int) -> PartitionWeights:
    """Slurm weighs a TRES, not a pool: what pools of one type cost must be one amount, else it is left out."""
    reasons = [pool.reason for pool in pools]
    weights: dict[str, Decimal] = {}
    types = sorted({pool.gpu_type for pool in pools})
    for gpu_type in types:
        same = {pool.weights for pool in pools if pool.gpu_type == gpu_type}
        of_type = same.pop() if len(same) == 1 else None
        if of_type is not None and (gpu_type or len(types) == 1):
            tres = f"GRES/gpu:{gpu_type}" if len(types) > 1 else "GRES/gpu"
            weights[tres] = _in_units(of_type.gpu, scale)
        else:
            model = gpu_type or "a model that is not known"
            reasons.append(f"GPUs of {model} are left out: no one price is known of them here")
    cores = {pool.weights.core if pool.weights else None for pool in pools}
    core = cores.pop() if len(cores) == 1 else None
    if core:
        weights["CPU"] = _in_units(core, scale)
    elif core is None:
        reasons.append("CPU is left out: no one price of a core is known here")
    return PartitionWeights(name, weights, _types_of(weights), tuple(reasons))


def _types_of(weights: Mapping[str, Decimal]) -> tuple[str, ...]:
    return tuple(name.partition(":")[2] for name in weights if ":" in name)


def _in_units(micros: Fraction, scale: int) -> Decimal:
    exact = micros * scale / MICROS
    return (Decimal(exact.numerator) / exact.denominator).quantize(WEIGHT_STEP)
