"""How often work on spot is interrupted in an offer's place, by the nearest evidence that there is.

Own jobs, as their schedulers said their ends; where none ran there, own nodes that their cloud took back;
where no notice was seen either, imported series. One source is counted, never two together.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, LiteralString, TypeAlias

from apps.economics.checkpoints import hazard
from apps.economics.hours import HOUR
from apps.economics.purchase import PurchaseOption
from apps.economics.spot.evidence import FEWEST_ENDS
from apps.fleet import queries as fleet
from apps.ledger.queries.tables import rows
from apps.placement.queries.asked import are_same_model
from apps.placement.queries.offer_facts import STALE_EVIDENCE_DAYS, OfferFact
from apps.placement.queries.spot_evidence import EVIDENCE_SPAN as NOTICES_SPAN
from apps.placement.queries.spot_evidence import (
    IMPORTED,
    OWN_NODES,
    SpotEvidence,
    spot_evidence,
    times_words,
)
from apps.workloads import queries as workloads

EVIDENCE_SPAN = timedelta(days=60)
INTERRUPTED_STATES = frozenset(("NODE_FAIL", "PREEMPTED"))
OWN_JOBS = "own_jobs"
Place: TypeAlias = tuple[str, str, str]
"""Provider, region and GPU model."""
NOTICES_WORDS = (
    "no own job ran on spot there; own nodes of {names} were taken back {times} in {hours:,.0f}"
    " node-hours of the last {days} days"
)
SERIES_WORDS = (
    "nothing of our own was seen on spot there; by {names}, imported and {until}, it was taken away"
    " {times} in {hours:,.0f} hours of availability"
)

RAN: LiteralString = """
SELECT DISTINCT node.pool_id, job.id, greatest(job.started_at, %(from)s) AS begins,
       least(coalesce(job.ended_at, %(to)s), %(to)s) AS ends
FROM workloads_job_fact AS job
JOIN workloads_allocation_fact AS held ON held.job_id = job.id AND held.period @> job.started_at
JOIN fleet_node_fact AS node ON node.id = held.node_id
WHERE job.merged_into_id IS NULL AND node.pool_id = ANY(%(pools)s)
  AND job.started_at < %(to)s AND coalesce(job.ended_at, %(to)s) > %(from)s
