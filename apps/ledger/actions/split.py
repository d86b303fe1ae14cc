"""The split pass: every marked node-hour of one hour into lines."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from apps.accounts import queries as accounts
from apps.economics.hours import first_hour
from apps.economics.money import sum_of_known
from apps.economics.node_hour import NodeHourSplit, split_node_hour
from apps.economics.split import largest_remainder
from apps.ledger.actions.marked import Done, redo_together
from apps.ledger.actions.outcome import Outcome
from apps.ledger.actions.partitions import ensure_month
from apps.ledger.queries.calendar import local_day, posting_month
from apps.ledger.queries.node_hours import NodeHour, Owner, changed_kinds, node_hours
from apps.ledger.queries.settlements import (
    CurrentSettlement,
    has_shared_charges,
    latest_versions,
    settlements_of_hour,
)
from apps.ledger.queries.tables import Row, copy_in, rows, run
from apps.logs.changes import logged_pass
from apps.marks.actions import Mark, hour_key
from apps.marks.queries import Pass, units_marked

DAY = timedelta(days=1)
NODE_HOURS_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class SplitHour:
    """The hour and where it is posted."""

    starts_at: datetime
    month: date
    zone: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Settled:
    """A node-hour split anew, the settlement that will hold it and the one it takes over from."""

    node_hour: NodeHour
    split: NodeHourSplit
    version: int
    reason: str
    before: CurrentSettlement | None

    @property
    def overwrites(self) -> bool:
        """A provisional settlement is overwritten in place; later ones are kept."""
        return self.before is not None and self.before.version == 0


def split_hours(*, hours: Sequence[datetime], at: datetime) -> Iterator[tuple[datetime, Outcome]]:
    """Settle the marked nodes of each of `hours` anew, in that order, as far as their charges go.

    Node-hours whose facts are those they were settled from keep their lines. Marks the next
    passes for the rest. Hours of few nodes go together in one transaction, so that what jobs held
    is read once for them; what is broken off leaves nothing of any of them, and each is done alone.
    """
    zone = accounts.organisation().zone
    for together in _hours_together(hours, zone):
        yield from _split_hours(together, at)


def split_hour(*, hour: datetime, at: datetime) -> Outcome:
    """`split_hours` of one hour."""
    return split_together(hours=[hour], at=at)[hour]


@logged_pass(
    "split", count=lambda outcomes, _: sum(outcome.changed for outcome in outcomes.values())
)
def split_together(*, hours: Sequence[datetime], at: datetime) -> dict[datetime, Outcome]:
    """`split_hours` of hours of one month, in one transaction."""
    zone = accounts.organisation().zone
    month = posting_month(hours[0], zone)
    ensure_month(month=month)
    with _garbage_collection_paused():
        return redo_together(
            Pass.SPLIT,
            {hour: hour_key(hour) for hour in hours},
            month=month,
            work=lambda marked: {
                hour: _split_nodes(SplitHour(hour, month, zone, at), marked[hour], hours_by_node)
                for hour, hours_by_node in node_hours(marked)
            },
        )


def _split_hours(hours: Sequence[datetime], at: datetime) -> Iterator[tuple[datetime, Outcome]]:
    """Together; where that raises, each alone, so that one hour does not keep the others."""
    outcomes = None
    try:
        outcomes = split_together(hours=hours, at=at)
    except Exception as problem:  # noqa: BLE001  # told of where it is an hour's own
        if len(hours) == 1:
            outcomes = {hours[0]: Outcome(done=False, problem=problem)}
    if outcomes is not None:
        yield from outcomes.items()
        return
    for hour in hours:
        yield from _split_hours([hour], at)


def _hours_together(hours: Sequence[datetime], zone: str) -> Iterator[list[datetime]]:
    """In their order: of one month, near each other, and no more node-hours than are read quickly."""
    nodes = units_marked(Pass.SPLIT, hours)
    together: list[datetime] = []
    marked = 0
    for hour in hours:
        is_apart = together and (
            abs(hour - together[0]) >= DAY
            or posting_month(hour, zone) != posting_month(together[0], zone)
            or marked + nodes.get(hour, 0) > NODE_HOURS_AT_ONCE
        )
        if is_apart:
            yield together
            together, marked = [], 0
        together.append(hour)
        marked += nodes.get(hour, 0)
    if together:
        yield together


def _split_nodes(
    this: SplitHour, node_ids: Sequence[int], hours_by_node: Mapping[int, NodeHour]
) -> Done:
    settlements = settlements_of_hour(this.starts_at, node_ids)
    due = _due_node_hours(hours_by_node, settlements)
    promoted = _settled_for_good(hours_by_node, settlements, due)
    ended_settlements = [
        settlements[node_id] for node_id in settlements if node_id not in hours_by_node
    ]
    pools = _end_settlements(this, ended_settlements)
    _finalise_settlements(promoted.values())
    lines = _write_settled(this, _split_due_hours(this, due, settlements))
    touched = [*due, *(hours_by_node[node_id] for node_id in promoted)]
    outcome = Outcome(changed=len(touched) + len(ended_settlements), lines=lines)
    return outcome, _next_marks(this, touched, pools)


@contextmanager
def _garbage_collection_paused() -> Iterator[None]:
    """Keep the cycle collector out of a fleet's hour.

    It makes a hundred thousand values and not one cycle; walking them over and over took a fifth
    of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _due_node_hours(
    hours_by_node: Mapping[int, NodeHour], settlements: Mapping[int, CurrentSettlement]
) -> list[NodeHour]:
    return [
        node_hour
        for node_id, node_hour in hours_by_node.items()
        if node_id not in settlements
        or settlements[node_id].digest != node_hour.digest
        or settlements[node_id].through != node_hour.through
    ]


