"""How often work on spot was interrupted here: ends of jobs, as their schedulers said them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, LiteralString

from apps.economics.checkpoints import hazard
from apps.economics.hours import HOUR
from apps.economics.purchase import PurchaseOption
from apps.fleet import queries as fleet
from apps.ledger.queries.tables import rows
from apps.placement.queries.offer_facts import OfferFact
from apps.workloads import queries as workloads

EVIDENCE_SPAN = timedelta(days=60)
INTERRUPTED_STATES = frozenset(("NODE_FAIL", "PREEMPTED"))
FEWEST = 5
"""With fewer interruptions the evidence is called thin."""

RAN: LiteralString = """
SELECT DISTINCT node.pool_id, job.id, greatest(job.started_at, %(from)s) AS begins,
       least(coalesce(job.ended_at, %(to)s), %(to)s) AS ends
FROM workloads_job_fact AS job
JOIN workloads_allocation_fact AS held ON held.job_id = job.id AND held.period @> job.started_at
JOIN fleet_node_fact AS node ON node.id = held.node_id
WHERE job.merged_into_id IS NULL AND node.pool_id = ANY(%(pools)s)
  AND job.started_at < %(to)s AND coalesce(job.ended_at, %(to)s) > %(from)s
"""


def with_interruptions(offers: Sequence[OfferFact], at: datetime) -> list[OfferFact]:
    """The offers, each on spot with what jobs met in spot pools of its provider, region and GPU model."""
    pools = {
        pool.id: (pool.provider, pool.region, pool.gpu_model)
        for pool in fleet.pools().values()
        if pool.purchase_option == PurchaseOption.SPOT and not pool.counts_cores
    }
    if not pools:
        return list(offers)
    asked = {"from": at - EVIDENCE_SPAN, "to": at, "pools": sorted(pools)}
    ran = rows(RAN, asked)
    states = {job.id: job.state for job in workloads.jobs([row[1] for row in ran]).values()}
    exposure: dict[tuple[str, str, str], float] = defaultdict(float)
    interrupted: dict[tuple[str, str, str], int] = defaultdict(int)
    for pool_id, job_id, begins, ends in ran:
        exposure[pools[pool_id]] += max(0.0, (ends - begins) / HOUR)
        interrupted[pools[pool_id]] += states.get(job_id) in INTERRUPTED_STATES and ends < at
    return [
        replace(offer, interruptions=_evidence(offer, exposure, interrupted))
        if offer.option == PurchaseOption.SPOT
        else offer
        for offer in offers
    ]


def _evidence(
    offer: OfferFact,
    exposure: dict[tuple[str, str, str], float],
    interrupted: dict[tuple[str, str, str], int],
) -> dict[str, Any] | None:
    """None where no job ran there. Of no interruption the likely rate is half of one (Gamma with prior ½)."""
    place = offer.provider, offer.region, offer.gpu_model
    hours, count = exposure.get(place, 0.0), interrupted.get(place, 0)
    if hours <= 0:
        return None
    found = hazard(count, hours)
    times = "once" if count == 1 else f"{count} times"
    return {
        "low": found.low,
        "likely": 0.5 / hours if found.rate is None else found.rate,
        "high": found.high,
        "wait": offer.median_wait_hours or 0.0,
        "words": f"own jobs on spot there were interrupted {times} in {hours:,.0f} hours of the last 60 days",
        "is_thin": count < FEWEST,
    }
