"""What a training programme brought for its money: versions, tokens, experiments, and the trend."""

from dataclasses import dataclass
from datetime import datetime

from apps.ledger.queries.windows import Window


@dataclass(frozen=True, slots=True)
class ProgrammeRun:
    """The five numbers of one run; None where not known.

    `mfu_doubt` says why an MFU is not to be believed; `tensor_active_ratio` is shown under its own
    name where no MFU is known.
    """

    run_id: int
    key: str
    status: str
    began_at: datetime
    gpus: int | None
    micros: int | None
    tokens_per_second: float | None
    mfu_ratio: float | None
    mfu_doubt: str
    tensor_active_ratio: float | None
    scaling_ratio: float | None
    first_good_seconds: float | None
    checkpoint_micros: int | None


@dataclass(frozen=True, slots=True)
class Version:
    """A model version that was shipped, and the run that made it, where that was told."""

    name: str
    at: datetime
    run_id: int | None


@dataclass(frozen=True, slots=True)
class Programme:
    """A workload's runs in a window, failed ones among them.

    `micros` is all that its runs cost; `unpriced_milliseconds` of their GPU time has no price.
    `version_micros` is that for each version shipped (None: none was), `million_tokens_micros` for
    each million tokens that were trained and kept. `experiments_per_week` counts runs that began.
    `goodput_ratio` is productive time of what was told of; `told_ratio` says how much that is.
    `failed_micros` is what runs that failed cost, of all. `trend` is by when runs began.
    """

    workload_id: int
    micros: int | None
    unit_milliseconds: int
    unpriced_milliseconds: int
    energy_joules: float | None
    versions: tuple[Version, ...]
    version_micros: int | None
    tokens: int
    million_tokens_micros: int | None
    runs: int
    experiments_per_week: float | None
    goodput_ratio: float | None
    told_ratio: float | None
    failed_runs: int
    failed_micros: int | None
    failed_share: float | None
    trend: tuple[ProgrammeRun, ...]


def programme(workload_id: int, *, window: Window, at: datetime) -> Programme:
    """The numbers of a workload's runs in a window, of which what lies after `at` is not counted."""
    raise NotImplementedError
