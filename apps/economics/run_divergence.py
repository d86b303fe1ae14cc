"""Runs that went silently wrong: the loss is no number any more, or all that was learned is lost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import TypeAlias

from apps.economics.hours import hour_of

WORSE_IN_A_ROW = 3
"""In as many hours in a row it must be so: one spike is none."""
LEARNED = 0.1
"""A loss must have come down by a tenth once, or nothing can be lost of it."""
WrongSpan: TypeAlias = tuple[datetime, datetime | None]
"""From when to when a run was wrong; no end: it still is, as far as anybody said."""


@dataclass(frozen=True, slots=True)
class ReportedLoss:
    """A measure that is better lower, as reported at a moment; None: it was no finite number.

    `step` is the last that was done then; None: not known.
    """

    at: datetime
    value: float | None
    step: int | None = None

    @property
    def is_number(self) -> bool:
        """Whether it is one, and finite."""
        return self.value is not None and isfinite(self.value)


@dataclass(frozen=True, slots=True)
class StepBack:
    """From this moment on the run went on from this step, as it was saved."""

    at: datetime
    step: int


def diverged_spans(
    losses: Mapping[str, Iterable[ReportedLoss]], backs: Iterable[StepBack]
) -> list[WrongSpan]:
    """When a run was wrong by any of its losses, by name; in order, and they may overlap.

    Wrong from the first report that says so until it goes on from a step before that report's, or
    for good. Going on from a later step, whose state was wrong already, mends nothing. Of a report
    whose step is not known any going back is taken for one to before it. Order and repetition of
    either are moot.
    """
    ordered = sorted(set(backs), key=lambda back: (back.at, back.step))
    return sorted(
        {span for reports in losses.values() for span in _spans_of_loss(reports, ordered)},
        key=lambda span: (span[0], span[1] is None, span[1] or span[0]),
    )


def _spans_of_loss(
    reports: Iterable[ReportedLoss], backs: Sequence[StepBack]
) -> Iterable[WrongSpan]:
    waiting = _in_order(reports)
    valid_reports: list[ReportedLoss] = []
    for back in backs:
        valid_reports += [report for report in waiting if report.at < back.at]
        waiting = [report for report in waiting if report.at >= back.at]
        wrong = _first_wrong(valid_reports)
        if wrong is not None and (wrong.step is None or back.step <= wrong.step):
            yield wrong.at, back.at
        valid_reports = [r for r in valid_reports if r.step is not None and r.step < back.step]
    wrong = _first_wrong([*valid_reports, *waiting])
    if wrong is not None:
        yield wrong.at, None


def _first_wrong(reports: Iterable[ReportedLoss]) -> ReportedLoss | None:
    """The first report of those at the end that are wrong.

    Wrong is, at the end: no finite number; or in at least 3 hours in a row no better than the first
    of all, after it had been better by 10 % of it. A run that came back from either is not, and a
    measure that goes below zero has no tenth by which it could be better.
    """
    ordered = _in_order(reports)
    numbers = [report.value for report in ordered if report.is_number and report.value is not None]
    if not numbers:
        return ordered[0] if ordered else None
    first, best = numbers[0], min(numbers)
    has_learned = best >= 0 and first - best >= LEARNED * first > 0
    wrong: list[ReportedLoss] = []
    for report in reversed(ordered):
        is_lost = report.is_number and has_learned and (report.value or 0.0) >= first
        if report.is_number and not is_lost:
            break
        wrong.append(report)
    is_no_number = bool(wrong) and not wrong[0].is_number
    if is_no_number or len({hour_of(report.at) for report in wrong}) >= WORSE_IN_A_ROW:
        return wrong[-1]
    return None


def _in_order(reports: Iterable[ReportedLoss]) -> list[ReportedLoss]:
    """By time; of one moment the numbers first, so that what is wrong of it counts."""
    return sorted(
        set(reports),
        key=lambda report: (
            report.at,
            not report.is_number,
            report.value if report.is_number and report.value is not None else 0.0,
            -1 if report.step is None else report.step,
        ),
    )
