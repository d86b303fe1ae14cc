"""Time that is only counted: cores, and GPUs that nobody has seen, divided among those who claim them.

One of a count is as good as another, so a claim's time is its part of the count times how long it
held it, and needs no walk through every moment at which another claim changes: running integrals
of the time in which claims fit, and of that in which they are scaled down, say it for each claim
by two look-ups. Time grows with the number of claims, times its logarithm. All of it is counted in
whole parts of a unit, so that only what is scaled down is ever a fraction.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import NamedTuple

from apps.economics.hours import HOUR_MS
from apps.economics.node_hour.facts import CapacityFact, OutageOfHour
from apps.economics.node_hour.segment import (
    NOBODY,
    NONE,
    OUT_OF_SERVICE,
    UNALLOCATED,
    UNOBSERVED,
    Key,
)
from apps.economics.split import largest_remainder
from apps.economics.states import Flag

Tally = dict[Key, int]
CONTESTED, UNPINNED, UNCOUNTED = int(Flag.CONTESTED), int(Flag.UNPINNED), int(Flag.UNCOUNTED)


class CountedClaim(NamedTuple):
    """A job's claim of a count between two moments; `units` None: nobody knows how much."""

    start_ms: int
    end_ms: int
    job_id: int
    units: Fraction | None
    flags: int


class CountedMinutes(NamedTuple):
    """A count with its claims. Spans never overlap; `extra_flags` go on every line.

    `has_places` says that units can be told apart (GPUs): then a claim is certain of its own only
    while it is alone on all of them.
    """

    spans: Sequence[CapacityFact]
    claims: Sequence[CountedClaim]
    outages: Sequence[OutageOfHour]
    has_places: bool
    extra_flags: int = 0


class _Moment(NamedTuple):
    """The integrals at a moment: milliseconds in which claims fit, and scaled ones."""

    fitting: int
    scaled: Fraction | int


class _ClippedClaims(NamedTuple):
    """A stretch in whole parts of a unit: its capacity, claims clipped to it and how much each wants."""

    stretch: CapacityFact
    capacity: int
    claims: Sequence[CountedClaim]
    wanted: Sequence[int | None]


Weights = dict[Key, Fraction | int]


def add_counted(
    counted: CountedMinutes, piece_starts: Sequence[int], tallies: Sequence[Tally]
) -> int:
    """Add all of the count's time to the tallies of the pieces it falls in; how much it is.

    Time is `units` × milliseconds. Held time is unobserved: nothing measures it. Claims over the
    count are scaled to it. While a job holds a part that nobody knows, what no other claims is
    unobserved too, and nobody's: it is not known to be free.
    """
    total = 0
    ends = [*piece_starts[1:], HOUR_MS]
    for start, end, tally in zip(piece_starts, ends, tallies, strict=True):
        for stretch in clipped_counts(counted.spans, start, end):
            total += _add_stretch(counted, stretch, tally)
    return total


def clipped_counts(spans: Iterable[CapacityFact], start_ms: int, end_ms: int) -> list[CapacityFact]:
    """Return the counts that lie in a span, in order; nothing is left out but what counts nothing."""
    clipped = [
        CapacityFact(max(span.start_ms, start_ms), min(span.end_ms, end_ms), span.units)
        for span in sorted(spans)
        if span.units > 0
    ]
    return [span for span in clipped if span.start_ms < span.end_ms]


