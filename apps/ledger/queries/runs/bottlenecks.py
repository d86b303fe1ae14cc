"""Where the time of a run or a workload went, what that cost, and what held it up."""

from dataclasses import dataclass
from enum import StrEnum

from apps.economics.run_time import Bucket
from apps.ledger.queries.windows import Window


@dataclass(frozen=True, slots=True)
class BucketPart:
    """A bucket of a window: `share` is of all GPU time that was told of (None for UNTOLD)."""

    bucket: Bucket
    micros: int | None
    unit_milliseconds: int
    unpriced_milliseconds: int
    share: float | None


class Resource(StrEnum):
    """What of a node was used up while its GPUs waited."""

    STORAGE = "storage"
    NETWORK = "network"
    FABRIC = "fabric"
    CPU = "CPU"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Cause:
    """A resource that the node's own counters show saturated while GPUs waited, with the evidence."""

    resource: Resource
    ratio: float
    words: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Time that went elsewhere than into training, and more of it than is usual.

    `name` is a word such as *starved*; `words` the whole sentence; `causes` empty where the counters
    show nothing, `is_seen` false where there were no counters to look at.
    """

    bucket: Bucket
    name: str
    share: float
    micros: int | None
    unit_milliseconds: int
    words: str
    causes: tuple[Cause, ...]
    is_seen: bool


@dataclass(frozen=True, slots=True)
class WhereTimeWent:
    """All buckets that have time, in their order, and the verdicts, the dearest first.

    `told_ratio` is of GPU time; None where there was none. `words` say it in one sentence.
    """

    parts: tuple[BucketPart, ...]
    micros: int | None
    unit_milliseconds: int
    told_ratio: float | None
    verdicts: tuple[Verdict, ...]
    words: str


def where_time_of_run_went(run_id: int, *, window: Window | None = None) -> WhereTimeWent:
    """Of a run; all of it where no window is given."""
    raise NotImplementedError


def where_time_of_workload_went(workload_id: int, *, window: Window) -> WhereTimeWent:
    """Of all runs of a workload."""
    raise NotImplementedError
