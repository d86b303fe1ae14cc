"""Shapes of what a process of a training run reports of itself, as it comes over the wire."""

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

import msgspec

from apps.economics.hours import from_epoch_ms

MOST_WINDOWS = 100
MOST_EVENTS = 1_000
MOST_PHASES = 32
MOST_STEP_TIMES = 4_096
MOST_MODEL_FIELDS = 64
SCORE = "score"

Named: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=200)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
Large: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000_000_000)]
Summed: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=100_000_000_000)]
"""Small enough that the sum of 92 million of them still fits the eight bytes it is kept in."""
Spent: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000_000)]
Moment: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=100_000_000_000_000)]
Taken: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
Word: TypeAlias = str | int | float | bool | None


class RunJobIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The scheduler's job that the process is of, by the scheduler's own names; empty: not known."""

    scheduler: Text = ""
    raw_id: Text = ""
    cluster: Text = ""


class RunWindowIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Some seconds of a run, summed up; moments in milliseconds since 1970."""

    starts_at_ms: Moment
    ends_at_ms: Moment
    steps: Count = 0
    first_step: Large | None = None
    last_step: Large | None = None
    tokens: Summed = 0
    examples: Summed = 0
    flops: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    productive_ms: Spent = 0
    phases_ms: Annotated[dict[Named, Spent], msgspec.Meta(max_length=MOST_PHASES)] = {}
    step_times_ms: Annotated[tuple[Taken, ...], msgspec.Meta(max_length=MOST_STEP_TIMES)] = ()

    @property
    def starts_at(self) -> datetime:
        """When it begins."""
        return from_epoch_ms(self.starts_at_ms)

    @property
    def ends_at(self) -> datetime:
        """When it is over."""
        return from_epoch_ms(self.ends_at_ms)


class RunEventIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A checkpoint that passed, a restore from one, or a score.

    A score has a `name`, `metric` is its value (null: it was no finite number), and
    `higher_is_better` says which way is up.
    """

    kind: Literal["good_checkpoint", "restored", "score"]
    at_ms: Moment
    step: Large | None = None
    metric: float | None = None
    name: Text = ""
    higher_is_better: bool = True

    @property
    def at(self) -> datetime:
        """When it was."""
        return from_epoch_ms(self.at_ms)


class RunReportIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One report of one process of a run; `sequence` counts the process's reports from 0."""

    run: Named
    attempt: Named
    began_at_ms: Moment
    sequence: Large
    workload: Text = ""
    rank: Count = 0
    world_size: Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000)] = 1
    restarts: Count = 0
    host: Text = ""
    job: RunJobIn = RunJobIn()
    ended_at_ms: Moment | None = None
    status: Literal["", "finished", "failed", "interrupted"] = ""
    model: Annotated[dict[Named, Word], msgspec.Meta(max_length=MOST_MODEL_FIELDS)] = {}
    tags: Annotated[dict[Named, Text], msgspec.Meta(max_length=MOST_MODEL_FIELDS)] = {}
    windows: Annotated[tuple[RunWindowIn, ...], msgspec.Meta(max_length=MOST_WINDOWS)] = ()
    events: Annotated[tuple[RunEventIn, ...], msgspec.Meta(max_length=MOST_EVENTS)] = ()
    dropped: Summed = 0

    @property
    def began_at(self) -> datetime:
        """When the process began."""
        return from_epoch_ms(self.began_at_ms)

    @property
    def ended_at(self) -> datetime | None:
        """When the process ended; None: it goes on, or nobody said."""
        return None if self.ended_at_ms is None else from_epoch_ms(self.ended_at_ms)

    @property
    def workload_named(self) -> str:
        """The workload it says it is of, without blanks around it; empty: none."""
        return self.workload.strip()
