"""Passes over a span of hours, until nothing in it waits; the ledger's own among them."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import inf

from apps.accounts import queries as accounts
from apps.economics.hours import first_hour, hour_of
from apps.ledger.actions.charge import charge_hour, lift_empty_hours
from apps.ledger.actions.outcome import Outcome
from apps.ledger.actions.reconcile import reconcile_waiting, wake_bills
from apps.ledger.actions.rollup import roll_up_corrections, roll_up_day
from apps.ledger.actions.split import split_hours
from apps.ledger.actions.spread import spread_hour
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.due import due_hours_marked
from apps.marks.actions import expand_ranges, log_deferred_hour
from apps.marks.queries import OF_DAYS, Pass, units_marked

DoPass = Callable[[Sequence[datetime], datetime], Iterable[tuple[datetime, Outcome]]]
"""Does hours, or the days that begin with them, as they are known at a moment, in that order.

Tells of each what came of it, as soon as that is kept. One that raises is told of too, and the
others go on.
"""
Passes = Mapping[Pass, DoPass]
"""What does each pass, in the order a dollar goes through them."""


def one_by_one(do: Callable[[datetime, datetime], Outcome]) -> DoPass:
    """A pass that does one hour, or one day, at a time."""

    def do_each(hours: Sequence[datetime], at: datetime) -> Iterator[tuple[datetime, Outcome]]:
        for hour in hours:
            try:
                outcome = do(hour, at)
            except Exception as problem:  # noqa: BLE001  # told of, and the next hour's turn
                outcome = Outcome(done=False, problem=problem)
            yield hour, outcome

    return do_each


PASSES: Passes = {
    Pass.CHARGE: one_by_one(lambda hour, at: charge_hour(hour=hour, at=at)),
    Pass.SPLIT: lambda hours, at: split_hours(hours=hours, at=at),
    Pass.SPREAD: one_by_one(lambda hour, at: spread_hour(hour=hour)),
    Pass.ROLLUP: one_by_one(lambda hour, at: roll_up_day(first_hour=hour)),
    Pass.ROLLUP_CORRECTIONS: one_by_one(lambda hour, at: roll_up_corrections(first_hour=hour)),
}
"""The ledger's own; apps above have further ones, over what these wrote."""
HOURS_AT_ONCE = 24
MOST_TURNS = 4


@dataclass(slots=True)
class Progress:
    """The progress so far; days by their first hour; `busy` counts hours that another settler had.

    `failed` says why, by the pass and the hour that raised.
    """

    hours: set[datetime] = field(default_factory=set)
    days: set[datetime] = field(default_factory=set)
    charges: int = 0
    settlements: int = 0
    lines: int = 0
    busy: int = 0
    failed: dict[tuple[Pass, datetime], str] = field(default_factory=dict)

    def add(self, more: "Progress") -> None:
        """Add what another round did."""
        self.hours |= more.hours
        self.days |= more.days
        self.charges += more.charges
        self.settlements += more.settlements
        self.lines += more.lines
        self.busy += more.busy
        self.failed |= more.failed


class NotSettled(Exception):
    """Hours of the span raised, each with its traceback in the log; all others were done."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(progress)
        self.progress = progress

    def __str__(self) -> str:
        return failed_hours(self.progress.failed)


def failed_hours(failed: Mapping[tuple[Pass, datetime], str]) -> str:
    """A line for each: the pass, the hour and why."""
    return "\n".join(
        f"{pass_.name.lower()} of {hour.isoformat()}: {why}"
        for (pass_, hour), why in sorted(failed.items())
    )


Tell = Callable[[Progress], None]


def settle_window(
    *,
    passes: Passes,
    starts_at: datetime,
    ends_at: datetime,
    at: datetime,
    tell: Tell = lambda progress: None,
    newest_first: bool = False,
) -> Progress:
    """Do every marked hour in `[starts_at, ends_at)` as far as `at`, oldest or newest first.

    Hours that another settler holds are left to it and counted as busy; those of closed months
    are left alone. Bills that wait are reconciled first. `tell` hears after each hour. Raises `NotSettled` at the end if any hour raised.
    """
    progress = Progress()
    while expand_ranges():
        pass
    lift_empty_hours(before=min(ends_at, at))
    reconcile_waiting(lambda: at)
    for pass_, do in passes.items():
        for _ in _turns(pass_, at):
            hours = list(marked_hours(pass_, starts_at, min(ends_at, at)))
            for some in _still_marked(pass_, hours[::-1] if newest_first else hours):
                for hour, outcome in do(some, at):
                    _count_outcome(progress, pass_, hour, outcome)
                    tell(progress)
    if progress.failed:
        raise NotSettled(progress)
    return progress


def _turns(pass_: Pass, at: datetime) -> Iterator[int]:
    """The turns of a pass: one, and of charges another after each that moved what bills are spread by."""
    yield 0
    for turn in range(1, MOST_TURNS if pass_ is Pass.CHARGE else 1):
        if not wake_bills(at=at):
            return
        reconcile_waiting(lambda: at)
        yield turn


def try_pass(
    *, passes: Passes, pass_: Pass, hours: Sequence[datetime], at: datetime, until: float = inf
) -> set[datetime]:
    """Do hours of one pass for a sweep, until the monotonic clock says `until`; which of them raised.

    Their marks stay, for the next sweep.
    """
    failed = set()
    for hour, outcome in passes[pass_](hours, at):
        if outcome.problem:
            log_deferred_hour(pass_, hour, outcome.problem)
            failed.add(hour)
        if time.monotonic() > until:
            break
    return failed


def marked_hours(pass_: Pass, starts_at: datetime, ends_at: datetime) -> Iterator[datetime]:
    """The hours of the span that wait for `pass_`; a day belongs to it if any of its hours does.

    Those of closed months wait for a person, not for a pass over money.
    """
    since = hour_of(starts_at)
    if pass_ in OF_DAYS:
        zone = accounts.organisation().zone
        since = first_hour(local_day(starts_at, zone), zone)
    for hour in due_hours_marked(pass_, ends_at):
        if hour >= since:
            yield hour


def _still_marked(pass_: Pass, hours: Sequence[datetime]) -> Iterator[list[datetime]]:
    """A day's worth at a time, without those that another settler did meanwhile."""
    for first in range(0, len(hours), HOURS_AT_ONCE):
        some = hours[first : first + HOURS_AT_ONCE]
        left = units_marked(pass_, some)
        yield [hour for hour in some if hour in left]


def _count_outcome(progress: Progress, pass_: Pass, hour: datetime, outcome: Outcome) -> None:
    if outcome.problem:
        progress.failed[pass_, hour] = log_deferred_hour(pass_, hour, outcome.problem)
        return
    if outcome.is_kept:
        return
    if not outcome.done:
        progress.busy += 1
        return
    if pass_ in OF_DAYS:
        progress.days.add(hour)
        return
    progress.hours.add(hour)
    progress.lines += outcome.lines
    if pass_ is Pass.CHARGE:
        progress.charges += outcome.changed
    elif pass_ is Pass.SPLIT:
        progress.settlements += outcome.changed
