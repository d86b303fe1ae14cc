"""Records that a job reader gives: one attempt of a job, a row it refused, or a row it passed over."""

from dataclasses import dataclass
from enum import StrEnum

from apps.economics.jobs import AllocationRecord, FieldUnreadable, JobRecord, RejectedJobRow

__all__ = [
    "AllocationRecord",
    "FieldUnreadable",
    "JobRecord",
    "JobRow",
    "RejectedJobRow",
    "SkipReason",
    "SkippedRow",
]


class SkipReason(StrEnum):
    """Why a readable row is no job of its own."""

    STEP = "steps"
    NEVER_STARTED = "never_started"
    OUTSIDE_WINDOW = "outside_window"


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row passed over on purpose."""

    line: int
    reason: SkipReason


JobRow = JobRecord | RejectedJobRow | SkippedRow
