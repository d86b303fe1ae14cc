"""What services answered: counts by hour and day, how long it took, what was promised, what changed."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime



Span = tuple[datetime, datetime]
"""`[from, to)`."""
QUANTILES = (0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Counts:
    """None: not told by one of those who counted, so that a sum would be a part only.

    `prompt_tokens` include `cached_tokens`. `prefill_seconds` and `decode_seconds` are good for
    their ratio alone; `split_kind` is measured, estimated or "" (nobody told them).
    """

    requests: int | None
    succeeded: int | None
    prompt_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    prefill_seconds: float | None
    decode_seconds: float | None
    split_kind: str


@dataclass(frozen=True, slots=True)
class HourCount:
    """What was counted of a feature of a service in an hour; `source` is engine or gateway."""

    workload_id: int
    hour: datetime
    feature: str
    source: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class DayCount:
    """What was counted of a feature of a service on a local day."""

    workload_id: int
    day: date
    feature: str
    source: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class Quantile:
    """`ratio` of the requests took at most `seconds`; `is_over`: longer than that, the last bound."""

    ratio: float
    seconds: float
    is_over: bool


@dataclass(frozen=True, slots=True)
class Latency:
    """How long answers took, from the histograms of all who counted, merged."""

    requests: int
    quantiles: tuple[Quantile, ...]


@dataclass(frozen=True, slots=True)
class Attainment:
    """What became of a promise: `met_ratio` of `requests` were answered in time.

    `budget_left_ratio` is the part of the allowed misses that is left: 1 none used, 0 all, below
    it more than all. `at_least_ratio` is the same promise by whole buckets: what is sure whatever
    lies inside the bucket that the promise cuts. None: no request has a histogram.
    """

    objective_id: int
    feature: str
    measure: str
    within_seconds: float
    target_ratio: float
    requests: int
    met_ratio: float | None
    at_least_ratio: float | None
    budget_left_ratio: float | None


@dataclass(frozen=True, slots=True)
class ChangeFact:
    """Something that changed about a workload; `run_id` of the run that made a shipped model."""

    id: int
    workload_id: int
    feature: str
    kind: str
    name: str
    at: datetime
    run_id: int | None


def request_hours(workload_ids: Collection[int], span: Span) -> list[HourCount]:
    """Per hour, feature and source; by workload, hour, feature, source."""
    raise NotImplementedError


def request_days(workload_ids: Collection[int], days: tuple[date, date]) -> list[DayCount]:
    """Per local day (first and last), feature and source; by workload, day, feature, source."""
    raise NotImplementedError


def latency(
    workload_id: int, feature: str | None, span: Span, measure: str = "latency"
) -> Latency | None:
    """Quantiles of the whole answer, or of `first_token`; `feature` None: of all.

    Linear within a bucket. None where nobody told a histogram, or nothing was answered.
    """
    raise NotImplementedError


def attainment(workload_id: int, span: Span) -> list[Attainment]:
    """Each objective in force in the span, over the part of it in which it was; by id."""
    raise NotImplementedError


def changes_of(workload_id: int, span: Span) -> list[ChangeFact]:
    """What changed about a workload in the span, by time."""
    raise NotImplementedError
