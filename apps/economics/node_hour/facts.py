"""The facts that the split of a node-hour is told, and its answer.

Moments are milliseconds of the hour, spans are half-open. The facts are named tuples because a
fleet's hour makes tens of thousands of them, straight from database rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from apps.economics.bases import Amounts
from apps.economics.hours import HOUR_MS
from apps.economics.rates import Piece
from apps.economics.states import Evidence, Flag, State

MINUTE_MS = 60_000
WHOLE = Fraction(1)


class DeviceOfHour(NamedTuple):
    """A GPU, or a MIG slice with its share of its parent by the pool's policy; clipped lifetime."""

    device_id: int
    parent_id: int | None
    start_ms: int
    end_ms: int
    share: Fraction = WHOLE
    stable_key: str = ""


class UsageFact(NamedTuple):
    """Quarter-seconds (0 to 240) of each minute in which a device was observed, and worked.

    Holder 0 is the device's own reading where it has several rows, else the only row is.
    """

    device_id: int
    holder_id: int
    observed: bytes
    worked: bytes


class ClaimFact(NamedTuple):
    """A job's claim on a node: a count of devices or a share of one, pinned or not; and cores.

    `holder_id` is the job. A slice counts as one device. `cores` None: nobody said how many;
    `is_uncounted`: nobody said how many GPUs.
    """

    holder_id: int
    claim_id: int
    start_ms: int
    end_ms: int
    gpus: Fraction
    devices: tuple[int, ...] = ()
    divided_evenly: bool = False
    cores: Fraction | None = None
    is_uncounted: bool = False


class KeyFact(NamedTuple):
    """The usage key `holder_id` is that of job `job_id` between these moments, to the minute."""

    holder_id: int
    job_id: int
    start_ms: int = 0
    end_ms: int = HOUR_MS


class CapacityFact(NamedTuple):
    """How many GPUs (or cores) the node was declared to have, between these moments."""

    start_ms: int
    end_ms: int
    units: int


class CoresFact(NamedTuple):
    """The cores that carry cost: how many, between which moments, which never overlap.

    `weight` is what one core counts against one GPU. None: the node is measured in cores, and
    they carry all of its time and cost.
    """

    capacity: Sequence[CapacityFact]
    weight: Fraction | None = None


class OutageOfHour(NamedTuple):
    """The whole node (None) or one device was down, drained, failed or in maintenance."""

    device_id: int | None
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class NodeHourFacts:
    """All that is known of one node in one hour.

    `beside` maps charges that have no time of their own (traffic, licences, discounts billed with
    the node) to their amounts: who carries the node's time carries them. `lived_ms` is when it was charged, `through_ms` how far the hour has come. `charges` maps each
    charge to its pieces; together they cover the lived time once. `capacity` is the declared
    count, which counts only while no GPU of the node is known; it never overlaps itself.
    `cores` None: only GPUs carry cost.
    """

    lived_ms: tuple[int, int]
    through_ms: int
    charges: Mapping[int, Sequence[Piece]]
    devices: Sequence[DeviceOfHour] = ()
    usage: Sequence[UsageFact] = ()
    claims: Sequence[ClaimFact] = ()
    keys: Sequence[KeyFact] = ()
    outages: Sequence[OutageOfHour] = ()
    capacity: Sequence[CapacityFact] = ()
    beside: Mapping[int, Amounts] = field(default_factory=dict)
    cores: CoresFact | None = None

    @property
    def lived_through_ms(self) -> tuple[int, int]:
        """The lived time as far as the hour has come."""
        start, end = self.lived_ms
        return start, max(start, min(end, self.through_ms))


class LinePart(NamedTuple):
    """One line of one charge: who, in which state, for how long and how much.

    At most one of `job_id` and `holder_key_id` is set. Amounts are micro-units, None where the
    charge knows none.
    """

    charge: int
    job_id: int | None
    holder_key_id: int | None
    state: State
    flags: Flag
    evidence: Evidence
    unit_ms: int
    list_micros: int | None
    contracted_micros: int | None
    effective_micros: int | None


@dataclass(frozen=True, slots=True)
class NodeHourSplit:
    """The answer: lines in a stable order, whose unit_ms sum to `capacity_ms`."""

    lines: tuple[LinePart, ...]
    capacity_ms: int
