"""Which rank of a run is slow, where it ran, and what waiting for it costs."""

from dataclasses import dataclass

from apps.ledger.queries.windows import Window


@dataclass(frozen=True, slots=True)
class SlowRank:
    """A rank that is slow in most windows of steps: in `share` of them.

    `hosts` are the nodes it may have run on: one where that is known, empty where none is.
    """

    rank: int
    share: float
    median_seconds: float
    usual_seconds: float
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stragglers:
    """What waiting for the slowest rank did to a run.

    `factor` is slowest ÷ median time of all steps, `wasted` the share of training time lost to it;
    both None where fewer than two ranks told of a step. `micros` is what that share cost.
    """

    run_id: int
    ranks: int
    world_size: int
    steps: int
    factor: float | None
    wasted: float | None
    micros: int | None
    unit_milliseconds: int | None
    slow: tuple[SlowRank, ...]
    words: str


def slow_ranks(run_id: int, *, window: Window | None = None) -> Stragglers:
    """Of a run's step times by rank; of all of it where no window is given."""
    raise NotImplementedError