"""


@dataclass(frozen=True, slots=True)
class CountedInterruptions:
    """What one source counted in one place: interruptions in so many hours on spot, and what it is called.

    `seen_until` is when it was last looked there; None: nobody says.
    """

    source: str
    names: tuple[str, ...]
    hours: float
    count: int
    words: str
    seen_until: datetime | None


def with_interruptions(offers: Sequence[OfferFact], at: datetime) -> list[OfferFact]:
    """The offers, each on spot with the nearest evidence of its place; None where there is none."""
    if all(offer.option != PurchaseOption.SPOT for offer in offers):
        return list(offers)
    jobs, told = _own_jobs(at), spot_evidence(at)
    return [
        replace(offer, interruptions=_evidence(offer, jobs, told, at))
        if offer.option == PurchaseOption.SPOT
        else offer
        for offer in offers
    ]


def _own_jobs(at: datetime) -> dict[Place, CountedInterruptions]:
    """What jobs met in spot pools, by provider, region and GPU model."""
    pools = {
        pool.id: pool
        for pool in fleet.pools().values()
        if pool.purchase_option == PurchaseOption.SPOT and not pool.counts_cores
    }
    if not pools:
        return {}
    ran = rows(RAN, {"from": at - EVIDENCE_SPAN, "to": at, "pools": sorted(pools)})
    states = {job.id: job.state for job in workloads.jobs([row[1] for row in ran]).values()}
    exposure: dict[Place, float] = defaultdict(float)
    interrupted: dict[Place, int] = defaultdict(int)
    names: dict[Place, set[str]] = defaultdict(set)
    newest: dict[Place, datetime] = {}
    for pool_id, job_id, begins, ends in ran:
        pool = pools[pool_id]
        place = pool.provider, pool.region, pool.gpu_model
        exposure[place] += max(0.0, (ends - begins) / HOUR)
        interrupted[place] += states.get(job_id) in INTERRUPTED_STATES and ends < at
        names[place].add(pool.name)
        newest[place] = max(ends, newest.get(place, ends))
    return {
        place: CountedInterruptions(
            OWN_JOBS,
            tuple(sorted(names[place])),
            hours,
            interrupted[place],
            f"own jobs on spot there were interrupted {times_words(interrupted[place])} in"
            f" {hours:,.0f} hours of the last {EVIDENCE_SPAN.days} days",
            newest[place],
        )
        for place, hours in exposure.items()
        if hours > 0
    }


def _evidence(
    offer: OfferFact,
    jobs: dict[Place, CountedInterruptions],
    told: Sequence[SpotEvidence],
    at: datetime,
) -> dict[str, Any] | None:
    """None where nothing was seen. Of no interruption the likely rate is half of one (Gamma with prior ½)."""
    counted = (
        jobs.get((offer.provider, offer.region, offer.gpu_model))
        or _own_nodes(offer, told)
        or _series(offer, told)
    )
    if counted is None:
        return None
    found, until = hazard(counted.count, counted.hours), counted.seen_until
    age_days = None if until is None else max(0, (at - until).days)
    return {
        "low": found.low,
        "likely": 0.5 / counted.hours if found.rate is None else found.rate,
        "high": found.high,
        "wait": offer.median_wait_hours or 0.0,
        "words": counted.words,
        "is_thin": counted.count < FEWEST_ENDS,
        "source": counted.source,
        "names": list(counted.names),
        "exposure_hours": counted.hours,
        "interruptions": counted.count,
        "is_per_node": counted.source == OWN_NODES,
        "seen_until": None if until is None else until.isoformat(),
        "age_days": age_days,
        "is_stale": age_days is None or age_days > STALE_EVIDENCE_DAYS,
    }


def _own_nodes(offer: OfferFact, told: Iterable[SpotEvidence]) -> CountedInterruptions | None:
    """Notices on own nodes there. None where none was seen: then nobody knows whether one would have been."""
    there = [
        each
        for each in told
        if each.source == OWN_NODES
        and (each.provider, each.region, each.gpu_model)
        == (offer.provider, offer.region, offer.gpu_model)
    ]
    if not any(each.rate.interruptions for each in there):
        return None
    return _summed(there, NOTICES_WORDS)


def _series(offer: OfferFact, told: Iterable[SpotEvidence]) -> CountedInterruptions | None:
    """Imported series of this machine type in this region; of its GPU model where one names no machine type."""
    there = [
        each
        for each in told
        if each.source == IMPORTED
        and each.rate.exposure_hours > 0
        and each.region == offer.region
        and each.provider in ("", offer.provider)
        and _is_of_machine(each, offer)
    ]
    if not there:
        return None
    newest = _newest(there)
    until = "of unknown date" if newest is None else f"seen until {newest:%Y-%m-%d}"
    return _summed(there, SERIES_WORDS, until)


def _is_of_machine(series: SpotEvidence, offer: OfferFact) -> bool:
    if series.instance_type and offer.instance_type:
        return series.instance_type == offer.instance_type
    return bool(series.gpu_model) and are_same_model(series.gpu_model, offer.gpu_model)


def _summed(there: Sequence[SpotEvidence], words: str, until: str = "") -> CountedInterruptions:
    names = tuple(sorted(each.name for each in there))
    hours = sum(each.rate.exposure_hours for each in there)
    count = sum(each.rate.interruptions for each in there)
    said = words.format(
        names=", ".join(names),
        times=times_words(count),
        hours=hours,
        until=until,
        days=NOTICES_SPAN.days,
    )
    return CountedInterruptions(there[0].source, names, hours, count, said, _newest(there))


def _newest(there: Iterable[SpotEvidence]) -> datetime | None:
    """When it was last looked; None where none of them says."""
    return max((each.seen_until for each in there if each.seen_until is not None), default=None)
