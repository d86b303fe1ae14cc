"""Costs and results of training runs, as lists, pages and exports are told of them."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from apps.economics.run_time import Bucket, goodput_if_reported
from apps.workloads.queries.run_picture import RunJobFact


class RunSort(StrEnum):
    """By what a list of runs may be sorted; what is unknown comes last either way."""

    BEGAN = "began"
    NAME = "name"
    COST = "cost"
    GPU_TIME = "gpu_time"
    GPUS = "gpus"
    WALL_TIME = "wall_time"
    ENERGY = "energy"
    TOKENS = "tokens"
    TOKENS_PER_SECOND = "tokens_per_second"
    MFU = "mfu"
    SCALING = "scaling"
    FIRST_GOOD = "first_good"
    CHECKPOINT_COST = "checkpoint_cost"
    MILLION_TOKENS = "million_tokens"
    GOODPUT = "goodput"
    DATA_WAIT = "data_wait"
    ATTEMPTS = "attempts"


class Order(StrEnum):
    """The direction in which a list runs."""

    FALLING = "falling"
    RISING = "rising"


@dataclass(frozen=True, slots=True)
class RunsWanted:
    """A filter of runs, and in which order; None: any.

    `team_ids` is the scope too: whoever asks leaves in it only teams that the viewer sees (None:
    everybody's, with runs that nobody owns). The moments bound when a run lived.
    """

    team_ids: frozenset[int] | None = None
    workload_ids: frozenset[int] | None = None
    status: str | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    sort: RunSort = RunSort.BEGAN
    order: Order = Order.FALLING


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run and its figures; None where unknown. Amounts are effective ones, in micro-units.

    `status` is finished, failed, interrupted or empty. `bucket_micros` and `bucket_unit_ms` are by
    apps.economics.run_time.Bucket, in its order; empty where nothing was charged. `mfu_doubt` says
    why an MFU is not to be believed or not known; `tensor_active_ratio` stands for it then.
    """

    id: int
    key: str
    team_id: int | None
    team: str | None
    workload_id: int | None
    workload: str | None
    status: str
    began_at: datetime | None
    ended_at: datetime | None
    wall_seconds: float | None
    gpus: int | None
    gpu_model: str
    jobs: int
    attempts: int
    effective_micros: int | None
    unpriced_milliseconds: int
    unit_milliseconds: int
    energy_joules: float | None
    observed_ratio: float | None
    told_ratio: float | None
    goodput_ratio: float | None
    tokens: int | None
    examples: int | None
    tokens_per_second: float | None
    mfu_ratio: float | None
    mfu_doubt: str
    tensor_active_ratio: float | None
    scaling_ratio: float | None
    first_good_seconds: float | None
    good_checkpoints: int
    checkpoint_micros: int | None
    million_tokens_micros: int | None
    data_wait_ratio: float | None
    bucket_micros: tuple[int | None, ...]
    bucket_unit_ms: tuple[int, ...]
    computed_at: datetime

    @property
    def known_goodput_ratio(self) -> float | None:
        """Productive ÷ reported time, where most of its time was reported."""
        return goodput_if_reported(self.goodput_ratio, self.told_ratio)


@dataclass(frozen=True, slots=True)
class RunAmounts:
    """The cost of something of a run on each basis; None where nothing of it is known.

    All but `loaded_micros`, the effective amount with idle that was shared out, leave that out.
    `unpriced_milliseconds` of its GPU time have no price and are in no amount. `energy_joules` is
    None where no meter told any.
    """

    list_micros: int | None = None
    contracted_micros: int | None = None
    effective_micros: int | None = None
    billed_micros: int | None = None
    marginal_micros: int | None = None
    loaded_micros: int | None = None
    unit_milliseconds: int = 0
    unpriced_milliseconds: int = 0
    energy_joules: float | None = None


@dataclass(frozen=True, slots=True)
class RunBucket:
    """The part of a run that was of this bucket."""

    bucket: Bucket
    amounts: RunAmounts


@dataclass(frozen=True, slots=True)
class RunDayCost:
    """A local day of a run, by bucket."""

    day: date
    amounts: RunAmounts
    buckets: tuple[RunBucket, ...]


@dataclass(frozen=True, slots=True)
class RunJobCost:
    """One job, an attempt of the scheduler's, that carried a run; its costs are the run's part.

    `job_id` and `raw_id` are None where the viewer may not see the job.
    """

    job_id: int | None
    raw_id: str | None
    restart_count: int
    state: str
    started_at: datetime | None
    ended_at: datetime | None
    amounts: RunAmounts
    buckets: tuple[RunBucket, ...]


class RunFigure(StrEnum):
    """The five numbers of each run."""

    TOKENS_PER_SECOND = "tokens_per_second"
    MFU = "mfu"
    SCALING = "scaling"
    FIRST_GOOD = "first_good"
    CHECKPOINT_COST = "checkpoint_cost"


@dataclass(frozen=True, slots=True)
class RunNumber:
    """One of the five: a rate, a ratio, seconds, or micro-units; `doubt` says what to mind of it.

    `value` is None where it is unknown; `doubt` then says why. MFU above 1 is told with a doubt.
    """

    figure: RunFigure
    value: float | None
    doubt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCost:
    """The cost of one run, by where its time went; the buckets sum to `amounts`.

    `status` is the least sure of its amounts' (provisional first), None where it has none.
    """

    run: RunRow
    currency: str
    amounts: RunAmounts
    status: str | None
    numbers: tuple[RunNumber, ...]
    buckets: tuple[RunBucket, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnatomy(RunCost):
    """The cost of one run by day and by job too; each sums to `amounts`.

    `as_of` is to when its figures are; `pending_days` of it are being summed anew. `held_by` are
    its jobs as they are known, with when they carried it and their nodes.
    """

    as_of: datetime | None
    pending_days: int
    days: tuple[RunDayCost, ...]
    jobs: tuple[RunJobCost, ...]
    held_by: tuple[RunJobFact, ...]
