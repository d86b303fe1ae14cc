"""The frame of every pass over money: its month open, its locks had, its marks read first and lifted last."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime

from django.db import transaction

from apps.ledger.actions.closed import kept_closed
from apps.ledger.actions.outcome import BUSY, NOTHING, Outcome
from apps.marks.actions import Mark, clear, mark, try_lock
from apps.marks.queries import Pass, marks_of_hour

Done = tuple[Outcome, Iterable[Mark]]
"""What became of it, and what the next passes have to do for it."""


def redo_marked(
    pass_: Pass,
    hour: datetime,
    *,
    month: date,
    key: int,
    work: Callable[[Sequence[int]], Done],
    also: Sequence[Pass] = (),
) -> Outcome:
    """Have `work` do the units of `hour` that are marked for a pass, in one transaction with the marks.

    `month` is what it would change: of a closed one nothing is done, and what is marked stays. `key`
    is the hour's or the day's for the lock of the pass and of those which may not run meanwhile.
    Its own marks are lifted before the next passes' are laid: everybody takes them in this order.
    """
    with transaction.atomic():
        kept = kept_closed(month)
        if kept is not None:
            return kept
        if not all(try_lock(each, key) for each in (*also, pass_)):
            return BUSY
        marks = marks_of_hour(pass_, hour)
        if not marks:
            return NOTHING
        outcome, next_marks = work([each.unit for each in marks])
        clear(pass_, {hour: marks})
        mark(next_marks)
    return outcome
