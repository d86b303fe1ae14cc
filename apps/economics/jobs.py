"""Statements about a job: a whole record of an accounting, or one statement of one event."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from fractions import Fraction

from apps.economics.machines import printable_text
from apps.economics.refusal import Refusal

MICROSECONDS_PER_SECOND = 1_000_000

TERMINAL_STATES = frozenset(
    {
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "ENDED",
        "FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "REQUEUED",
        "REVOKED",
        "TIMEOUT",
    }
)
"""States an attempt does not leave; Slurm's words, and ENDED where nobody said how it ended."""
STOPPED_STATES = frozenset({"CANCELLED", "DEADLINE", "TIMEOUT"})
"""Of these, what a person or a limit known beforehand ended: nothing failed."""


class JobSource(IntEnum):
    """Who says it; the smaller, the more it is trusted."""

    ACCOUNTING = 1
    SCHEDULER = 2
    AGENT = 3


class EventKind(IntEnum):
    """The kinds of events of a job, in the order they happen."""

    SUBMIT = 1
    START = 2
    UPDATE = 3
    END = 4


@dataclass(frozen=True, slots=True)
class AllocationRecord:
    """An allocation of one job on one node: `gpus` whole GPUs, or `share` of each of them.

    `gpus_unknown`: nobody says how many GPUs it held; `gpus` is then what is known of them.
    """

    node: str
    gpus: Fraction
    cpus: Fraction | None = None
    share: Fraction | None = None
    devices: tuple[str, ...] | None = None
    divided_evenly: bool = False
    gpus_unknown: bool = False

    @property
    def held_gpus(self) -> Fraction:
        """How many GPUs that is: half of one GPU is 1/2."""
        return self.gpus if self.share is None else self.gpus * self.share


@dataclass(frozen=True, slots=True)
class JobTerms:
    """An attempt of a job: when it ran, how it ended, and as what it was submitted; texts are empty where nobody said."""

    state: str
    started_at: datetime | None
    ended_at: datetime | None
    suspended_seconds: int = 0
    name: str = ""
    user: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    array_id: str = ""
    het_id: str = ""
    exit_code: str = ""
    cpus: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord(JobTerms):
    """One attempt of one job. A time nobody wrote down is None, never a guess.

    `elapsed_seconds` is the accounting's own figure and leaves suspended time out; it is what a
    job without an end is measured by. `gpu_type` is what the accounting calls its GPUs, `task_id`
    the task of an array (`100_4`), `remarks` what of the row is not understood.
    """

    line: int
    cluster: str
    raw_id: str
    submitted_at: datetime | None
    restart_count: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    elapsed_seconds: Fraction | None = None
    allocations: tuple[AllocationRecord, ...] = ()
    gpu_type: str = ""
    task_id: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def held_seconds(self) -> Fraction:
        """From start to end, or as far as the accounting has counted; suspended time included."""
        if self.started_at is None:
            return Fraction(0)
        if self.ended_at is not None:
            duration = self.ended_at - self.started_at
            whole_seconds = duration.days * 86_400 + duration.seconds
            return whole_seconds + Fraction(duration.microseconds, MICROSECONDS_PER_SECOND)
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


class FieldUnreadable(Refusal):
    """One field of one row holds nothing that can be read."""


@dataclass(frozen=True, slots=True)
class RejectedJobRow:
    """A row that could not be read, by its line in the file and the field at fault."""

    line: int
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class JobStatement:
    """One event of one attempt as one source states it; None is "not said", never "none".

    `at` is when it happened, never when it arrived. `started_at` is given where the source
    states the whole attempt at once, as an accounting does; its allocations hold from then. A
    `restart_count` of None is 0 where the submission is stated, else any. `node` is the node whose
    agent says it; with `is_of_node_alone` it says what is held there and nothing of the job.
    """

    kind: EventKind
    at: datetime
    source: JobSource
    submitted_at: datetime | None = None
    restart_count: int | None = None
    started_at: datetime | None = None
    state: str | None = None
    name: str | None = None
    user: str | None = None
    account: str | None = None
    partition: str | None = None
    qos: str | None = None
    namespace: str | None = None
    array_id: str | None = None
    het_id: str | None = None
    exit_code: str | None = None
    cpus: Fraction | None = None
    suspended_seconds: int | None = None
    run: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    allocations: tuple[AllocationRecord, ...] | None = None
    node: str | None = None
    is_of_node_alone: bool = False

    @property
    def is_terminal(self) -> bool:
        """The attempt was over by then."""
        return self.kind is EventKind.END or self.state in TERMINAL_STATES


@dataclass(frozen=True, slots=True)
class JobEventIn:
    """A statement and the job it is about, as it comes in."""

    cluster: str
    raw_id: str
    statement: JobStatement


class RecordHasNoTime(ValueError):
    """A record that says of no moment that anything happened."""


def event_of_record(record: JobRecord) -> JobEventIn:
    """Return the event that an accounting's row states: the attempt's end, or as much of it as has happened."""
    kind, at = EventKind.SUBMIT, record.submitted_at
    if record.ended_at is not None:
        kind, at = EventKind.END, record.ended_at
    elif record.started_at is not None:
        kind, at = EventKind.START, record.started_at
    if at is None:
        raise RecordHasNoTime(f"job {record.raw_id} was neither submitted, started nor ended")
    return JobEventIn(record.cluster, record.raw_id, _statement_of_record(record, kind, at))


def _statement_of_record(record: JobRecord, kind: EventKind, at: datetime) -> JobStatement:
    return JobStatement(
        kind=kind,
        at=at,
        source=JobSource.ACCOUNTING,
        submitted_at=record.submitted_at,
        restart_count=record.restart_count,
        started_at=record.started_at,
        state=record.state or None,
        name=printable_text(record.name) or None,
        user=printable_text(record.user) or None,
        account=printable_text(record.account) or None,
        partition=printable_text(record.partition) or None,
        qos=printable_text(record.qos) or None,
        array_id=record.array_id or None,
        het_id=record.het_id or None,
        exit_code=record.exit_code or None,
        cpus=record.cpus,
        suspended_seconds=record.suspended_seconds or None,
        labels=tuple(sorted(record.labels.items())),
        allocations=record.allocations,
    )
