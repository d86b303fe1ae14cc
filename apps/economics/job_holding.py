"""The devices that a job held and the runs it carried, from when to when, as statements about it say."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction

from apps.economics.job_order import end_of, ends_on_nodes
from apps.economics.jobs import AllocationRecord, EventKind, JobSource, JobStatement
from apps.economics.machines import is_same_machine

SLICE = re.compile(r"MIG-|.+/gi\d+$")
"""How a MIG slice is named: by its UUID, or by its GPU's and its number."""
Held = Mapping[tuple[str, int], AllocationRecord]
"""What is held at a moment, by node and the number of the grant on it."""


@dataclass(frozen=True, slots=True)
class HeldSpan:
    """One grant on one node, half-open; `part` tells apart several grants on the same node."""

    node: str
    part: int
    gpus: Fraction
    cpus: Fraction | None
    devices: tuple[str, ...] | None
    divided_evenly: bool
    starts_at: datetime
    ends_at: datetime | None
    gpus_unknown: bool = False


@dataclass(frozen=True, slots=True)
class RunPart:
    """The job carried the run of this key in this time."""

    key: str
    starts_at: datetime
    ends_at: datetime | None


def held_spans(
    ordered: Sequence[JobStatement], started_at: datetime | None, ended_at: datetime | None
) -> tuple[HeldSpan, ...]:
    """Return the spans of what an attempt held between its start and end; nothing before anybody knows it started.

    The accounting row of an ended job is the last word. Until then the latest statement counts,
    and it names all nodes at once, except an agent's, which knows only its own node. Devices
    that the deciding source leaves open are taken from one that names as many. Where nobody ended
    the whole attempt, a node's own end is that of what is held on it.
    """
    if started_at is None:
        return ()
    life = _Life(started_at, ended_at)
    speaking = _deciding_statements(ordered)
    pins = _pinned_devices(ordered)
    if speaking and speaking[-1].source is JobSource.AGENT:
        nodes = sorted(
            {
                one.node
                for deciding_statement in speaking
                for one in deciding_statement.allocations or ()
            }
        )
        timelines = [_held_timeline(_statements_about(speaking, node), life) for node in nodes]
    else:
        timelines = [_held_timeline(speaking, life)]
    left_at = {node: end.at for node, end in ends_on_nodes(ordered).items()}
    spans = [
        cut
        for timeline in timelines
        for span in _held_spans(timeline, life, pins)
        if (cut := _cut_at_node_end(span, left_at)) is not None
    ]
    return tuple(sorted(spans, key=lambda span: (span.node, span.part, span.starts_at)))


def run_parts(
    ordered: Sequence[JobStatement], started_at: datetime | None, ended_at: datetime | None
) -> tuple[RunPart, ...]:
    """Return the runs that a started attempt carried: each from its statement until another is named."""
    if started_at is None:
        return ()
    life = _Life(started_at, ended_at)
    named = _contemporary_statements([statement for statement in ordered if statement.run])
    moments = {
        life.reached(_effective_at(statement, life)): statement.run or "" for statement in named
    }
    parts: list[RunPart] = []
    for at in sorted(moments):
        if parts and parts[-1].key == moments[at]:
            continue
        if parts:
            parts[-1] = replace(parts[-1], ends_at=at)
        parts.append(RunPart(moments[at], at, ended_at))
    return tuple(part for part in parts if part.ends_at is None or part.starts_at < part.ends_at)


def _cut_at_node_end(span: HeldSpan, left_at: Mapping[str, datetime]) -> HeldSpan | None:
    ends = [at for node, at in left_at.items() if is_same_machine(node, span.node)]
    ends_at = min([*ends, *([] if span.ends_at is None else [span.ends_at])], default=None)
    if ends_at is not None and ends_at <= span.starts_at:
        return None
    return span if ends_at == span.ends_at else replace(span, ends_at=ends_at)


@dataclass(frozen=True, slots=True)
class _Life:
    starts_at: datetime
    ends_at: datetime | None

    def reached(self, at: datetime) -> datetime:
        return max(at, self.starts_at)


def _deciding_statements(ordered: Sequence[JobStatement]) -> list[JobStatement]:
    """The statements that say what was held, of the sources that are to be heard."""
    saying = [statement for statement in ordered if _states_holding(statement)]
    # Who knows no number of GPUs does not overrule who does.
    saying = [statement for statement in saying if not _knows_no_gpus(statement)] or saying
    end = end_of(ordered)
    if end is not None and end.source is JobSource.ACCOUNTING and end in saying:
        return [end]
    heard = [statement for statement in saying if statement.source is not JobSource.AGENT] or saying
    at_the_time = _contemporary_statements(heard)
    return at_the_time if any(statement.allocations for statement in at_the_time) else heard


