"""How often work on spot is interrupted in an offer's place, by the nearest evidence that there is.

Own jobs, as their schedulers said their ends; where none ran there, own nodes that their cloud took back;
where no notice was seen either, imported series. Where the nearest says too little to stand alone, a few
interruptions at the rate of the next are joined to it; what each counted is never added up.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, LiteralString

from apps.economics.checkpoints import hazard
from apps.economics.hours import HOUR
from apps.economics.purchase import PurchaseOption
from apps.economics.spot.evidence import (
    FEWEST_ENDS,
    PRIOR_ENDS,
    ObservedInterruptions,
    SpotLife,
    hour_factors,
    interruption_rate,
    is_sufficient_evidence,
    rates_by_hour,
    summed_hours,
)
from apps.fleet import queries as fleet
from apps.ledger.queries.tables import rows
from apps.placement.queries.offer_facts import STALE_EVIDENCE_DAYS, OfferFact, Place
from apps.placement.queries.quote_request import are_same_model
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
OWN_JOBS = "own_jobs"
INTERRUPTED_STATES = frozenset(("NODE_FAIL", "PREEMPTED"))
NOTICES_WORDS = (
    "own nodes of {names} were taken back {times} in {hours} node-hours of the last {days} days"
)
SERIES_WORDS = (
    "by {names}, imported and {until}, it was taken away {times} in {hours} hours of availability"
)
BEFORE_WORDS = {
    OWN_JOBS: "",
    OWN_NODES: "no own job ran on spot there; ",
    IMPORTED: "nothing of our own was seen on spot there; ",
}
OF_LONGEST_WORDS = "own jobs on spot there ran for less, without any; "

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
    """Interruptions that one source counted in one place, in so many hours on spot, and what it is called.

    `seen_until` is when it was last looked there; None: nobody says. `by_hour` of the day is empty where no clock is known.
    """

    source: str
    names: tuple[str, ...]
    hours: float
    count: int
    words: str
    seen_until: datetime | None
    by_hour: Sequence[ObservedInterruptions] = ()


def with_interruptions(offers: Sequence[OfferFact], at: datetime) -> list[OfferFact]:
    """The offers, each on spot with the nearest evidence of its place; None where there is none."""
    if all(offer.option != PurchaseOption.SPOT for offer in offers):
        return list(offers)
    jobs, observations = _job_interruptions(at), spot_evidence(at)
    return [
        replace(offer, interruptions=_offer_evidence(offer, jobs, observations, at))
        if offer.option == PurchaseOption.SPOT
        else offer
        for offer in offers
    ]


def _job_interruptions(at: datetime) -> dict[Place, CountedInterruptions]:
    """Return the interruptions that jobs met in spot pools, by provider, region and GPU model."""
    pools = {
        pool.id: pool
        for pool in fleet.pools().values()
        if pool.purchase_option == PurchaseOption.SPOT and not pool.counts_cores
    }
    if not pools:
        return {}
    ran = rows(RAN, {"from": at - EVIDENCE_SPAN, "to": at, "pools": sorted(pools)})
    states = {job.id: job.state for job in workloads.jobs([row[1] for row in ran]).values()}
    lifetimes: dict[Place, list[SpotLife]] = defaultdict(list)
    names: dict[Place, set[str]] = defaultdict(set)
    newest: dict[Place, datetime] = {}
    for pool_id, job_id, begins, ends in ran:
        pool = pools[pool_id]
        place = pool.provider, pool.region, pool.gpu_model
        was_interrupted = states.get(job_id) in INTERRUPTED_STATES and ends < at
        hours = max(0.0, (ends - begins) / HOUR)
        lifetimes[place].append(SpotLife(begins.timestamp(), hours, was_interrupted))
        names[place].add(pool.name)
        newest[place] = max(ends, newest.get(place, ends))
    return {
        place: CountedInterruptions(
            OWN_JOBS,
            tuple(sorted(names[place])),
            rate.exposure_hours,
            rate.interruptions,
            f"own jobs on spot there were interrupted {times_words(rate.interruptions)} in"
            f" {_hours_words(rate.exposure_hours)} hours of the last {EVIDENCE_SPAN.days} days",
            newest[place],
            rates_by_hour(lifetimes[place]),
        )
        for place, rate in (
            (place, interruption_rate(place_lives)) for place, place_lives in lifetimes.items()
        )
        if rate.exposure_hours > 0
    }


def _offer_evidence(
    offer: OfferFact,
    jobs: dict[Place, CountedInterruptions],
    observations: Sequence[SpotEvidence],
    at: datetime,
) -> dict[str, Any] | None:
    """None where nothing was seen. Of no interruption the likely rate is half of one (Gamma with prior ½).

    What is joined is a Gamma prior of PRIOR_ENDS interruptions at most.
    """
    there = (
        jobs.get(offer.model_place),
        _node_interruptions(offer, observations),
        _imported_series(offer, observations),
    )
    sources = [source for source in there if source is not None]
    nearest, joined = _weighed_sources(sources)
    if nearest is None:
        return None
    ends = min(PRIOR_ENDS, joined.count) if joined else 0
    hours = nearest.hours + (ends * joined.hours / joined.count if joined else 0.0)
    estimate = hazard(nearest.count + ends, hours)
    return {
        "low": estimate.low,
        "likely": 0.5 / hours if estimate.rate is None else estimate.rate,
        "high": estimate.high,
        "wait": offer.median_wait_hours or 0.0,
        "words": _before_words(sources, nearest) + nearest.words + _joined_words(joined, ends),
        "is_thin": nearest.count < FEWEST_ENDS,
        "is_per_node": nearest.source == OWN_NODES,
        "hour_factors": _factors_of(nearest) or (_factors_of(joined) if joined else None),
        **_source_document(nearest, at),
        "joined": {**_source_document(joined, at), "added_interruptions": ends} if joined else None,
    }


def _weighed_sources(
    sources: Sequence[CountedInterruptions],
) -> tuple[CountedInterruptions | None, CountedInterruptions | None]:
    """The nearest of sources in their order, and the next with interruptions where it does not stand alone.

    Where none saw any the one that looked longest counts alone.
    """
    if not sources:
        return None, None
    nearest, *farther = sources
    if not any(source.count for source in sources):
        return max(sources, key=lambda source: source.hours), None
    following = next((source for source in farther if source.count), None)
    if following is None or is_sufficient_evidence(
        nearest.count, nearest.hours, following.count / following.hours
    ):
        return nearest, None
    return nearest, following


def _before_words(sources: Sequence[CountedInterruptions], counted: CountedInterruptions) -> str:
    return BEFORE_WORDS[counted.source] if counted is sources[0] else OF_LONGEST_WORDS


def _joined_words(joined: CountedInterruptions | None, ends: int) -> str:
    if joined is None:
        return ""
    return (
        f"; that alone says little, so {ends} interruptions are added at the rate of"
        f" one node of {', '.join(joined.names)} ({joined.count} in {_hours_words(joined.hours)} hours)"
    )


def _factors_of(source: CountedInterruptions) -> list[float] | None:
    return hour_factors(source.by_hour) if source.by_hour else None


def _source_document(source: CountedInterruptions, at: datetime) -> dict[str, Any]:
    """Return what a source counted, and how old that is."""
    until = source.seen_until
    age_days = None if until is None else max(0, (at - until).days)
    return {
        "source": source.source,
        "names": list(source.names),
        "exposure_hours": source.hours,
        "interruptions": source.count,
        "seen_until": None if until is None else until.isoformat(),
        "age_days": age_days,
        "is_stale": age_days is None or age_days > STALE_EVIDENCE_DAYS,
    }


def _node_interruptions(
    offer: OfferFact, observations: Iterable[SpotEvidence]
) -> CountedInterruptions | None:
    """Notices on own nodes there. None where none was seen: then nobody knows whether one would have been."""
    there = [
        evidence
        for evidence in observations
        if evidence.source == OWN_NODES
        and (evidence.provider, evidence.region, evidence.gpu_model) == offer.model_place
    ]
    if not any(observation.rate.interruptions for observation in there):
        return None
    return _summed_evidence(there, NOTICES_WORDS)


def _imported_series(
    offer: OfferFact, observations: Iterable[SpotEvidence]
) -> CountedInterruptions | None:
    """Imported series of this machine type in this region; of its GPU model where one names no machine type."""
    there = [
        evidence
        for evidence in observations
        if evidence.source == IMPORTED
        and evidence.rate.exposure_hours > 0
        and evidence.region == offer.region
        and evidence.provider in ("", offer.provider)
        and _is_of_machine(evidence, offer)
    ]
    if not there:
        return None
    newest = _latest_observation(there)
    until = "of unknown date" if newest is None else f"seen until {newest:%-d %B %Y}"
    return _summed_evidence(there, SERIES_WORDS, until)


def _is_of_machine(series: SpotEvidence, offer: OfferFact) -> bool:
    if series.instance_type and offer.instance_type:
        return series.instance_type == offer.instance_type
    return bool(series.gpu_model) and are_same_model(series.gpu_model, offer.gpu_model)


def _summed_evidence(
    there: Sequence[SpotEvidence], words: str, until: str = ""
) -> CountedInterruptions:
    names = tuple(sorted(evidence.name for evidence in there))
    hours = sum(evidence.rate.exposure_hours for evidence in there)
    count = sum(evidence.rate.interruptions for evidence in there)
    sentence = words.format(
        names=", ".join(names),
        times=times_words(count),
        hours=_hours_words(hours),
        until=until,
        days=NOTICES_SPAN.days,
    )
    by_hour = summed_hours([evidence.by_hour for evidence in there])
    return CountedInterruptions(
        there[0].source, names, hours, count, sentence, _latest_observation(there), by_hour
    )


def _hours_words(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"


def _latest_observation(there: Iterable[SpotEvidence]) -> datetime | None:
    """When it was last looked; None where none of them says."""
    return max(
        (evidence.seen_until for evidence in there if evidence.seen_until is not None), default=None
    )
