"""What a job reader gives: one attempt of a job, a row it refused, or a row it passed over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fractions import Fraction

MICROSECONDS_PER_SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class AllocationRecord:
    """What one job held on one node: `gpus` whole GPUs, or `share` of each of them."""

    node: str
    gpus: Fraction
    cpus: Fraction | None
    share: Fraction | None = None
    devices: tuple[str, ...] | None = None
    divided_evenly: bool = False

    @property
    def held_gpus(self) -> Fraction:
        """How many GPUs that is: half of one GPU is 1/2."""
        return self.gpus if self.share is None else self.gpus * self.share


@dataclass(frozen=True, slots=True)
class JobRecord:
    """One attempt of one job. A time nobody wrote down is None, never a guess.

    `elapsed_seconds` is the accounting's own figure and leaves suspended time out; it is what a
    job without an end is measured by.
    """

    line: int
    cluster: str
    raw_id: str
    submitted_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    state: str
    restart_count: int = 0
    user: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    cpus: Fraction | None = None
    exit_code: str = ""
    array_id: str = ""
    het_id: str = ""
    suspended_seconds: int = 0
    elapsed_seconds: Fraction | None = None
    allocations: tuple[AllocationRecord, ...] = ()

    @property
    def held_seconds(self) -> Fraction:
        """From start to end, or as far as the accounting has counted; suspended time included."""
        if self.started_at is None:
            return Fraction(0)
        if self.ended_at is not None:
            held = self.ended_at - self.started_at
            whole = held.days * 86_400 + held.seconds
            return whole + Fraction(held.microseconds, MICROSECONDS_PER_SECOND)
        return (self.elapsed_seconds or Fraction(0)) + self.suspended_seconds

    @property
    def gpu_seconds(self) -> Fraction:
        """GPUs times held time: Slurm keeps the GPUs of a suspended job allocated."""
        return sum((one.held_gpus for one in self.allocations), Fraction(0)) * self.held_seconds

    @property
    def cpu_seconds(self) -> Fraction:
        """CPUs times elapsed time: a suspended job's CPUs go to others."""
        elapsed_seconds = max(self.held_seconds - self.suspended_seconds, Fraction(0))
        return (self.cpus or Fraction(0)) * elapsed_seconds


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that could not be read, by its line in the file and the field at fault."""

    line: int
    field: str
    message: str


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


JobRow = JobRecord | RejectedRow | SkippedRow


class FieldUnreadable(ValueError):
    """One field of one row holds nothing that can be read."""

    def __init__(self, field_name: str, message: str) -> None:
        super().__init__(f"{field_name}: {message}")
        self.field = field_name
        self.message = message
