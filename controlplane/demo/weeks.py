"""The weeks before the last one: told through the same doors in coarser windows, the latest first."""

import contextlib
import io
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from django.core.management import call_command
from django.db import connection

from apps.console.kit.filling import Filling, tell_filling
from apps.economics.hours import HOUR
from apps.ledger.tasks import price_calls
from apps.workloads.tasks import fold_runs
from controlplane.demo.bills import take_bill
from controlplane.demo.company import Company
from controlplane.demo.fleet import Chapter, DemoSpan
from controlplane.demo.telling import tell

WINDOW_MINUTES = 5


def fill_weeks(company: Company, earlier: Chapter) -> None:
    """Fill every week before the last: the next one is told while this one is settled."""
    weeks = list(company.earlier_weeks())
    first, last = (_clock_hours(earlier, at) for at in (company.since, earlier.span.ends_at))
    company.doors.simulate(
        "history", earlier.span.ends_at, "--only", "jobs", "--hours", first, last
    )
    with ThreadPoolExecutor(1) as teller:
        telling = teller.submit(_tell_week, company, earlier, weeks[0])
        for week, after in zip(weeks, [*weeks[1:], None], strict=True):
            began = time.monotonic()
            said = f"the week from {week.starts_at:%-d %B %Y}"
            tell_filling(Filling(week.weeks_ago, len(weeks) + 1, said))
            telling.result()
            if after is not None:
                telling = teller.submit(_tell_week, company, earlier, after)
            work_out(company, week)
            took = time.monotonic() - began
            company.say(f"  {week.weeks_ago + 1} of {len(weeks) + 1}: {said}, {took:.0f} s")
    tell_filling(Filling(len(weeks) + 1, len(weeks) + 1, "what happened in them"))


def work_out(company: Company, span: DemoSpan) -> None:
    """The cloud's bill of a week of which all else is told; then its dollars."""
    take_bill(company, span)
    fold_runs()
    price_calls()
    _settle(starts_at=span.starts_at, ends_at=span.ends_at)


def settle_rest() -> None:
    """Whatever waits, from the first hour until now."""
    _settle()


def _settle(**span: datetime) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        call_command("settle", **span)


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
