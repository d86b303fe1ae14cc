"""Short words for node-hours: minutes in, minutes by holder and state out."""

from collections.abc import Sequence
from fractions import Fraction

from apps.economics.hours import HOUR_MS
from apps.economics.node_hour import (
    MINUTE_MS,
    ClaimFact,
    DeviceOfHour,
    KeyFact,
    NodeHourFacts,
    NodeHourSplit,
    UsageFact,
    split_node_hour,
)
from apps.economics.rates import Piece
from apps.economics.states import Flag, State

ALL_HOUR = (0, 60)
FREE = {0: (Piece(0, HOUR_MS, 0, 0, 0),)}
NO_FLAG = Flag(0)


def minutes(first: float, last: float) -> tuple[int, int]:
    """A span of the hour in milliseconds."""
    return round(first * MINUTE_MS), round(last * MINUTE_MS)


def gpu(device_id: int, lives: tuple[float, float] = ALL_HOUR) -> DeviceOfHour:
    """A whole GPU."""
    return DeviceOfHour(device_id, None, *minutes(*lives), stable_key=f"GPU-{device_id:04}")


def slice_of(
    parent: int, device_id: int, share: Fraction, lives: tuple[float, float] = ALL_HOUR
) -> DeviceOfHour:
    """A MIG slice."""
    return DeviceOfHour(device_id, parent, *minutes(*lives), share, f"MIG-{device_id:04}")


def quarters(spans: Sequence[tuple[int, int]], level: int = 240) -> bytes:
    """60 bytes: `level` quarter-seconds in each minute of the spans."""
    return bytes(
        level if any(first <= minute < last for first, last in spans) else 0 for minute in range(60)
    )


def usage(
    device_id: int,
    holder_id: int = 0,
    *,
    worked: Sequence[tuple[int, int]] = (),
    observed: Sequence[tuple[int, int]] = (ALL_HOUR,),
    level: int = 240,
) -> UsageFact:
    """A row that observed all hour, unless told otherwise, and worked in some minutes."""
    return UsageFact(device_id, holder_id, quarters(observed), quarters(worked, level))


def claim(
    job_id: int,
    *devices: int,
    gpus: Fraction | int | None = None,
    held: tuple[float, float] = ALL_HOUR,
    divided_evenly: bool = False,
) -> ClaimFact:
    """A job's claim on the devices named, or on a count of devices nobody named."""
    count = Fraction(len(devices) if gpus is None else gpus)
    return ClaimFact(job_id, job_id, *minutes(*held), count, devices, divided_evenly)


def key(holder_id: int, job_id: int, known: tuple[float, float] = ALL_HOUR) -> KeyFact:
    """A usage key that is a job's."""
    return KeyFact(holder_id, job_id, *minutes(*known))


def node_hour(**given: object) -> NodeHourFacts:
    """A node that lived all hour and cost nothing, unless told otherwise."""
    values = {"lived_ms": (0, HOUR_MS), "through_ms": HOUR_MS, "charges": FREE}
    return NodeHourFacts(**values | given)  # type: ignore[arg-type]


def split(**given: object) -> NodeHourSplit:
    """The split of that node-hour."""
    return split_node_hour(node_hour(**given))


Place = tuple[int | None, State] | tuple[int | None, State, Flag]


def time_of(answer: NodeHourSplit) -> dict[Place, float]:
    """Minutes by job, state and (where there are any) flags; unclaimed keys are negative jobs."""
    spent: dict[Place, float] = {}
    for line in answer.lines:
        who = line.job_id if line.holder_key_id is None else -line.holder_key_id
        place = (who, line.state, line.flags) if line.flags else (who, line.state)
        spent[place] = spent.get(place, 0) + line.unit_ms / MINUTE_MS
    return spent


def minutes_of(**given: object) -> dict[Place, float]:
    """Minutes by place of the split of that node-hour."""
    return time_of(split(**given))
