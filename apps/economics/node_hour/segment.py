"""One device through one span in which nothing changes hands: its states, by weight."""

from collections.abc import Callable, Iterable, Sequence
from math import lcm
from typing import NamedTuple

from apps.economics.node_hour.facts import UsageFact
from apps.economics.node_hour.holds import Hold
from apps.economics.node_hour.names import Names
from apps.economics.node_hour.readings import NOTHING_SHOWN, Readings, Shown, Span
from apps.economics.split import largest_remainder
from apps.economics.states import Evidence, Flag, State

NOBODY = 0
ACTIVE, HELD_IDLE, UNOBSERVED = int(State.ACTIVE), int(State.HELD_IDLE), int(State.UNOBSERVED)
OUT_OF_SERVICE, UNALLOCATED = int(State.OUT_OF_SERVICE), int(State.UNALLOCATED)
UNSCHEDULED, UNCLAIMED, CONTESTED = int(Flag.UNSCHEDULED), int(Flag.UNCLAIMED), int(Flag.CONTESTED)
PROCESS, DEVICE = int(Evidence.PROCESS), int(Evidence.DEVICE)
NONE, POOLED = int(Evidence.NONE), int(Evidence.POOLED)

# Job, key without a job, state, flags, evidence: plain integers, 0 = nobody, as they are hashed
# for every device of every hour.
Key = tuple[int, int, int, int, int]
Weighted = tuple[Key, int]


class Holder(NamedTuple):
    """All that one job holds of a device in a span: `part` of the whole's `parts`."""

    job_id: int
    part: int
    flags: int
    pooled: bool


class Shares(NamedTuple):
    """A device divided into `parts`; `free` of them are not held."""

    parts: int
    free: int
    holders: tuple[Holder, ...]


FREE = Shares(1, 1, ())


