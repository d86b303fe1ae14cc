"""The owner of a device's work, judged minute by minute."""

from collections.abc import Callable, Iterable, Sequence
from operator import gt, sub
from typing import NamedTuple

from apps.economics.node_hour.facts import UsageFact
from apps.economics.node_hour.holding import Holder
from apps.economics.node_hour.names import HolderNames
from apps.economics.node_hour.readings import Columns, Readings, ReadingSpan, Shown
from apps.economics.split import largest_remainder

OUTSIDER = -1


class Process(NamedTuple):
    """A process row that showed something, and the index of the holder whose it is."""

    row: UsageFact
    owner: int


class Activity(NamedTuple):
    """Milliseconds of a span: observed, worked by each holder, by outsiders, by nobody known.

    `dark` is work that one of several holders did and nothing says which. `unheld` is what of each
    outsider's work a part of the device that is not held can carry.
    """

    observed: int
    processes: Sequence[Process]
    worked: Sequence[int]
    dark: Sequence[int]
    unheld: Sequence[int]
    nobodys: int


class _Explained(NamedTuple):
    """Work by holder, work in the dark by holder, and work that is nobody's."""

    worked: Sequence[int]
    dark: Sequence[int]
    nobodys: int


class _Picture(NamedTuple):
    """Columns of moments, and what of them is whose."""

    columns: Columns
    holders: Sequence[Holder]
    owners: Sequence[int]

    def rows_of(self, holder: int) -> list[Sequence[int]]:
        """The work of that holder's processes (or the outsiders')."""
        return [
            worked
            for worked, owner in zip(self.columns.of_rows, self.owners, strict=True)
            if owner == holder
        ]

    def outside_the_pool(self) -> list[Sequence[int]]:
        """The work of processes that belong to no unpinned holder."""
        return [
            worked
            for worked, owner in zip(self.columns.of_rows, self.owners, strict=True)
            if owner == OUTSIDER or not self.holders[owner].pooled
        ]


def activity_of(
    holders: Sequence[Holder], readings: Readings, span: ReadingSpan, names: HolderNames
) -> Activity:
    """Sum what every moment of the span says.

    Minute by minute, as what overlaps in one minute must not explain the work of another. Where
    the device's work is all its only holder's, or all nobody's, the sums say it at once.
    """
    shown = readings.device_shown(span)
    processes = _owned_processes(holders, readings, span, names)
    if not processes:
        return _without_processes(holders, shown)
    owners = [process.owner for process in processes]
    if len(holders) == 1 and not holders[0].pooled and OUTSIDER not in owners:
        return Activity(shown.observed_ms, processes, (shown.worked_ms,), (0,), (), 0)
    rows = [process.row for process in processes]
    explained = [
        _sums_of(_Picture(columns, holders, owners)) for columns in readings.columns(rows, span)
    ]
    worked, dark, unheld, nobodys = map(_column_sums, zip(*explained, strict=True))
    return Activity(shown.observed_ms, processes, worked, dark, unheld, nobodys[0])


def _owned_processes(
    holders: Sequence[Holder], readings: Readings, span: ReadingSpan, names: HolderNames
) -> list[Process]:
    """Rows that show anything in the span; a key that is no holder's is an outsider's."""
    return [
        Process(row, _key_owner(holders, row.holder_id, span, names))
        for row in readings.processes
        if readings.is_seen(row, span)
    ]


def _key_owner(
    holders: Sequence[Holder], holder_id: int, span: ReadingSpan, names: HolderNames
) -> int:
    """The holder whose key it is now, else the first whose key it ever is in the hour."""
    mine = [index for index, holder in enumerate(holders) if names.is_of(holder_id, holder.job_id)]
    if len(mine) > 1:
        now = names.job_at(holder_id, span.start_ms, span.end_ms)
        mine.sort(key=lambda index: holders[index].job_id != now)
    return mine[0] if mine else OUTSIDER


def _without_processes(holders: Sequence[Holder], shown: Shown) -> Activity:
    """The only holder's work, or that of all unpinned ones; else in the dark, or nobody's."""
    observed, worked = shown
    if not holders:
        return Activity(observed, (), (), (), (), worked)
    if len(holders) == 1:
        return Activity(observed, (), (worked,), (0,), (), 0)
    pooled = [holder.pooled for holder in holders]
    mine = [worked if in_pool else 0 for in_pool in pooled]
    dark = [0 if any(pooled) else worked] * len(holders)
    return Activity(observed, (), mine, dark, (), 0)


