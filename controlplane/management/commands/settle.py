"""Settle hours now: from usage windows to the sums that pages read."""

import json
import logging
import math
import sys
import time
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from typing import Any

import django
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError
from django.utils import timezone

from apps.economics.hours import HOUR
from apps.economics.typed import parse_moment
from apps.ledger import actions
from apps.ledger.queries.closes.months import late_months
from apps.ledger.tasks.api_usage import price_marked
from apps.marks.actions import expand_ranges, log_deferred_hour
from apps.marks.queries import Pass, hours_marked
from apps.telemetry.actions.rollup import roll_up_hour
from controlplane.settling import settle_window

log = logging.getLogger(__name__)

AT_ONCE = 100_000
PATIENCE_SECONDS = 60
PAUSE_SECONDS = 0.5
TOLD_EVERY_SECONDS = 2
PASSING = (BrokenExecutor, OperationalError)
"""What a further process may end on without anything being wrong: it was killed, or met another."""


class Command(BaseCommand):
    """`manage.py settle --from … --to …`: safe to run again and beside the sweeps."""

    help = "Settle every hour that changed: usage, charges, lines, shared costs, sums by day."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The span; everything that waits where none is given."""
        parser.add_argument("--from", dest="starts_at", type=parse_moment, metavar="MOMENT")
        parser.add_argument("--to", dest="ends_at", type=parse_moment, metavar="MOMENT")
        parser.add_argument(
            "--processes", type=int, default=1, help="how many settle side by side; default 1"
        )
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Settle and print what was done."""
        began = time.monotonic()
        at = timezone.now()
        starts_at = options["starts_at"] or datetime(1970, 1, 1, tzinfo=UTC)
        ends_at = min(options["ends_at"] or at, at)
        if starts_at >= ends_at:
            raise CommandError("--from must lie before --to, and before now")
        actions.mark_by_clock(at=at)
        total, broken = _settle_side_by_side(options["processes"], starts_at, ends_at, at)
        figures = {
            "hours": len(total.hours),
            "charges": total.charges,
            "settlements": total.settlements,
            "lines": total.lines,
            "days": len(total.days),
            "seconds": round(time.monotonic() - began, 3),
            "pending": _pending(starts_at, ends_at),
        }
        waiting = _waiting(starts_at, ends_at)
        if options["json"]:
            print(json.dumps(figures | {"waiting": waiting}))
        else:
            _print_figures(figures, waiting)
        failed = _still_failed(total, starts_at, ends_at)
        if failed:
            raise CommandError(f"left as they were, see the log:\n{actions.failed_hours(failed)}")
        if broken:
            raise CommandError(
                f"another process broke off, see the log; its hours are settled: {broken[0]!r}"
            )


def _print_figures(
    figures: Mapping[str, float], waiting: Sequence[Mapping[str, str | int]]
) -> None:
    for name, figure in figures.items():
        print(f"{name:12} {figure}")
    if figures["pending"]:
        print(
            "pending means: other settlers have them, or their facts came meanwhile; settle again"
        )
    for late in waiting:
        print("waiting      {month}: {hours} hours, {days} days; {why}".format(**late))


def _settle_side_by_side(
    processes: int, starts_at: datetime, ends_at: datetime, at: datetime
) -> tuple[actions.Progress, list[Exception]]:
    """By this process from the oldest hour on, and by further ones from the newest.

    Also what further ones ended on that somebody has to look at.
    """
    if processes < 2:
        return _settle(starts_at, ends_at, at), []
    others = ProcessPoolExecutor(
        processes - 1, mp_context=get_context("spawn"), initializer=django.setup
    )
    ended_early: list[Exception] = []
    with others:
        further = [
            others.submit(_settle, starts_at, ends_at, at, is_further=True)
            for _ in range(processes - 1)
        ]
        total = _settle(starts_at, ends_at, at)
        for each in further:
            try:
                total.add(each.result())
            except Exception as problem:  # noqa: BLE001  # whatever it was, its hours are done here
                ended_early.append(problem)
                print(
                    f"another process ended early; what it left is settled here: {problem!r}",
                    file=sys.stderr,
                )
    if ended_early:
        total.add(_settle(starts_at, ends_at, at))
    broken = [each for each in ended_early if not isinstance(each, PASSING)]
    for fault in broken:
        log.error("settle_process_broken reason=%s", fault, exc_info=fault)
    return total, broken


