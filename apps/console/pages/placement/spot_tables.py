"""Tables of spot evidence: by source, and one source by hour of the day."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from apps.console.kit.cells import COUNT, FIGURE, Locale
from apps.console.kit.table import Table
from apps.console.pages.placement import words
from apps.economics.hours import DAY_HOURS
from apps.economics.spot.evidence import ObservedInterruptions
from apps.placement.queries.spot_evidence import SpotEvidence
from apps.placement.tables.spot_evidence import SPOT_EVIDENCE, day_rate
from apps.show.unknown import UNKNOWN as NOT_KNOWN
from apps.tables.column import Column


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


def _rate_words(interruptions: ObservedInterruptions) -> str:
    if interruptions.rate is None and interruptions.exposure_hours:
        return "None seen"
    return a_day(interruptions.rate)


def _median_words(row: SpotEvidence, _: Locale) -> str:
    return words.hours_words(row.median_life_hours) or NOT_KNOWN


EVIDENCE = Table.of(
    SPOT_EVIDENCE,
    dress={
        "name": {
            "href": lambda row: f"{reverse('spot-evidence')}?{urlencode({'of': evidence_key(row)})}"
        },
        "interruptions_per_day": {"shown": lambda row, _: _rate_words(row.rate)},
        "range": {"shown": lambda row, _: range_words(row.rate)},
        "median_life_hours": {"shown": _median_words},
    },
)

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
