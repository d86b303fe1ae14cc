"""Who is on each device of a node when, cut into pieces in which nothing changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from runrate_agent.compat import SLOTS, pairwise
from runrate_agent.simulation.fleet import Device, Node
from runrate_agent.simulation.load import Load
from runrate_agent.simulation.scenario import Claim, Scenario
from runrate_agent.simulation.work import Gap

HOUR_MINUTES = 60


@dataclass(frozen=True, **SLOTS)
class Occupant:
    """A holder the agent sees on a device; an empty holder is a process of nobody known."""

    started_minute: int
    ended_minute: int
    holder: str
    load: Load


class Span(NamedTuple):
    """Some minutes that are told as one window."""

    first_minute: int
    minutes: int


@dataclass(frozen=True, **SLOTS)
class Piece:
    """Observed minutes of one hour in which nothing changes on a device."""

    device: Device
    first_minute: int
    last_minute: int
    observed_ratio: float
    occupants: tuple[Occupant, ...]

    @property
    def hour_of_day(self) -> int:
        return self.first_minute // HOUR_MINUTES % 24

    @property
    def rows_a_window(self) -> int:
        """One for the device, and where several hold it one for each of them."""
        named = sum(1 for each in self.occupants if each.holder)
        return 1 + named if len(self.occupants) > 1 else 1

    def windows(self, minutes: int) -> list[Span]:
        """Its windows of `minutes` by the clock, shorter ones where it begins or ends between."""
        if minutes == 1:
            return _whole_or_minutes(self.first_minute, self.last_minute, 1)
        after = self.first_minute // minutes * minutes + minutes
        edges = [self.first_minute, *range(after, self.last_minute, minutes), self.last_minute]
        return [each for pair in pairwise(edges) for each in _whole_or_minutes(*pair, minutes)]


def hours_of(
    scenario: Scenario, node: Node, claims: Mapping[str, Sequence[Claim]], minutes: range
) -> Iterator[list[Piece]]:
    """The pieces of each hour that the node lived of `minutes`, by device; none while silent."""
    occupants = {
        device.label: _occupants(scenario, device, claims.get(device.record.uuid, ()))
        for device in node.devices.values()
    }
    gaps = [gap for gap in scenario.gaps if gap.node == node.name]
    since = max(node.started_minute, minutes.start)
    until = min(node.ended_minute, minutes.stop)
    for hour in range(since // HOUR_MINUTES * HOUR_MINUTES, until, HOUR_MINUTES):
        start, end = max(hour, since), min(hour + HOUR_MINUTES, until)
        yield [
            piece
            for device in node.devices.values()
            for piece in _pieces(device, occupants[device.label], gaps, range(start, end))
        ]


def _whole_or_minutes(first: int, last: int, minutes: int) -> list[Span]:
    """A server takes lengths that divide an hour: what is no whole window goes by the minute."""
    if last - first == minutes:
        return [Span(first, minutes)]
    return [Span(minute, 1) for minute in range(first, last)]


def _occupants(scenario: Scenario, device: Device, claims: Sequence[Claim]) -> list[Occupant]:
    of_jobs = [
        Occupant(
            claim.started_minute, claim.ended_minute, claim.job.identity.holder, claim.job.load
        )
        for claim in claims
    ]
    of_processes = [
        Occupant(process.started_minute, process.ended_minute, process.holder, process.load)
        for process in scenario.processes
        if device in process.place.devices
    ]
    return of_jobs + of_processes


def _pieces(
    device: Device, occupants: Sequence[Occupant], gaps: Sequence[Gap], minutes: range
) -> Iterator[Piece]:
    spans: list[Occupant | Gap] = [*occupants, *gaps]
    ends = [minute for span in spans for minute in (span.started_minute, span.ended_minute)]
    cuts = {minutes.start, minutes.stop, *(minute for minute in ends if minute in minutes)}
    for first, last in pairwise(sorted(cuts)):
        observed = min((gap.observed_ratio for gap in gaps if _is_in(gap, first)), default=1.0)
        present = tuple(each for each in occupants if _is_in(each, first))
        if observed:
            yield Piece(device, first, last, observed, present)


def _is_in(span: Occupant | Gap, minute: int) -> bool:
    return span.started_minute <= minute < span.ended_minute
