"""Spot by region and GPU model over the hours of the day: how often it is taken away, and whether it could be had."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from apps.console.kit.cells import COUNT, FIGURE, RATIO, drawn, quiet
from apps.console.kit.heat import HEAT, Heat, HeatCell
from apps.console.kit.request import Context
from apps.console.kit.table import Table, TableSection
from apps.console.pages.placement.spot_tables import a_day, range_words
from apps.economics.hours import DAY_HOURS
from apps.economics.spot.evidence import ObservedInterruptions
from apps.placement.queries.spot_evidence import IMPORTED, OWN_NODES, SpotEvidence
from apps.placement.queries.spot_regions import RegionHour, SpotRegion, spot_regions
from apps.placement.tables.spot_evidence import SOURCES, day_rate
from apps.show.amounts import counted, per_cent
from apps.tables.column import Column

STEPS_PER_DAY = (1.0, 4.0, 12.0)
"""Interruptions a day at which an hour is drawn darker."""
QUARTERS = 4
NOUNS = {OWN_NODES: ("pool", "pools"), IMPORTED: ("series", "series")}


class MappedHour(NamedTuple):
    """A region in one hour of the day."""

    place: SpotRegion
    hour: RegionHour


def _interruptions_heat(row: SpotRegion) -> Heat:
    cells = [
        HeatCell(
            _hour_left(hour), *_taken_level(hour.interruptions, _hour_label(hour), row.unknown)
        )
        for hour in row.hours
    ]
    return Heat(cells, _interruptions_words(row))


def _taken_level(interruptions: ObservedInterruptions, label: str, unknown: str) -> tuple[str, str]:
    if not interruptions.exposure_hours:
        return "unobserved", f"{label}: not known, {unknown or 'it was not up then'}"
    hours = f"in {interruptions.exposure_hours:,.0f} hours seen"
    if interruptions.rate is None:
        return "0", f"{label}: none {hours}"
    rate = interruptions.rate * DAY_HOURS
    level = 1 + sum(rate >= step for step in STEPS_PER_DAY)
    return str(level), (
        f"{label}: {a_day(interruptions.rate)} a day ({range_words(interruptions)}), {interruptions.interruptions} {hours}"
    )


def _interruptions_words(row: SpotRegion) -> str:
    if row.unknown:
        return f"not known: {row.unknown}"
    known_hours = [hour for hour in row.hours if hour.interruptions.rate is not None]
    if not known_hours:
        return "none seen at any hour"
    most = max(known_hours, key=lambda hour: hour.interruptions.rate or 0.0)
    return f"most often taken away at {most.hour:02d}:00 UTC, {a_day(most.interruptions.rate)} times a day"


def _availability_heat(row: SpotRegion) -> Heat:
    cells = [
        HeatCell(_hour_left(hour), *_up_level(hour.up_share, _hour_label(hour)))
        for hour in row.hours
    ]
    return Heat(cells, _availability_words(row))


def _up_level(share: float | None, label: str) -> tuple[str, str]:
    if share is None:
        return "unobserved", f"{label}: not known"
    level = min(QUARTERS, int(share * QUARTERS) + 1) if share else 0
    return str(level), f"{label}: could be had {per_cent(share)} of the time"


def _availability_words(row: SpotRegion) -> str:
    shares = [hour.up_share for hour in row.hours if hour.up_share is not None]
    if not shares:
        return "whether it could be had is not known"
    return f"could be had {per_cent(min(shares))} to {per_cent(max(shares))} of the time, by hour"


def _hour_label(hour: RegionHour) -> str:
    return f"{hour.hour:02d}:00 UTC"


def _hour_left(hour: RegionHour) -> str:
    return f"{hour.hour * 100 / DAY_HOURS:.4f}%"


MAP = Table[SpotRegion](
    "map",
    "By region and hour of the day",
    (
        Column("region", "Region", lambda row: row.region or None, missing=quiet("not said"),
               note=lambda row: row.gpu_model),
        Column("taken", "Taken away, 00:00 to 24:00 UTC", _interruptions_words, HEAT, sorts=False,
               shown=lambda row, _: _interruptions_heat(row).drawn()),
        Column("had", "Could be had, 00:00 to 24:00 UTC", _availability_words, HEAT, sorts=False,
               shown=lambda row, _: _availability_heat(row).drawn()),
        Column("source", "Source", lambda row: SOURCES[row.source],
               note=lambda row: counted(len(row.names), *NOUNS[row.source])),
        Column("provider", "Provider", lambda row: row.provider or None, missing=quiet("not said")),
    ),
    noun=("region", "regions"),
    about="{said}; zones or pools of a region are added up, own nodes and imported series never; no hour is drawn of which nothing was seen",
    sort="map-by",
    css="map",
)  # fmt: skip


def _of_hour(value: Callable[[RegionHour], float | None]) -> Callable[[MappedHour], float | None]:
    return lambda row: value(row.hour)


REGION_HOURS = Table[MappedHour](
    "region-hours",
    "Hours of regions",
    (
        Column("region", "", lambda row: row.place.region),
        Column("gpu_model", "", lambda row: row.place.gpu_model),
        Column("provider", "", lambda row: row.place.provider),
        Column("source", "", lambda row: row.place.source),
        Column("names", "", lambda row: ", ".join(row.place.names)),
        Column("hour_utc", "", lambda row: row.hour.hour, COUNT),
        Column("exposure_hours", "", _of_hour(lambda hour: hour.interruptions.exposure_hours), FIGURE),
        Column("interruptions", "", lambda row: row.hour.interruptions.interruptions, COUNT),
        Column("interruptions_per_day", "", _of_hour(lambda hour: _observed_rate(hour.interruptions)), FIGURE),
        Column("up_share", "", _of_hour(lambda hour: hour.up_share), RATIO),
        Column("unknown", "", lambda row: row.place.unknown),
    ),
)  # fmt: skip


def _observed_rate(interruptions: ObservedInterruptions) -> float | None:
    """A day; None of an hour of which nothing was seen, whatever the other hours say."""
    return day_rate(interruptions) if interruptions.exposure_hours else None


def spot_map(sources: Sequence[SpotEvidence], context: Context) -> TableSection:
    """The map of all that is known."""
    return MAP.section(
        spot_regions(sources),
        context,
        csv=REGION_HOURS.file("spot-regions", context, lambda: list(mapped_hours(sources))),
        remark=drawn("placement/_spot_keys.html"),
    )


def mapped_hours(sources: Sequence[SpotEvidence]) -> Iterator[MappedHour]:
    """Each region and model hour by hour."""
    for place in spot_regions(sources):
        for hour in place.hours:
            yield MappedHour(place, hour)
