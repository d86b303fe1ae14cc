"""All passes over a span of hours, until nothing in it waits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from apps.accounts import queries as accounts
from apps.economics.hours import first_hour, hour_of
from apps.ledger.actions.charge import charge_hour
from apps.ledger.actions.divide import divide_day
from apps.ledger.actions.outcome import Outcome
from apps.ledger.actions.rollup import roll_up_day
from apps.ledger.actions.runs import figure_due_runs
from apps.ledger.actions.split import split_hour
from apps.ledger.actions.spread import spread_hour
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.due import AT_ONCE, open_hours_marked
from apps.marks.actions import expand_ranges
from apps.marks.queries import OF_DAYS, Pass, hours_marked

PASSES = (Pass.CHARGE, Pass.SPLIT, Pass.SPREAD, *OF_DAYS)


@dataclass(slots=True)
class Progress:
    """What was done so far; days by their first hour; `busy` counts hours that another settler had."""

    hours: set[datetime] = field(default_factory=set)
    days: set[datetime] = field(default_factory=set)
    charges: int = 0
    settlements: int = 0
    lines: int = 0
    busy: int = 0

    def add(self, more: "Progress") -> None:
        """Add what another round did."""
        self.hours |= more.hours
        self.days |= more.days
        self.charges += more.charges
        self.settlements += more.settlements
        self.lines += more.lines
        self.busy += more.busy


Tell = Callable[[Progress], None]


def settle_window(
    *, starts_at: datetime, ends_at: datetime, at: datetime, tell: Tell = lambda progress: None
) -> Progress:
    """Do every marked hour in `[starts_at, ends_at)` as far as `at`, oldest first.

    Hours that another settler holds are left to it and counted as busy; those of closed months
    are left alone. `tell` hears after each hour.
    """
    progress = Progress()
    while expand_ranges():
        pass
    for pass_ in PASSES:
        for hour in marked_hours(pass_, starts_at, min(ends_at, at)):
            outcome = do_pass(pass_=pass_, hour=hour, at=at)
            _count(progress, pass_, hour, outcome)
            tell(progress)
    figure_due_runs(at=at)
    return progress


def do_pass(*, pass_: Pass, hour: datetime, at: datetime) -> Outcome:
    """One pass over one hour; for those of `OF_DAYS`, over the day that begins with it."""
    if pass_ is Pass.CHARGE:
        return charge_hour(hour=hour, at=at)
    if pass_ is Pass.SPLIT:
        return split_hour(hour=hour, at=at)
    if pass_ is Pass.SPREAD:
        return spread_hour(hour=hour)
    if pass_ is Pass.ROLLUP:
        return roll_up_day(first_hour=hour)
    return divide_day(first_hour=hour, at=at)


def marked_hours(pass_: Pass, starts_at: datetime, ends_at: datetime) -> Iterator[datetime]:
    """The hours of the span that wait for `pass_`; a day belongs to it if any of its hours does.

    Those of closed months wait for a person, not for a pass of the ledger.
    """
    since = hour_of(starts_at)
    if pass_ in OF_DAYS:
        zone = accounts.organisation().zone
        since = first_hour(local_day(starts_at, zone), zone)
    # Usage is kept and calls are priced whatever is closed.
    if pass_ in PASSES:
        found = open_hours_marked(pass_, ends_at)
    else:
        found = hours_marked(pass_, ends_at, AT_ONCE)
    for hour in found:
        if hour >= since:
            yield hour


def _count(progress: Progress, pass_: Pass, hour: datetime, outcome: Outcome) -> None:
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
