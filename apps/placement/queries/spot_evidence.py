"""How often spot is taken away: own nodes that their clouds took back, and series that somebody imported."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from apps.economics.hours import HOUR
from apps.economics.purchase import PurchaseOption
from apps.economics.spot.evidence import (
    ObservedInterruptions,
    SpotLife,
    interruption_rate,
    lifetimes_of_trace,
    median_life,
    observed_by_hour_of_day,
    rates_by_hour,
    remaining_life,
)
from apps.fleet import queries as fleet
from apps.placement.queries.spot_series import all_spot_series, series_trace
from apps.show.entries import Entry, Ratio

EVIDENCE_SPAN = timedelta(days=90)
_MEDIAN_LIFE = Entry(
    help="null also where over half of the lives went on longer than all seen to end"
)
OWN_NODES, IMPORTED = "own_nodes", "imported_series"


@dataclass(frozen=True, slots=True)
class SpotEvidence:
    """Evidence of spot that one source has of one place; `by_hour` of the day in UTC is empty where no clock is known.

    `up_share` is of the hours in which somebody looked; own nodes say nothing of it. `mean_life_hours` and
    `median_life_hours` are None of fewer than 20 lives seen to their end. `observed_by_hour_of_day` are the hours in which somebody
    looked, by hour of the day; empty of own nodes.
    """

    source: Annotated[str, Entry(help="own_nodes or imported_series")]
    name: str
    provider: str
    region: str
    zone: str
    gpu_model: str
    instance_type: str
    seen_from: datetime | None
    seen_until: datetime | None
    up_share: Ratio | None
    rate: ObservedInterruptions
    mean_life_hours: Annotated[
        Ratio | None, Entry(help="null: fewer than 20 lives were seen to their end")
    ]
    median_life_hours: Annotated[Ratio | None, _MEDIAN_LIFE]
    by_hour: tuple[ObservedInterruptions, ...]
    known_by_hour: tuple[float, ...] = ()


def spot_evidence(at: datetime) -> list[SpotEvidence]:
    """Evidence by source and name; own nodes of the last 90 days, each imported series as a whole."""
    return [*_fleet_evidence(at), *(_series_evidence())]


def times_words(count: int) -> str:
    """`once`, `12 times`."""
    return "once" if count == 1 else f"{count} times"


def _fleet_evidence(at: datetime) -> list[SpotEvidence]:
    pools = {
        pool.id: pool
        for pool in fleet.pools().values()
        if pool.purchase_option == PurchaseOption.SPOT and not pool.counts_cores
    }
    since = at - EVIDENCE_SPAN
    lives_by_pool: dict[int, list[SpotLife]] = defaultdict(list)
    for life in fleet.machine_lifetimes(sorted(pools), since, at):
        begins, ends = max(life.started_at, since), min(life.ended_at or at, at)
        taken = life.was_reclaimed and life.ended_at is not None and life.ended_at <= at
        lives_by_pool[life.pool_id].append(
            SpotLife(begins.timestamp(), (ends - begins) / HOUR, taken)
        )
    return [
        SpotEvidence(
            OWN_NODES,
            pool.name,
            pool.provider,
            pool.region,
            "",
            pool.gpu_model,
            pool.instance_type,
            since,
            at,
            None,
            *_interruption_summary(lives_by_pool[pool.id], is_dated=True),
        )
        for pool in sorted(pools.values(), key=lambda pool: pool.name)
    ]


def _series_evidence() -> list[SpotEvidence]:
    observations = []
    for series in all_spot_series():
        trace = series_trace(series)
        lifetimes = lifetimes_of_trace(trace, trace.starts or 0.0)
        known_ticks = int(trace.known.sum())
        ends = None if series.starts_at is None else series.starts_at + trace.hours * HOUR
        observations.append(
            SpotEvidence(
                IMPORTED,
                series.name,
                series.provider,
                series.region,
                series.zone,
                series.gpu_model,
                series.instance_type,
                series.starts_at,
                ends,
                float(trace.is_up().sum() / known_ticks) if known_ticks else None,
                *_interruption_summary(lifetimes, is_dated=trace.starts is not None),
                known_by_hour=()
                if trace.starts is None
                else tuple(observed_by_hour_of_day(trace, trace.starts)),
            )
        )
    return observations


def _interruption_summary(
    lifetimes: Sequence[SpotLife], *, is_dated: bool
) -> tuple[ObservedInterruptions, float | None, float | None, tuple[ObservedInterruptions, ...]]:
    by_hour = tuple(rates_by_hour(lifetimes)) if is_dated else ()
    return (
        interruption_rate(lifetimes),
        remaining_life(lifetimes, 0.0),
        median_life(lifetimes),
        by_hour,
    )
