"""How a device is divided among those who hold it at one moment."""

from collections.abc import Sequence
from math import lcm
from typing import NamedTuple

from apps.economics.node_hour.holds import Hold
from apps.economics.states import Flag

CONTESTED = int(Flag.CONTESTED)


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
        hold = holds[0]
        holder = Holder(hold.job_id, hold.numerator, hold.flags, hold.pooled)
        return _fit_holders(hold.denominator, (holder,))
    parts = lcm(*(hold.denominator for hold in holds))
    holders_by_job: dict[int, Holder] = {}
    for hold in holds:
        part = hold.numerator * (parts // hold.denominator)
        holder = Holder(hold.job_id, part, hold.flags, hold.pooled)
        before = holders_by_job.get(hold.job_id)
        holders_by_job[hold.job_id] = holder if before is None else _join_holders(before, holder)
    return _fit_holders(parts, tuple(holders_by_job[job_id] for job_id in sorted(holders_by_job)))


def _join_holders(first: Holder, second: Holder) -> Holder:
    return Holder(
        first.job_id,
        first.part + second.part,
        first.flags | second.flags,
        first.pooled and second.pooled,
    )


def _fit_holders(parts: int, holders: tuple[Holder, ...]) -> Shares:
    wanted = sum([holder.part for holder in holders])
    if wanted <= parts:
        return Shares(parts, parts - wanted, holders)
    contested = tuple(holder._replace(flags=holder.flags | CONTESTED) for holder in holders)
    return Shares(wanted, 0, contested)
