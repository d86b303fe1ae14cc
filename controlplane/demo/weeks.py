"""The weeks before the last one: told through the same doors in coarser windows, the latest first."""

import contextlib
import io
import time
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from typing import Any, Self

from django.core.management import call_command
from django.db import connection

from apps.console.kit.filling import Filling, announce_filling
from apps.economics.hours import HOUR
from apps.ledger.tasks import price_calls
from apps.workloads.tasks import fold_runs
from controlplane.demo.bills import take_bill
from controlplane.demo.company import Company
from controlplane.demo.fleet import Chapter, DemoSpan
from controlplane.demo.telling import tell

WINDOW_MINUTES = 5


class WeekFiller:
    """The weeks before the last, the latest first: the next one is told while this one is settled.

    A context: within it a thread tells, and leaving it ends that.
    """

    def __init__(self, company: Company, earlier: Chapter) -> None:
        self.company, self.earlier = company, earlier
        self.weeks = list(company.earlier_weeks())
        self.parts = len(self.weeks) + 1
        self.teller = ThreadPoolExecutor(1)

    def __enter__(self) -> Self:
        """Begin to tell the first of them."""
        if self.weeks:
            self.jobs = self.teller.submit(_tell_jobs, self.company, self.earlier)
            self.telling = self._tell(self.weeks[0])
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        """Wait for the thread; after a failure, or a signal, for nothing that it would still send."""
        if kind is not None:
            self.company.doors.close()
        self.teller.shutdown(cancel_futures=True)

    def fill_next(self) -> None:
        """Settle the next week, while the one before it is told."""
        week = self.weeks.pop(0)
        began, said = time.monotonic(), f"the week from {week.starts_at:%-d %B %Y}"
        self.jobs.result()
        self.telling.result()
        if self.weeks:
            self.telling = self._tell(self.weeks[0])
        work_out(self.company, week)
        took = time.monotonic() - began
        self.company.say(f"  {week.weeks_ago + 1} of {self.parts}: {said}, {took:.0f} s")

    def tell_filling(self, answers: str) -> None:
        """Have every page say how many weeks are there, and of how many what stands on them is made."""
        done = self.parts - len(self.weeks)
        said = (
            f"the week from {self.weeks[0].starts_at:%-d %B %Y}"
            if self.weeks
            else "what happened in them"
        )
        announce_filling(Filling(done, self.parts, said, answers))

    def _tell(self, week: DemoSpan) -> Future[None]:
        return self.teller.submit(_tell_week, self.company, self.earlier, week)


def work_out(company: Company, span: DemoSpan, *, processes: int = 1) -> None:
    """The cloud's bill of a week of which all else is told; then its dollars, by so many processes."""
    take_bill(company, span)
    fold_runs()
    price_calls()
    _settle(starts_at=span.starts_at, ends_at=span.ends_at, processes=processes)


def settle_rest() -> None:
    """Whatever waits, from the first hour until now."""
    _settle()


def _settle(**options: Any) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        call_command("settle", **options)


def _tell_jobs(company: Company, earlier: Chapter) -> None:
    """By the schedulers, of all weeks."""
    first, last = (_clock_hours(earlier, at) for at in (company.since, earlier.span.ends_at))
    company.doors.simulate(
        "history", earlier.span.ends_at, "--only", "jobs", "--hours", first, last
    )


def _tell_week(company: Company, earlier: Chapter, week: DemoSpan) -> None:
    """By agents, runs, services and gateways; in a thread beside the settling."""
    company.doors.simulate(
        "history", earlier.span.ends_at, "--only", "windows",
        "--window-minutes", str(WINDOW_MINUTES), "--hours",
        *(_clock_hours(earlier, moment) for moment in (week.starts_at, week.ends_at)),
    )  # fmt: skip
    try:
        tell(company, earlier.story, week)
    finally:
        connection.close()


def _clock_hours(chapter: Chapter, moment: datetime) -> str:
    """A moment on the chapter's own clock."""
    return str((moment - chapter.span.starts_at) // HOUR)