def _settle(
    starts_at: datetime, ends_at: datetime, at: datetime, *, is_further: bool = False
) -> actions.Progress:
    """Again and again until nothing waits, or no other hour was done for a minute.

    What is left then is held by others, or its facts come faster than they are settled. Hours that
    raise are tried in each round, and not waited for.
    """
    total = actions.Progress()
    tell = (lambda progress: None) if is_further else _Teller()
    patient_until = time.monotonic() + PATIENCE_SECONDS
    while True:
        failed = _roll_up_and_price(starts_at, ends_at)
        before = len(total.hours)
        try:
            done = settle_window(
                starts_at=starts_at, ends_at=ends_at, at=at, tell=tell, newest_first=is_further
            )
        except actions.NotSettled as broken:
            done = broken.progress
        done.failed |= failed
        total.add(done)
        if not _pending(starts_at, ends_at):
            return total
        if len(total.hours) > before:
            patient_until = time.monotonic() + PATIENCE_SECONDS
        elif done.failed or time.monotonic() > patient_until:
            return total
        time.sleep(PAUSE_SECONDS)


def _roll_up_and_price(starts_at: datetime, ends_at: datetime) -> dict[tuple[Pass, datetime], str]:
    """Usage to hours and calls to their prices, before anything is charged; which raised, and why."""
    failed: dict[tuple[Pass, datetime], str] = {}

    def keep(pass_: Pass, hour: datetime, problem: Exception) -> None:
        failed[pass_, hour] = log_deferred_hour(pass_, hour, problem)

    while expand_ranges():
        pass
    for hour in hours_marked(Pass.USAGE, ends_at, AT_ONCE):
        try:
            while hour + HOUR > starts_at and roll_up_hour(hour=hour):
                pass
        except Exception as problem:  # noqa: BLE001  # told of, and the next hour's turn
            keep(Pass.USAGE, hour, problem)
    price_marked(ends_at, seconds=math.inf, put_off=partial(keep, Pass.CALLS))
    return failed


def _pending(starts_at: datetime, ends_at: datetime) -> int:
    return len(_units_pending(starts_at, ends_at))


def _units_pending(starts_at: datetime, ends_at: datetime) -> set[tuple[Pass, datetime]]:
    return {
        (pass_, hour) for pass_ in Pass for hour in actions.marked_hours(pass_, starts_at, ends_at)
    }


def _still_failed(
    total: actions.Progress, starts_at: datetime, ends_at: datetime
) -> dict[tuple[Pass, datetime], str]:
    """Without what raised once, such as on a deadlock, and was done in a later round."""
    pending = _units_pending(starts_at, ends_at)
    return {which: why for which, why in total.failed.items() if which in pending}


def _waiting(starts_at: datetime, ends_at: datetime) -> list[dict[str, str | int]]:
    """What came late for closed months: no settling takes it up, whoever asks."""
    return [
        {
            "month": f"{month:%Y-%m}",
            "hours": late.hours,
            "days": late.days,
            "why": "the month is closed: post corrections, or open it (docs/guides/close.md)",
        }
        for month, late in late_months(starts_at, ends_at).items()
    ]


class _Teller:
    """Says on stderr how far it is, every other second."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def __call__(self, progress: actions.Progress) -> None:
        now = time.monotonic()
        if now - self._told >= TOLD_EVERY_SECONDS:
            self._told = now
            print(
                f"settling: {len(progress.hours)} hours, {progress.lines} lines …",
                file=sys.stderr,
            )