def _settled_for_good(
    hours_by_node: Mapping[int, NodeHour],
    settlements: Mapping[int, CurrentSettlement],
    due: Iterable[NodeHour],
) -> dict[int, CurrentSettlement]:
    """Provisional settlements whose facts stand and whose hour is estimated from now on."""
    redone = {hour.node_id for hour in due}
    return {
        node_id: settlements[node_id]
        for node_id, node_hour in hours_by_node.items()
        if node_id not in redone
        and settlements[node_id].version == 0
        and not node_hour.is_provisional
    }


def _split_due_hours(
    this: SplitHour, due: Sequence[NodeHour], settlements: Mapping[int, CurrentSettlement]
) -> list[Settled]:
    latest = latest_versions(this.starts_at, [node_hour.node_id for node_hour in due])
    settled = []
    for hour in due:
        before, version = settlements.get(hour.node_id), latest.get(hour.node_id, 0)
        settled.append(
            Settled(
                node_hour=hour,
                split=split_node_hour(hour.facts),
                version=0 if hour.is_provisional and version == 0 else version + 1,
                reason=_settled_reason(hour, before),
                before=before,
            )
        )
    return settled


def _settled_reason(node_hour: NodeHour, before: CurrentSettlement | None) -> str:
    """Why this settlement was made, for whoever asks why a number moved."""
    if before is None:
        return "settled for the first time"
    if before.through != node_hour.through:
        return "settled as far as the hour has come"
    return "changed: " + ", ".join(changed_kinds(before.digest, node_hour.digest))


def _end_settlements(this: SplitHour, ended_settlements: Sequence[CurrentSettlement]) -> set[int]:
    """End the settlements of node-hours no longer charged; the pools that lost lines."""
    if not ended_settlements:
        return set()
    lost = _drop_lines(this, [settlement.id for settlement in ended_settlements])
    provisional = [settlement.id for settlement in ended_settlements if settlement.version == 0]
    run("DELETE FROM ledger_settlement WHERE id = ANY(%(ids)s)", {"ids": provisional})
    _supersede_old(this, [settlement.id for settlement in ended_settlements if settlement.version])
    return lost


def _drop_lines(this: SplitHour, settlement_ids: Sequence[int]) -> set[int]:
    lost = rows(
        "DELETE FROM ledger_line WHERE posting_month = %(month)s AND settlement_id = ANY(%(ids)s)"
        " RETURNING pool_id",
        {"month": this.month, "ids": list(settlement_ids)},
    )
    return {pool_id for (pool_id,) in lost}


def _supersede_old(this: SplitHour, settlement_ids: Sequence[int]) -> None:
    run(
        "UPDATE ledger_settlement SET superseded_at = %(at)s WHERE id = ANY(%(ids)s)",
        {"at": this.at, "ids": list(settlement_ids)},
    )


def _finalise_settlements(provisional: Iterable[CurrentSettlement]) -> None:
    run(
        "UPDATE ledger_settlement SET version = 1 WHERE id = ANY(%(ids)s)",
        {"ids": [settlement.id for settlement in provisional]},
    )


def _write_settled(this: SplitHour, settled: Sequence[Settled]) -> int:
    """Store settlements and lines; how many lines."""
    if not settled:
        return 0
    before = [settled_hour.before for settled_hour in settled if settled_hour.before]
    _drop_lines(this, [settlement.id for settlement in before])
    _supersede_old(this, [settlement.id for settlement in before if settlement.version])
    ids = {
        settled_hour.node_hour.node_id: settled_hour.before.id
        for settled_hour in settled
        if settled_hour.before and settled_hour.overwrites
    }
    again = [settled_hour for settled_hour in settled if settled_hour.overwrites]
    if again:
        run(UPDATE, _settled_columns(this, again) | {"ids": list(ids.values())})
    new = [settled_hour for settled_hour in settled if not settled_hour.overwrites]
    if new:
        ids |= dict(rows(INSERT, _settled_columns(this, new)))
    lines = [row for settled_hour in settled for row in _line_rows(this, settled_hour, ids)]
    copy_in(COPY, lines)
    return len(lines)