_Sums = tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]]


def _sums_of(picture: _Picture) -> _Sums:
    columns, scale = picture.columns, picture.columns.scale
    explained = _explanation_for(picture.holders)(picture)
    outside = picture.rows_of(OUTSIDER)
    return (
        [worked * scale for worked in explained.worked],
        [dark * scale for dark in explained.dark],
        _cap_at_device(outside, columns.worked, scale),
        [explained.nobodys * scale],
    )


def _column_sums(parts: Iterable[Sequence[int]]) -> list[int]:
    return [sum(of_part) for of_part in zip(*parts, strict=True)]


def _sum_by_moment(rows: Sequence[Sequence[int]], moments: int) -> Sequence[int]:
    """The rows' sum at each moment."""
    if len(rows) == 1:
        return rows[0]
    return list(map(sum, zip(*rows, strict=True))) if rows else [0] * moments


def _excess_over(first: Iterable[int], second: Iterable[int]) -> list[int]:
    """How much the first exceeds the second at each moment, else 0."""
    return [max(0, difference) for difference in map(sub, first, second)]


def _cap_at_device(rows: Sequence[Sequence[int]], worked: Sequence[int], scale: int) -> list[int]:
    """Milliseconds of processes that together work at most as long as their device, at each moment."""
    together = _sum_by_moment(rows, len(worked))
    if not any(map(gt, together, worked)):
        return [sum(row) * scale for row in rows]
    sums = [0] * len(rows)
    for works, most, wanted in zip(zip(*rows, strict=True), worked, together, strict=True):
        fitting = (
            [work * scale for work in works]
            if wanted <= most
            else largest_remainder(most * scale, works)
        )
        sums = [so_far + work for so_far, work in zip(sums, fitting, strict=True)]
    return sums


def _explanation_for(holders: Sequence[Holder]) -> Callable[[_Picture], _Explained]:
    if not holders:
        return _held_by_nobody
    if len(holders) > 1:
        return _held_by_several
    return _held_by_a_pool if holders[0].pooled else _held_by_one


def _held_by_nobody(picture: _Picture) -> _Explained:
    columns = picture.columns
    held_work = _sum_by_moment(columns.of_rows, len(columns.worked))
    return _Explained((), (), sum(_excess_over(columns.worked, held_work)))


def _held_by_one(picture: _Picture) -> _Explained:
    """The device's work is its only holder's, but its own processes' where others' were seen."""
    columns = picture.columns
    others = [
        row for row, owner in zip(columns.seen, picture.owners, strict=True) if owner == OUTSIDER
    ]
    mine = map(min, columns.observed, _sum_by_moment(picture.rows_of(0), len(columns.worked)))
    worked = [
        own_work if foreign_work else worked
        for own_work, foreign_work, worked in zip(
            mine, _sum_by_moment(others, len(columns.worked)), columns.worked, strict=True
        )
    ]
    return _Explained((sum(worked),), (0,), 0)


def _held_by_a_pool(picture: _Picture) -> _Explained:
    worked = picture.columns.worked
    outside = _sum_by_moment(picture.outside_the_pool(), len(worked))
    return _Explained((sum(_excess_over(worked, outside)),), (0,), 0)


def _held_by_several(picture: _Picture) -> _Explained:
    """Each its own processes' work; unpinned holders all the work that is nobody else's.

    Work that nobody explains leaves each of them in the dark.
    """
    columns, moments = picture.columns, len(picture.columns.worked)
    pool = _excess_over(columns.worked, _sum_by_moment(picture.outside_the_pool(), moments))
    unexplained = _excess_over(columns.worked, _sum_by_moment(columns.of_rows, moments))
    if any(holder.pooled for holder in picture.holders):
        unexplained = [0] * moments
    worked, dark = [], []
    for index, holder in enumerate(picture.holders):
        own_work = _sum_by_moment(picture.rows_of(index), moments)
        mine = pool if holder.pooled else list(map(min, columns.observed, own_work))
        worked.append(sum(mine))
        dark.append(sum(map(min, unexplained, map(sub, columns.observed, mine))))
    return _Explained(worked, dark, 0)
