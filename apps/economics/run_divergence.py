"""Runs that went silently wrong: the loss is no number any more, or all that was learned is lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite

WORSE_IN_A_ROW = 3
"""As many reports in a row must be so: one spike is none."""
LEARNED = 0.1
"""A loss must have come down by a tenth once, or nothing can be lost of it."""


@dataclass(frozen=True, slots=True)
class ReportedLoss:
    """A measure that is better lower, as reported at a moment; None: it was no finite number."""

    at: datetime
    value: float | None

    @property
    def is_number(self) -> bool:
        """Whether it is one, and finite."""
        return self.value is not None and isfinite(self.value)


def diverged_at(reports: Sequence[ReportedLoss]) -> datetime | None:
    """Since when a run has been wrong up to its last report; None: it is not, or nobody can tell.

    Wrong is, at the end: no finite number; or at least 3 reports in a row no better than the first
    of all, after it had been better by 10 % of it. A run that came back from either is not.
    """
    ordered = sorted(reports, key=lambda report: report.at)
    if not ordered:
        return None
    first = next((report.value for report in ordered if report.is_number), None)
    best = min((report.value or 0.0 for report in ordered if report.is_number), default=None)
    if first is None or best is None:
        return ordered[0].at
    has_learned = first - best >= LEARNED * abs(first) > 0
    wrong: list[ReportedLoss] = []
    for report in reversed(ordered):
        is_lost = report.is_number and has_learned and (report.value or 0.0) >= first
        if report.is_number and not is_lost:
            break
        wrong.append(report)
    is_no_number = bool(wrong) and not wrong[0].is_number
    if is_no_number or len(wrong) >= WORSE_IN_A_ROW:
        return wrong[-1].at
    return None
