"""Tables of spot evidence: by source, and one source by hour of the day."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from apps.console.kit.cells import COUNT, FIGURE, INSTANT, PROSE, RATIO, Locale
from apps.console.kit.table import Table
from apps.console.pages.placement import words
from apps.economics.hours import DAY_HOURS
from apps.economics.spot.evidence import FEWEST_ENDS, ObservedInterruptions
from apps.placement.queries.spot_evidence import SpotEvidence
from apps.show.unknown import UNKNOWN as NOT_KNOWN
from apps.tables.column import Column

SOURCES = {"own_nodes": "Own nodes", "imported_series": "Imported series"}


@dataclass(frozen=True, slots=True)
class EvidenceHour:
    """The interruptions seen in one hour of the day, UTC."""

    hour: int
    seen: ObservedInterruptions


def evidence_key(row: SpotEvidence) -> str:
    """Return what an address calls a source."""
    return f"{row.source}:{row.name}"


def spot_hours(row: SpotEvidence) -> list[EvidenceHour]:
    """The 24 hours of a source; none where no clock is known."""
    return [EvidenceHour(hour, interruptions) for hour, interruptions in enumerate(row.by_hour)]


def a_day(rate: float | None) -> str:
    """Interruptions an hour as so many a day, three digits."""
    return NOT_KNOWN if rate is None else f"{rate * DAY_HOURS:.3g}"


def range_words(interruptions: ObservedInterruptions) -> str:
    """`0.17 to 0.51`, a day; of none seen only the upper end is known."""
    if interruptions.high is None:
        return NOT_KNOWN
    if interruptions.rate is None:
        return f"at most {a_day(interruptions.high)}"
    return f"{a_day(interruptions.low)} to {a_day(interruptions.high)}"


def day_rate(interruptions: ObservedInterruptions) -> float | None:
    """Interruptions in 24 hours on spot; None where none was seen."""
    return None if interruptions.rate is None else interruptions.rate * DAY_HOURS


def _rate_words(interruptions: ObservedInterruptions) -> str:
    if interruptions.rate is None and interruptions.exposure_hours:
        return "None seen"
    return a_day(interruptions.rate)


def _is_thin_words(interruptions: ObservedInterruptions) -> str:
    return f"Thin: fewer than {FEWEST_ENDS} seen" if interruptions.is_thin else "Enough"


def _median_words(row: SpotEvidence, _: Locale) -> str:
    return words.hours_words(row.median_life_hours) or NOT_KNOWN


def _place_words(row: SpotEvidence) -> str | None:
    region = row.zone or row.region
    return f"{row.provider}:{region}" if row.provider and region else region or row.provider or None


EVIDENCE = Table[SpotEvidence](
    "evidence",
    "By pool and zone",
    (
        Column("name", "Pool or series", lambda row: row.name, PROSE,
               href=lambda row: f"{reverse('spot-evidence')}?{urlencode({'of': evidence_key(row)})}"),
        Column("per_day", "Interruptions a day", lambda row: day_rate(row.rate), FIGURE, csv="interruptions_per_day",
               shown=lambda row, _: _rate_words(row.rate)),
        Column("range", "Range of 95 %", lambda row: row.rate.high, FIGURE, csv="",
               shown=lambda row, _: range_words(row.rate), sorts=False),
        Column("thin", "Evidence", lambda row: _is_thin_words(row.rate), warns=lambda row: row.rate.is_thin),
        Column("source", "Source", lambda row: SOURCES[row.source]),
        Column("interruptions", "Interruptions", lambda row: row.rate.interruptions, COUNT),
        Column("hours", "Hours seen", lambda row: row.rate.exposure_hours, FIGURE, csv="exposure_hours",
               shown=lambda row, _: f"{row.rate.exposure_hours:,.0f}"),
        Column("median", "Median life", lambda row: row.median_life_hours, FIGURE, csv="median_life_hours",
               shown=_median_words),
        Column("place", "Place", _place_words),
        Column("model", "GPU model", lambda row: row.gpu_model or None, csv="gpu_model"),
        Column("machine", "Machine", lambda row: row.instance_type or None, csv="instance_type"),
        Column("up", "Could be had", lambda row: row.up_share, RATIO, csv="up_share", missing="–"),
        Column("until", "Seen until", lambda row: row.seen_until, INSTANT, csv="seen_until"),
        Column("from", "", lambda row: row.seen_from, INSTANT, csv="seen_from"),
        Column("low", "", lambda row: row.rate.low * DAY_HOURS, csv="low_per_day"),
        Column("high", "", lambda row: None if row.rate.high is None else row.rate.high * DAY_HOURS,
               csv="high_per_day"),
    ),
    noun=("source", "sources"),
    about="{said}; a day is 24 hours of one node on spot; a median life needs 20 lives that were seen to their end",
    sort="evidence-by",
)  # fmt: skip

HOURS = Table[EvidenceHour](
    "hours",
    "By hour of the day",
    (
        Column("hour", "Hour (UTC)", lambda row: row.hour, COUNT, csv="hour_utc",
               shown=lambda row, _: f"{row.hour:02d}:00"),
        Column("interruptions", "Interruptions", lambda row: row.seen.interruptions, COUNT),
        Column("hours", "Hours seen", lambda row: row.seen.exposure_hours, FIGURE, csv="exposure_hours",
               shown=lambda row, _: f"{row.seen.exposure_hours:,.1f}"),
        Column("per_day", "Interruptions a day", lambda row: day_rate(row.seen), FIGURE, csv="interruptions_per_day",
               shown=lambda row, _: a_day(row.seen.rate)),
        Column("range", "Range of 95 %", lambda row: row.seen.high, FIGURE, csv="",
               shown=lambda row, _: range_words(row.seen), sorts=False),
        Column("low", "", lambda row: row.seen.low * DAY_HOURS, csv="low_per_day"),
        Column("high", "", lambda row: None if row.seen.high is None else row.seen.high * DAY_HOURS,
               csv="high_per_day"),
    ),
    noun=("hour", "hours"),
    about="one hour alone says little: to each, 5 interruptions at the rate of all hours are added",
    sort="hours-by",
)  # fmt: skip
