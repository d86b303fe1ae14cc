"""Stretches of a node's time as bars: held, worked, not observed, slowed, and what happened."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from apps.console.pages.fleet.hours import level_of
from apps.console.pages.lanes import Span
from apps.economics.hours import HOUR, hour_of
from apps.show.amounts import per_cent
from apps.show.time import clock, minute_duration
from apps.telemetry.queries import DeviceEvidence, DeviceMinutes

MINUTE = timedelta(minutes=1)
SECONDS_PER_HOUR = 3600
# Windows arrive a minute at a time, and are counted every twenty seconds.
STILL_ARRIVING = timedelta(minutes=5)
NARROWEST = 0.15
REASONS = {
    "power_capped_seconds": "held back by its power cap",
    "thermal_seconds": "slowed by heat",
    "hardware_slowed_seconds": "slowed by its hardware",
}

Stretch = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of time in a lane, in per cent as SVG writes it, and what it says."""

    left: str
    width: str
    kind: str
    words: str
    text: str = ""
    top: str = "0"
    height: str = "100%"


def bar(stretch: Stretch, kind: str, words: str, span: Span) -> Bar:
    """The stretch where it is drawn; its words end with its times."""
    left, right = span.left(stretch[0]), span.left(stretch[1])
    width = max(NARROWEST, right - left)
    times = f"{clock(stretch[0], span.zone)} to {clock(stretch[1], span.zone)}"
    return Bar(f"{left:.3f}%", f"{width:.3f}%", kind, f"{words}, {times}")


def gaps(
    minutes_by_hour: Mapping[datetime, DeviceMinutes], lifetime: Stretch, span: Span
) -> list[tuple[datetime, datetime]]:
    """The stretches, of a minute and longer, in which a device that was there was not observed."""
    first, last = span.cut(*lifetime)
    last = min(last, max(first, _arrived_until(span)))
    stretches: list[Stretch] = []
    for starts_at, ends_at in _unobserved_minutes(minutes_by_hour, first, last):
        begins, ends = max(starts_at, first), min(ends_at, last)
        if stretches and stretches[-1][1] == begins:
            stretches[-1] = (stretches[-1][0], ends)
        elif ends > begins:
            stretches.append((begins, ends))
    return [stretch for stretch in stretches if stretch[1] - stretch[0] >= MINUTE]


def worked_bars(minutes_by_hour: Mapping[datetime, DeviceMinutes], span: Span) -> Iterator[Bar]:
    """Each hour of which anything was observed, by how much of that it worked."""
    for hour in sorted(minutes_by_hour):
        observed, worked = sum(minutes_by_hour[hour].observed), sum(minutes_by_hour[hour].worked)
        stretch = span.cut(hour, hour + HOUR)
        if observed and stretch[1] > stretch[0]:
            ratio = min(1.0, worked / observed)
            description = f"active {per_cent(ratio)} of the time observed"
            yield bar(stretch, f"heat-{level_of(ratio)}", description, span)


def slowed_bars(hourly_evidence: Iterable[DeviceEvidence], span: Span) -> Iterator[Bar]:
    """Each hour in which something held the device back, as high as its share of the hour."""
    for evidence in hourly_evidence:
        reasons = slowed_seconds([evidence])
        stretch = span.cut(evidence.hour, evidence.hour + HOUR)
        if reasons and stretch[1] > stretch[0]:
            share = min(1.0, max(reasons.values()) / SECONDS_PER_HOUR)
            high = max(15, round(share * 100))
            drawn = bar(stretch, "slowed", slowed_words(reasons), span)
            yield Bar(
                drawn.left,
                drawn.width,
                "slowed",
                drawn.words,
                top=f"{100 - high}%",
                height=f"{high}%",
            )


def slowed_seconds(hourly_evidence: Iterable[DeviceEvidence]) -> dict[str, float]:
    """For how long, by what held it back; without what was never told or never happened."""
    sums: dict[str, float] = {}
    for evidence in hourly_evidence:
        for name, reason in REASONS.items():
            seconds = getattr(evidence, name)
            if seconds is not None and seconds >= 1:
                sums[reason] = sums.get(reason, 0.0) + seconds
    return sums


def slowed_words(seconds: Mapping[str, float]) -> str:
    """`held back by its power cap for 12 min, slowed by heat for 3 min`."""
    spans = {reason: timedelta(seconds=round(second)) for reason, second in seconds.items()}
    return ", ".join(f"{reason} for {minute_duration(span)}" for reason, span in spans.items())


def side_by_side(bars: Sequence[tuple[Stretch, Bar]]) -> tuple[Bar, ...]:
    """Bars that overlap, under one another; those that do not share a lane."""
    ends: list[datetime] = []
    placed = []
    for (starts_at, ends_at), drawn in bars:
        lane = next((place for place, end in enumerate(ends) if end <= starts_at), len(ends))
        ends[lane : lane + 1] = [ends_at]
        placed.append((lane, drawn))
    high = 100 / max(1, len(ends))
    return tuple(
        Bar(
            *(drawn.left, drawn.width, drawn.kind, drawn.words),
            text=drawn.text if len(ends) == 1 else "",
            top=f"{lane * high:.2f}%",
            height=f"{high:.2f}%",
        )
        for lane, drawn in placed
    )


def _arrived_until(span: Span) -> datetime:
    return span.until - STILL_ARRIVING if span.until < span.ends_at else span.until


def _unobserved_minutes(
    minutes_by_hour: Mapping[datetime, DeviceMinutes], first: datetime, last: datetime
) -> Iterator[Stretch]:
    hour = hour_of(first)
    while hour < last:
        if hour not in minutes_by_hour:
            yield hour, hour + HOUR
        else:
            minute = 0
            for is_seen, run in groupby(map(bool, minutes_by_hour[hour].observed)):
                length = len(list(run))
                if not is_seen:
                    yield hour + minute * MINUTE, hour + (minute + length) * MINUTE
                minute += length
        hour += HOUR
