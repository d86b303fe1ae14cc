"""Spot evidence by region and GPU model, hour by hour of the day: sources of one kind added up, two kinds never."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from apps.economics.hours import DAY_HOURS
from apps.economics.spot.evidence import ObservedInterruptions, summed_rates
from apps.placement.queries.spot_evidence import IMPORTED, SpotEvidence
from apps.show.entries import Entry, Ratio

_UNKNOWN = Entry(help="why interruptions by hour are not known; empty: they are")
UNSEEN = ObservedInterruptions(0.0, 0, None, 0.0, None)


@dataclass(frozen=True, slots=True)
class RegionHour:
    """One hour of the day in UTC: interruptions on spot, and the share of the hours looked in which spot could be had.

    `up_share` is None where nobody looked, as with own nodes.
    """

    hour: int
    interruptions: ObservedInterruptions
    up_share: Ratio | None


@dataclass(frozen=True, slots=True)
class SpotRegion:
    """A region and model as sources of one kind saw it.

    `unknown` says why its interruptions by hour are not known; empty where they are.
    """

    source: Annotated[str, Entry(help="own_nodes or imported_series")]
    provider: str
    region: str
    gpu_model: str
    names: tuple[str, ...]
    unknown: Annotated[str, _UNKNOWN]
    hours: tuple[RegionHour, ...]


def spot_regions(observations: Sequence[SpotEvidence]) -> list[SpotRegion]:
    """By region, model, provider and kind of source. Own nodes on which no notice was ever seen say nothing of interruptions."""
    places: dict[tuple[str, str, str, str], list[SpotEvidence]] = defaultdict(list)
    for evidence in observations:
        places[evidence.region, evidence.gpu_model, evidence.provider, evidence.source].append(
            evidence
        )
    return [
        _region_of(place_evidence)
        for _, place_evidence in sorted(places.items(), key=lambda at_place: at_place[0])
    ]


def _region_of(there: Sequence[SpotEvidence]) -> SpotRegion:
    first, dated = there[0], [evidence for evidence in there if evidence.by_hour]
    unknown = _why_unknown(there)
    rates = (
        [UNSEEN] * DAY_HOURS if unknown else summed_rates([evidence.by_hour for evidence in dated])
    )
    return SpotRegion(
        first.source,
        first.provider,
        first.region,
        first.gpu_model,
        tuple(sorted(evidence.name for evidence in dated or there)),
        unknown,
        tuple(RegionHour(hour, rates[hour], _up_share(dated, hour)) for hour in range(DAY_HOURS)),
    )


def _why_unknown(there: Sequence[SpotEvidence]) -> str:
    if not any(evidence.by_hour for evidence in there):
        return "it was imported without the time of its first look"
    if not any(evidence.rate.exposure_hours for evidence in there):
        return "no hour on spot was seen there"
    if there[0].source != IMPORTED and not any(evidence.rate.interruptions for evidence in there):
        return "no notice was ever seen there, which may mean that nobody could hear one"
    return ""


def _up_share(dated: Sequence[SpotEvidence], hour: int) -> float | None:
    """Hours of availability ÷ hours looked: lives on spot are the hours in which it was up."""
    known_hours = sum(evidence.known_by_hour[hour] for evidence in dated if evidence.known_by_hour)
    up = sum(evidence.by_hour[hour].exposure_hours for evidence in dated if evidence.known_by_hour)
    return min(1.0, up / known_hours) if known_hours else None
