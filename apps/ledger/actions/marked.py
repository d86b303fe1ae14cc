"""The frame of every pass over money: its month open, its locks had, its marks read first and lifted last."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime

from django.db import transaction

from apps.ledger.actions.closed import closed_month_outcome
from apps.ledger.actions.outcome import BUSY, NOTHING, Outcome
from apps.marks.actions import Mark, clear, mark, try_lock
from apps.marks.queries import Pass, marks_by_hour

Done = tuple[Outcome, Iterable[Mark]]
"""What became of it, and what the next passes have to do for it."""
Marked = Mapping[datetime, Sequence[int]]
"""The marked units of each hour, in order."""


def redo_marked(
    pass_: Pass,
    hour: datetime,
    *,
    month: date | None,
    key: int,
    work: Callable[[Sequence[int]], Done],
    also: Sequence[Pass] = (),
) -> Outcome:
    """Have `work` do the units of `hour` that are marked for a pass, in one transaction with the marks.

    `month` is what it would change: of a closed one nothing is done, and what is marked stays. `key`
    is the hour's or the day's for the lock of the pass and of those which may not run meanwhile.
    A None month: `work` sees to the months itself. Its own marks are lifted before the next passes'
    are laid: everybody takes them in this order. Where `work` answers BUSY they stay.
    """

    def work_hour(marked: Marked) -> dict[datetime, Done]:
        return {hour: work(marked[hour])}

    return redo_together(pass_, {hour: key}, month=month, work=work_hour, also=also)[hour]


def redo_together(
    pass_: Pass,
    keys: Mapping[datetime, int],
    *,
    month: date | None,
    work: Callable[[Marked], Mapping[datetime, Done]],
    also: Sequence[Pass] = (),
) -> dict[datetime, Outcome]:
    """`redo_marked` for several hours of a month, by the key of each: all of them, or none.

    `work` is not told of hours that another settler has, or that have no mark.
    """
    with transaction.atomic():
        closed_outcome = None if month is None else closed_month_outcome(month)
        if closed_outcome is not None:
            return dict.fromkeys(keys, closed_outcome)
        had = {
            h
            for h, key in keys.items()
            if all(try_lock(locked_pass, key) for locked_pass in (*also, pass_))
        }
        marks = marks_by_hour(pass_, had)
        marked = {
            hour: [hour_mark.unit for hour_mark in of_hour] for hour, of_hour in marks.items()
        }
        done = work(marked) if marked else {}
        clear(pass_, {hour: marks[hour] for hour in marks if hour not in _left(done)})
        mark(next_mark for _, next_marks in done.values() for next_mark in next_marks)
    outcomes = {hour: NOTHING if hour in had else BUSY for hour in keys}
    return outcomes | {hour: outcome for hour, (outcome, _) in done.items()}


def _left(done: Mapping[datetime, Done]) -> set[datetime]:
    """The hours of which some other settler has what they need."""
    return {hour for hour, (outcome, _) in done.items() if not outcome.done}