def _settled_columns(this: SplitHour, settled: Sequence[Settled]) -> dict[str, object]:
    return {
        "hour": this.starts_at,
        "at": this.at,
        "nodes": [settled_hour.node_hour.node_id for settled_hour in settled],
        "versions": [settled_hour.version for settled_hour in settled],
        "throughs": [settled_hour.node_hour.through for settled_hour in settled],
        "digests": [settled_hour.node_hour.digest for settled_hour in settled],
        "reasons": [settled_hour.reason for settled_hour in settled],
        "policies": [settled_hour.node_hour.policy_version for settled_hour in settled],
        "units": [settled_hour.split.capacity_ms for settled_hour in settled],
        "effective": [_node_hour_cost(settled_hour) for settled_hour in settled],
    }


def _node_hour_cost(settled: Settled) -> int | None:
    """Return the known part of the node-hour's cost; None where nothing is known."""
    return sum_of_known(line.effective_micros for line in settled.split.lines)


def _line_rows(this: SplitHour, settled: Settled, ids: Mapping[int, int]) -> Iterable[Row]:
    node_hour = settled.node_hour
    settlement_id = ids[node_hour.node_id]
    billed = _billed_lines(settled)
    # Written out once: thousands of lines of a node-hour bear the same.
    hour, month = str(this.starts_at), str(this.month)
    for place, line in enumerate(settled.split.lines):
        owner = _line_owner(node_hour, line.job_id)
        yield (
            line.charge,
            settlement_id,
            hour,
            month,
            node_hour.pool_id,
            owner.team_id,
            owner.workload_id,
            line.job_id,
            line.holder_key_id,
            int(line.state),
            int(line.flags),
            int(line.evidence),
            node_hour.policy_version,
            line.unit_ms,
            line.list_micros,
            line.contracted_micros,
            line.effective_micros,
            billed.get(place),
        )


def _billed_lines(settled: Settled) -> dict[int, int]:
    """Return the billed amount of each line, by its place: by effective cost, or by time."""
    parts: dict[int, int] = {}
    for charge, billed_micros in settled.node_hour.billed.items():
        of_charge = [
            (place, line) for place, line in enumerate(settled.split.lines) if line.charge == charge
        ]
        weights = [abs(line.effective_micros or 0) for _, line in of_charge]
        if not any(weights):
            weights = [line.unit_ms for _, line in of_charge]
        if not any(weights):
            weights = [1] * len(of_charge)
        for (place, _), part in zip(
            of_charge, largest_remainder(billed_micros, weights), strict=True
        ):
            parts[place] = part
    return parts


def _line_owner(node_hour: NodeHour, job_id: int | None) -> Owner:
    """Time of no job, known or claimed by a process, belongs to the pool's owner."""
    return node_hour.nobody if job_id is None else node_hour.owners[job_id]


def _next_marks(this: SplitHour, touched: Sequence[NodeHour], pools: set[int]) -> list[Mark]:
    if not touched and not pools:
        return []
    day = first_hour(local_day(this.starts_at, this.zone), this.zone)
    changed = pools | {hour.pool_id for hour in touched}
    marks = [Mark(Pass.ROLLUP, pool_id, day) for pool_id in changed]
    # A pool that shares idle out is seen on its node-hours; one that just stopped is marked by
    # whoever changed it.
    if any(hour.shares_idle for hour in touched) or has_shared_charges(this.starts_at) or pools:
        marks.append(Mark(Pass.SPREAD, 0, this.starts_at))
    return marks


UPDATE = """
UPDATE ledger_settlement AS held
SET version = new.version, through = new.through, digest = new.digest, reason = new.reason,
    policy_version = new.policy_version, unit_milliseconds = new.unit_milliseconds,
    effective_micros = new.effective_micros, settled_at = %(at)s
FROM unnest(%(ids)s::int8[], %(versions)s::int4[], %(throughs)s::timestamptz[],
            %(digests)s::bytea[], %(reasons)s::text[], %(policies)s::int4[], %(units)s::int8[],
            %(effective)s::int8[])
     AS new (id, version, through, digest, reason, policy_version, unit_milliseconds,
             effective_micros)
WHERE held.id = new.id
"""
INSERT = """
INSERT INTO ledger_settlement
    (node_id, hour, version, through, digest, reason, policy_version, unit_milliseconds,
     effective_micros, settled_at)
SELECT new.node_id, %(hour)s, new.version, new.through, new.digest, new.reason,
       new.policy_version, new.unit_milliseconds, new.effective_micros, %(at)s
FROM unnest(%(nodes)s::int8[], %(versions)s::int4[], %(throughs)s::timestamptz[],
            %(digests)s::bytea[], %(reasons)s::text[], %(policies)s::int4[], %(units)s::int8[],
            %(effective)s::int8[])
     AS new (node_id, version, through, digest, reason, policy_version, unit_milliseconds,
             effective_micros)
RETURNING node_id, id
"""
COPY = """
COPY ledger_line
    (charge_id, settlement_id, hour, posting_month, pool_id, team_id, workload_id, job_id,
     holder_key_id, state, flags, evidence, policy_version, unit_milliseconds, list_micros,
     contracted_micros, effective_micros, billed_micros)
FROM STDIN
"""
