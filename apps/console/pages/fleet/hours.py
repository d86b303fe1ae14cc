"""The last two days by the hour: columns by state for a node, a heat strip for a device."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from fractions import Fraction

from django.utils.safestring import SafeString

from apps.console.kit.cells import strip_drawn
from apps.console.kit.heat import Heat, HeatCell
from apps.economics.hours import HOUR, hour_of
from apps.economics.split import largest_remainder
from apps.economics.states import HELD_STATES, State
from apps.show.amounts import Ratio, per_cent
from apps.show.strip import Strip, strip_of_states
from apps.show.time import instant
from apps.show.words import STATES, StateWords, joined
from apps.telemetry.queries import DeviceHourReading

SHOWN_HOURS = 48
STEPS = 1000


@dataclass(frozen=True, slots=True)
class GpuTime:
    """A span of GPU time: its strip, and ratios that are None where nothing is known."""

    strip: Strip | None = None
    active_ratio: Ratio | None = None
    coverage_ratio: Ratio | None = None


@dataclass(frozen=True, slots=True)
class HourPart:
    """A part of an hour's column: where it stands, in hundredths of its height."""

    state: StateWords
    top: str
    height: str


@dataclass(frozen=True, slots=True)
class HourColumn:
    """One hour of a node by state; no parts where it is not settled."""

    hour: datetime
    left: str
    parts: tuple[HourPart, ...]
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceHourCell(HeatCell):
    """One hour of a device: 0 to 4 by how active it was, and what of it was observed and worked."""

    hour: datetime
    observed_ratio: Ratio | None = None
    worked_ratio: Ratio | None = None


def strip_cell(time: GpuTime) -> SafeString:
    """A span of GPU time by state, as the cell of a table."""
    return strip_drawn(time.strip)


def shown_from(at: datetime) -> datetime:
    """The first of the hours shown: the running one is the last."""
    return hour_of(at) - (SHOWN_HOURS - 1) * HOUR


def time_of(by_state: Mapping[int, int], *, is_measured: bool = True) -> GpuTime:
    """A strip and ratios of milliseconds by state; all unknown where nothing is settled.

    Active is of all time that is paid for, coverage of what was held. What cores do nobody
    measures (`is_measured`), so both are unknown.
    """
    if not is_measured:
        return GpuTime(strip=strip_of_states(by_key(by_state)))
    total = sum(by_state.values())
    held_milliseconds = sum(by_state.get(state, 0) for state in HELD_STATES)
    unobserved = by_state.get(State.UNOBSERVED, 0)
    return GpuTime(
        strip=strip_of_states(by_key(by_state)),
        active_ratio=Fraction(by_state.get(State.ACTIVE, 0), total) if total else None,
        coverage_ratio=Fraction(held_milliseconds - unobserved, held_milliseconds)
        if held_milliseconds
        else None,
    )


def by_key(by_state: Mapping[int, int]) -> dict[str, int]:
    """Return the milliseconds of states by the keys that words are kept under."""
    return {State(state).name.lower(): milliseconds for state, milliseconds in by_state.items()}


def hour_columns(
    hours: Mapping[datetime, Mapping[int, int]], first: datetime, zone: tzinfo
) -> tuple[HourColumn, ...]:
    """A column for each hour from `first`; their heights are shares of the fullest hour."""
    fullest = max((sum(states.values()) for states in hours.values()), default=0)
    return tuple(
        _hour_column(
            hours.get(first + left * HOUR, {}), first + left * HOUR, _left_of(left), (fullest, zone)
        )
        for left in range(SHOWN_HOURS)
    )


def _hour_column(
    states: Mapping[int, int], hour: datetime, left: str, scale: tuple[int, tzinfo]
) -> HourColumn:
    fullest, zone = scale
    keyed = by_key(states)
    sizes = [(state, keyed[state.key]) for state in STATES if keyed.get(state.key)]
    if not sizes:
        return HourColumn(hour, left, (), f"{instant(hour, zone)}: not settled")
    total = sum(size for _, size in sizes)
    steps = largest_remainder(STEPS, [*(size for _, size in sizes), fullest - total])
    parts, bottom = [], STEPS
    for (state, _), height in zip(sizes, steps, strict=False):
        bottom -= height
        parts.append(HourPart(state, _as_per_cent(bottom), _as_per_cent(height)))
    description = joined(
        [f"{state.label} {per_cent(Fraction(size, total))}" for state, size in sizes]
    )
    return HourColumn(hour, left, tuple(parts), f"{instant(hour, zone)}: {description}")


def _as_per_cent(steps: int) -> str:
    return f"{steps // 10}.{steps % 10}%"


def _left_of(hours: int) -> str:
    # Per cent and no viewBox: a stretched one would stretch the hatching too.
    return f"{hours * 100 / SHOWN_HOURS:.4f}%"


def states_of(hours: Iterable[Mapping[int, int]]) -> set[str]:
    """The keys of all states that occur."""
    return {key for states in hours for key in by_key(states)}


def key_of(keys: set[str]) -> tuple[StateWords, ...]:
    """The words of these states in the order they are stacked."""
    return tuple(state for state in STATES if state.key in keys)


def heat_of(
    measured: Mapping[datetime, DeviceHourReading],
    span: tuple[datetime, datetime, datetime | None],
    at: datetime,
    zone: tzinfo,
) -> Heat:
    """The shown hours of a device; `span` is the first of them, and when it lived."""
    first, began_at, ended_at = span
    cells = []
    for left in range(SHOWN_HOURS):
        hour = first + left * HOUR
        is_present = began_at < hour + HOUR and (ended_at is None or hour < ended_at)
        present_for = (
            min(at, ended_at or at, hour + HOUR) - max(hour, began_at) if is_present else HOUR * 0
        )
        cells.append(_heat_cell(measured.get(hour), hour, _left_of(left), (present_for, zone)))
    observed = sum(reading.observed_seconds for reading in measured.values())
    worked = sum(reading.worked_seconds for reading in measured.values())
    if not observed:
        words = "nothing was measured in the last 48 hours"
        return Heat(tuple(cells), words, is_measured=False)
    ratio = Fraction(round(worked), max(1, round(observed)))
    return Heat(tuple(cells), f"active {per_cent(min(ratio, Fraction(1)))} of the time observed")


def level_of(ratio: float) -> str:
    """0 did no work; 1 to 4 by quarters."""
    return str(min(4, int(ratio * 4) + 1)) if ratio else "0"


def _heat_cell(
    measured: DeviceHourReading | None,
    hour: datetime,
    left: str,
    presence: tuple[timedelta, tzinfo],
) -> DeviceHourCell:
    span, zone = presence
    when = instant(hour, zone)
    if span <= timedelta(0):
        return DeviceHourCell(left, "none", f"{when}: not there", hour=hour)
    if measured is None or not measured.observed_seconds:
        return DeviceHourCell(
            left, "unobserved", f"{when}: not observed", hour=hour, observed_ratio=Fraction(0)
        )
    worked = min(1.0, measured.worked_seconds / measured.observed_seconds)
    observed = min(1.0, measured.observed_seconds / span.total_seconds())
    description = f"{when}: active {per_cent(worked)} of the time observed ({per_cent(observed)})"
    return DeviceHourCell(
        left, level_of(worked), description, hour=hour, observed_ratio=observed, worked_ratio=worked
    )