def shares_of(holds: Sequence[Hold]) -> Shares:
    """Exact shares over a common denominator; claims over the whole are scaled to it."""
    if not holds:
        return FREE
    if len(holds) == 1:
        return _of_one(holds[0])
    parts = lcm(*(hold.denominator for hold in holds))
    held: dict[int, Holder] = {}
    for hold in holds:
        part = hold.numerator * (parts // hold.denominator)
        before = held.get(hold.job_id)
        if before is not None:
            part += before.part
            hold = hold._replace(
                flags=hold.flags | before.flags, pooled=hold.pooled and before.pooled
            )
        held[hold.job_id] = Holder(hold.job_id, part, hold.flags, hold.pooled)
    return _fitted(parts, [held[job_id] for job_id in sorted(held)])


def _of_one(hold: Hold) -> Shares:
    holder = Holder(hold.job_id, hold.numerator, hold.flags, hold.pooled)
    return _fitted(hold.denominator, [holder])


def _fitted(parts: int, holders: list[Holder]) -> Shares:
    wanted = sum(holder.part for holder in holders)
    if wanted <= parts:
        return Shares(parts, parts - wanted, tuple(holders))
    contested = tuple(holder._replace(flags=holder.flags | CONTESTED) for holder in holders)
    return Shares(wanted, 0, contested)


class Segment(NamedTuple):
    """A device in a span, with everything that was seen of it."""

    span: Span
    shares: Shares
    readings: Readings
    shown: Shown
    names: Names

    @property
    def length_ms(self) -> int:
        """The span's length."""
        return self.span.end_ms - self.span.start_ms


def segment_of(span: Span, readings: Readings, names: Names) -> Segment:
    """Gather what `states_of` needs."""
    observed, worked = readings.device_shown(span)
    shown = Shown(observed, min(observed, worked)) if observed else NOTHING_SHOWN
    return Segment(span, shares_of(span.holds), readings, shown, names)


def states_of(segment: Segment) -> list[Weighted]:
    """Who had the device and in which state; weights sum to `shares.parts` × the span's ms."""
    shares = segment.shares
    if not shares.holders:
        return _not_held(segment, 1, segment.readings.processes, UNCLAIMED)
    states = _held_by_one(segment) if len(shares.holders) == 1 else _held_by_several(segment)
    if shares.free:
        states += _not_held(segment, shares.free, outsiders_of(segment), 0)
    return states


def outsiders_of(segment: Segment) -> list[UsageFact]:
    """Rows of processes that belong to none of the segment's holders."""
    jobs = [holder.job_id for holder in segment.shares.holders]
    return [
        row
        for row in segment.readings.processes
        if not segment.names.is_of_any(row.holder_id, jobs)
    ]


def _held_by_one(segment: Segment) -> list[Weighted]:
    """Its only holder's work is the device's, unless another's process was seen."""
    holder = segment.shares.holders[0]
    processes = segment.readings.processes
    own = [row for row in processes if segment.names.is_of(row.holder_id, holder.job_id)]
    others = [row for row in processes if row not in own] if len(own) < len(processes) else ()
    worked = segment.shown.worked_ms
    if holder.pooled:
        worked = max(0, worked - _worked_by(segment, others))
    elif others and worked:
        worked = segment.readings.worked_alone(own, others, segment.span)
    return _held(segment, holder, worked, PROCESS if own else DEVICE)


def _held_by_several(segment: Segment) -> list[Weighted]:
    """Each its own processes' work; work that nobody explains leaves all in the dark."""
    observed, worked = segment.shown
    processes = segment.readings.processes
    names = segment.names
    pooled = [holder.job_id for holder in segment.shares.holders if holder.pooled]
    explained = _worked_by(segment, processes)
    pool = max(0, worked - _worked_by(segment, _rows_of_others(processes, names, pooled)))
    unexplained = 0 if pooled else max(0, worked - explained)
    states = []
    for holder in segment.shares.holders:
        own = [row for row in processes if names.is_of(row.holder_id, holder.job_id)]
        mine = pool if holder.pooled else min(observed, _worked_by(segment, own))
        dark = min(unexplained, observed - mine)
        states += _held(segment, holder, mine, PROCESS if own else DEVICE, dark)
    return states


def _rows_of_others(
    processes: Sequence[UsageFact], names: Names, jobs: Sequence[int]
) -> list[UsageFact]:
    return [row for row in processes if not names.is_of_any(row.holder_id, jobs)]


def _worked_by(segment: Segment, rows: Iterable[UsageFact]) -> int:
    shown = segment.readings.process_shown
    return sum(shown(row, segment.span).worked_ms for row in rows)


def _held(
    segment: Segment, holder: Holder, worked_ms: int, evidence: int, dark_ms: int = 0
) -> list[Weighted]:
    job_id, part, flags, pooled = holder
    if pooled:
        evidence = POOLED
    observed = segment.shown.observed_ms
    states: list[Weighted] = []
    if worked_ms:
        states.append(((job_id, NOBODY, ACTIVE, flags, evidence), part * worked_ms))
    idle = observed - worked_ms - dark_ms
    if idle:
        states.append(
            ((job_id, NOBODY, HELD_IDLE, flags, POOLED if pooled else DEVICE), part * idle)
        )
    unobserved = segment.length_ms - observed
    if unobserved or dark_ms:
        seen = (NONE if unobserved else 0) | (DEVICE if dark_ms else 0)
        key = (job_id, NOBODY, UNOBSERVED, flags, seen)
        states.append((key, part * (unobserved + dark_ms)))
    return states


def _not_held(
    segment: Segment, part: int, processes: Sequence[UsageFact], unknown: int
) -> list[Weighted]:
    """Processes without a claim, then out of service or unallocated.

    `unknown` is the flag of work that no process explains; 0 where a holder may explain it.
    """
    observed, worked = segment.shown
    states: list[Weighted] = []
    busy = 0
    if worked and processes:
        busy = _add_unheld_processes(states, segment, part, processes)
    if unknown and worked > busy:
        states.append(((NOBODY, NOBODY, ACTIVE, unknown, DEVICE), part * (worked - busy)))
        busy = worked
    rest = segment.length_ms - busy
    if rest:
        state = OUT_OF_SERVICE if segment.span.out else UNALLOCATED
        seen = (DEVICE if observed else 0) | (NONE if observed < segment.length_ms else 0)
        states.append(((NOBODY, NOBODY, state, 0, seen), part * rest))
    return states


def _add_unheld_processes(
    states: list[Weighted], segment: Segment, part: int, processes: Sequence[UsageFact]
) -> int:
    """Each process its own work; together at most what the device worked."""
    shown = segment.readings.process_shown
    works = [shown(row, segment.span).worked_ms for row in processes]
    if sum(works) > segment.shown.worked_ms:
        works = largest_remainder(segment.shown.worked_ms, works)
    start, end = segment.span.start_ms, segment.span.end_ms
    for row, work in zip(processes, works, strict=True):
        job_id = segment.names.job_at(row.holder_id, start, end) if work else None
        if job_id is not None:
            states.append(((job_id, NOBODY, ACTIVE, UNSCHEDULED, PROCESS), part * work))
        elif work:
            key = (NOBODY, row.holder_id, ACTIVE, UNCLAIMED, PROCESS)
            states.append((key, part * work))
    return sum(works)


FindStates = Callable[[Segment], list[Weighted]]