def _contemporary_statements(statements: list[JobStatement]) -> list[JobStatement]:
    """Without what an end states of the past, where anybody stated it before."""
    return [
        statement
        for statement in statements
        if statement.kind is not EventKind.END or statement.started_at
    ] or statements


def _states_holding(statement: JobStatement) -> bool:
    if statement.allocations is None:
        return False
    is_whole_story = statement.kind is not EventKind.END or statement.started_at is not None
    return bool(statement.allocations) or (
        is_whole_story and statement.source is not JobSource.AGENT
    )


def _knows_no_gpus(statement: JobStatement) -> bool:
    return any(one.gpus_unknown for one in statement.allocations or ())


def _statements_about(statements: Sequence[JobStatement], node: str) -> list[JobStatement]:
    """The statements that name the node, cut down to what they say of it."""
    cut = [
        replace(
            statement, allocations=tuple(o for o in statement.allocations or () if o.node == node)
        )
        for statement in statements
    ]
    return [statement for statement in cut if statement.allocations]


def _held_timeline(statements: Sequence[JobStatement], life: _Life) -> list[tuple[datetime, Held]]:
    """Return what was held from each moment on; the last before the start is in force at the start."""
    moments = {
        life.reached(at): statement
        for at, statement in sorted(
            ((_effective_at(statement, life), statement) for statement in statements),
            key=lambda pair: pair[0],
        )
    }
    return [(at, _held_by_part(moments[at].allocations or ())) for at in sorted(moments)]


def _effective_at(statement: JobStatement, life: _Life) -> datetime:
    if statement.started_at is not None:
        return statement.started_at
    return life.starts_at if statement.kind is EventKind.END else statement.at


def _held_by_part(allocations: Sequence[AllocationRecord]) -> Held:
    grants_by_part: dict[tuple[str, int], AllocationRecord] = {}
    for one in sorted(allocations, key=_grant_order):
        part = 0
        while (one.node, part) in grants_by_part:
            part += 1
        grants_by_part[one.node, part] = one
    return grants_by_part


def _grant_order(one: AllocationRecord) -> tuple[str, tuple[str, ...], Fraction]:
    return one.node, one.devices or (), one.held_gpus


def _pinned_devices(ordered: Sequence[JobStatement]) -> dict[tuple[str, Fraction], tuple[str, ...]]:
    """Devices by node and count, for each node of which a statement names one grant."""
    pins = {}
    for statement in ordered:
        nodes = [one.node for one in statement.allocations or ()]
        for one in statement.allocations or ():
            if one.devices is not None and nodes.count(one.node) == 1:
                pins[one.node, one.held_gpus] = one.devices
    return pins


def _pinned_slices(
    one: AllocationRecord, pins: Mapping[tuple[str, Fraction], tuple[str, ...]]
) -> tuple[str, ...] | None:
    """Slices that a node names of a grant which an accounting counts as parts of a GPU."""
    if one.gpus_unknown or one.held_gpus.denominator == 1:
        return None
    named = [devices for (node, _), devices in pins.items() if node == one.node]
    return named[0] if len(named) == 1 and all(map(SLICE.match, named[0])) else None


def _held_spans(
    timeline: Sequence[tuple[datetime, Held]],
    life: _Life,
    pins: Mapping[tuple[str, Fraction], tuple[str, ...]],
) -> Iterator[HeldSpan]:
    """Turn moments into spans; a grant that stays as it was is one span."""
    since: dict[tuple[str, int], tuple[datetime, AllocationRecord]] = {}
    for at, grants_by_part in timeline:
        for key in [key for key, (_, one) in since.items() if grants_by_part.get(key) != one]:
            start, one = since.pop(key)
            yield from _held_span(key[1], one, _Life(start, _earlier_of(at, life.ends_at)), pins)
        for key, one in grants_by_part.items():
            since.setdefault(key, (at, one))
    for (_, part), (start, one) in since.items():
        yield from _held_span(part, one, _Life(start, life.ends_at), pins)


def _earlier_of(at: datetime, other: datetime | None) -> datetime:
    return at if other is None else min(at, other)


def _held_span(
    part: int,
    one: AllocationRecord,
    span: _Life,
    pins: Mapping[tuple[str, Fraction], tuple[str, ...]],
) -> Iterator[HeldSpan]:
    if span.ends_at is not None and span.ends_at <= span.starts_at:
        return
    devices = one.devices
    if devices is None and part == 0:
        devices = pins.get((one.node, one.held_gpus)) or _pinned_slices(one, pins)
    yield HeldSpan(
        node=one.node,
        part=part,
        gpus=one.held_gpus,
        cpus=one.cpus,
        devices=devices,
        divided_evenly=one.divided_evenly,
        starts_at=span.starts_at,
        ends_at=span.ends_at,
        gpus_unknown=one.gpus_unknown,
    )
