"""Pools of a cluster as Slurm's partitions: which partition is of which pool, and what a GPU-hour of it costs."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, LiteralString

from apps.economics.gpu_catalogue import gpu_family
from apps.fleet import queries as fleet
from apps.fleet.queries import PoolFact
from apps.ledger.queries.tables import rows
from apps.placement.queries.admission_limits import quotas_counted_against
from apps.placement.queries.book import newest_book
from apps.placement.queries.offer_facts import pool_key
from apps.placement.queries.pool_offers import PAID_ANYWAY, idle_gpus
from apps.planning.queries.gpu_quotas import GpuQuotaUse, gpu_quota_use, gpu_quotas
from apps.show.entries import Entry, Micros, Ratio

_PARTITIONS = Entry(help="its name, then those of jobs that held its nodes in the last 7 days")
PARTITIONS_SPAN = timedelta(days=7)
PARTITIONS: LiteralString = """
SELECT DISTINCT node.pool_id, job.partition
FROM workloads_job_fact AS job
JOIN workloads_allocation_fact AS held ON held.job_id = job.id
JOIN fleet_node_fact AS node ON node.id = held.node_id
WHERE job.cluster_id = %(cluster)s AND job.merged_into_id IS NULL AND job.partition <> ''
  AND job.started_at >= %(from)s AND job.started_at < %(to)s
ORDER BY 1, 2
"""

POOLS_HELD: LiteralString = """
SELECT DISTINCT held.job_id, node.pool_id
FROM workloads_allocation_fact AS held
JOIN fleet_node_fact AS node ON node.id = held.node_id
WHERE held.job_id = ANY(%(jobs)s)
ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class SlurmQuota:
    """A quota that GPUs started in a pool count against: how many may be started now."""

    name: str
    is_hard: bool
    left_gpus: int


@dataclass(frozen=True, slots=True)
class SlurmPool:
    """A pool as a scheduler sees it; null is not known.

    `partitions` are its own name and those of jobs that held its nodes in the last seven days. `paid_micros` is what the ledger charges
    for a GPU-hour, `micros` what one more costs. `gpu_type` is the word of its model that a type of GRES has ("h100").
    """

    id: int
    name: str
    partitions: Annotated[tuple[str, ...], _PARTITIONS]
    option: Annotated[str, Entry(help="owned, reserved, on_demand or spot")]
    gpu_model: str
    gpu_type: Annotated[str, Entry(help="the word of its model in a type of GRES, or empty")]
    paid_micros: Micros | None
    micros: int | None
    idle_gpus: int
    median_wait_hours: Ratio | None
    quotas: tuple[SlurmQuota, ...]


def slurm_pools(cluster_id: int, at: datetime) -> list[SlurmPool]:
    """Pools of GPUs of the cluster, by name; prices and waits are the newest offer book's."""
    pools = [
        pool
        for pool in fleet.pools().values()
        if pool.cluster_id == cluster_id and pool.gpus_per_node and not pool.counts_cores
    ]
    book = newest_book()
    offers = {} if book is None else book.offers
    partitions = _partitions_by_pool(cluster_id, at)
    idle, uses = idle_gpus(at), gpu_quota_use(gpu_quotas(), at)
    cluster_pools = []
    for pool in sorted(pools, key=lambda candidate: candidate.name):
        offer = offers.get(pool_key(pool.id))
        other_names = [name for name in partitions[pool.id] if name != pool.name]
        cluster_pools.append(
            SlurmPool(
                id=pool.id,
                name=pool.name,
                partitions=(pool.name, *other_names),
                option=pool.purchase_option,
                gpu_model=pool.gpu_model,
                gpu_type=gpu_family(pool.gpu_model),
                paid_micros=None if offer is None else offer.paid_micros,
                micros=None if offer is None else offer.micros,
                idle_gpus=idle[pool.id],
                median_wait_hours=None if offer is None else offer.median_wait_hours,
                quotas=_quotas_of(pool, uses),
            )
        )
    return cluster_pools


def pools_of_jobs(job_ids: Collection[int]) -> dict[int, list[int]]:
    """The pools whose nodes each of these jobs held."""
    pools_by_job: dict[int, list[int]] = defaultdict(list)
    for job_id, pool_id in rows(POOLS_HELD, {"jobs": list(job_ids)}):
        pools_by_job[job_id].append(pool_id)
    return pools_by_job


def _partitions_by_pool(cluster_id: int, at: datetime) -> dict[int, list[str]]:
    partitions_by_pool: dict[int, list[str]] = defaultdict(list)
    span = {"cluster": cluster_id, "from": at - PARTITIONS_SPAN, "to": at}
    for pool_id, partition in rows(PARTITIONS, span):
        partitions_by_pool[pool_id].append(partition)
    return partitions_by_pool


def _quotas_of(pool: PoolFact, uses: Sequence[GpuQuotaUse]) -> tuple[SlurmQuota, ...]:
    """None of what is paid whether it runs or not: no more of these are started for a job."""
    if pool.purchase_option in PAID_ANYWAY:
        return ()
    quota_uses = quotas_counted_against(uses, pool.provider, pool.region, pool.gpu_model)
    return tuple(
        SlurmQuota(use.quota.name, use.quota.is_hard, max(0, use.headroom_gpus))
        for use in quota_uses
    )
