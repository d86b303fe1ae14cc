"""What a job reader gives: one attempt of a job, a row it refused, or a row it passed over."""

from dataclasses import dataclass
from enum import StrEnum

from apps.economics.jobs import AllocationRecord, JobRecord, RejectedJobRow

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


class FieldUnreadable(ValueError):
    """One field of one row holds nothing that can be read."""

    def __init__(self, field_name: str, message: str) -> None:
        super().__init__(f"{field_name}: {message}")
        self.field = field_name
        self.message = message