def _add_stretch(counted: CountedMinutes, stretch: CapacityFact, tally: Tally) -> int:
    """One span of one count at one price; its time."""
    weights = _stretch_weights(counted, stretch)
    keys = sorted(key for key, weight in weights.items() if weight)
    common = lcm(*{weights[key].denominator for key in keys})
    numerators = [weights[key].numerator * (common // weights[key].denominator) for key in keys]
    unit_ms = stretch.units * (stretch.end_ms - stretch.start_ms)
    for key, amount in zip(keys, largest_remainder(unit_ms, numerators), strict=True):
        if amount:
            tally[key] = tally.get(key, 0) + amount
    return unit_ms


def _stretch_weights(counted: CountedMinutes, stretch: CapacityFact) -> Weights:
    """Milliseconds of parts of a unit, exactly, by line."""
    live_claims = _clip_claims(counted, stretch)
    weights: Weights = defaultdict(int)
    reached = _sweep_moments(counted, live_claims, weights)
    unpinned = UNPINNED if counted.has_places else 0
    for claim, wanted in zip(live_claims.claims, live_claims.wanted, strict=True):
        if wanted is None:
            continue
        began, ended = reached[claim.start_ms], reached[claim.end_ms]
        if ended.fitting != began.fitting:
            key = _held_key(counted, claim, unpinned)
            weights[key] += wanted * (ended.fitting - began.fitting)
        if ended.scaled != began.scaled:
            key = _held_key(counted, claim, unpinned | CONTESTED)
            weights[key] += wanted * (ended.scaled - began.scaled)
    return weights


def _clip_claims(counted: CountedMinutes, stretch: CapacityFact) -> _ClippedClaims:
    claims = [
        claim
        if claim.start_ms >= stretch.start_ms and claim.end_ms <= stretch.end_ms
        else claim._replace(
            start_ms=max(claim.start_ms, stretch.start_ms), end_ms=min(claim.end_ms, stretch.end_ms)
        )
        for claim in counted.claims
        if claim.start_ms < stretch.end_ms and claim.end_ms > stretch.start_ms
    ]
    units = [claim.units for claim in claims]
    parts = lcm(*{unit.denominator for unit in units if unit is not None})
    wanted = [
        None if unit is None else unit.numerator * (parts // unit.denominator) for unit in units
    ]
    return _ClippedClaims(stretch, stretch.units * parts, claims, wanted)


def _sweep_moments(
    counted: CountedMinutes, live_claims: _ClippedClaims, weights: Weights
) -> Mapping[int, _Moment]:
    """Walk through the moments once: adds what is free, and what one claim has alone.

    Answers the integrals at every moment; they stand still while a claim is alone on everything.
    """
    stretch, changes = live_claims.stretch, _claim_changes(live_claims)
    out = [outage for outage in counted.outages if outage.device_id is None]
    moments = {stretch.start_ms, stretch.end_ms, *changes}
    moments.update(
        min(max(moment, stretch.start_ms), stretch.end_ms)
        for outage in out
        for moment in (outage.start_ms, outage.end_ms)
    )
    ordered = sorted(moments)
    now = _Now(0, 0, 0, 0)
    reached = {ordered[0]: _Moment(0, 0)}
    for start, end in pairwise(ordered):
        now = now.after(changes.get(start, ()))
        lasted, before = end - start, reached[start]
        free = live_claims.capacity - now.wanted
        if now.claims == 1 and free <= 0 and counted.has_places:
            alone = live_claims.claims[now.numbers]
            flags = CONTESTED if free < 0 else 0
            weights[_held_key(counted, alone, flags)] += live_claims.capacity * lasted
            reached[end] = before
        elif free < 0:
            part = Fraction(live_claims.capacity, now.wanted)
            reached[end] = _Moment(before.fitting, before.scaled + part * lasted)
        else:
            weights[_free_key(counted, now, is_out=_is_out(out, start))] += free * lasted
            reached[end] = _Moment(before.fitting + lasted, before.scaled)
    return reached


class _Now(NamedTuple):
    """The claims at a moment; `numbers` sums the numbers of the claims: of one, its own."""

    wanted: int
    claims: int
    numbers: int
    uncounted: int

    def after(self, changes: Iterable["_Change"]) -> "_Now":
        """After these claims came (1) or went (-1)."""
        wanted, claims, numbers, uncounted = self
        for sign, number, parts in changes:
            if parts is None:
                uncounted += sign
            else:
                wanted += sign * parts
                claims += sign
                numbers += sign * number
        return _Now(wanted, claims, numbers, uncounted)


_Change = tuple[int, int, int | None]
"""A claim that comes (1) or goes (-1), its number and how many parts of a unit it wants."""


def _claim_changes(live_claims: _ClippedClaims) -> dict[int, list[_Change]]:
    """The claims that come or go, by moment."""
    changes: dict[int, list[_Change]] = defaultdict(list)
    for number, (claim, wanted) in enumerate(
        zip(live_claims.claims, live_claims.wanted, strict=True)
    ):
        changes[claim.start_ms].append((1, number, wanted))
        changes[claim.end_ms].append((-1, number, wanted))
    return changes


def _is_out(outages: Iterable[OutageOfHour], moment_ms: int) -> bool:
    return any(outage.start_ms <= moment_ms < outage.end_ms for outage in outages)


def _held_key(counted: CountedMinutes, claim: CountedClaim, flags: int) -> Key:
    return (claim.job_id, NOBODY, UNOBSERVED, claim.flags | flags | counted.extra_flags, NONE)


def _free_key(counted: CountedMinutes, now: _Now, *, is_out: bool) -> Key:
    if is_out:
        return (NOBODY, NOBODY, OUT_OF_SERVICE, counted.extra_flags, NONE)
    if now.uncounted:
        return (NOBODY, NOBODY, UNOBSERVED, counted.extra_flags | UNCOUNTED, NONE)
    return (NOBODY, NOBODY, UNALLOCATED, counted.extra_flags, NONE)
